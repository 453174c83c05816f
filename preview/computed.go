package preview

// Computed is what was computed about the objects of a plan that lack a dry run because
// their namespace, CRD or role comes with the plan.
type Computed struct {
	// BySchema counts the objects with defaults from a CRD in the plan, ByCopy the objects
	// with defaults from a dry run of a copy in [TrialNamespace], and ByKind the role
	// bindings, whose defaults are the same everywhere.
	BySchema, ByCopy, ByKind int
	// Refused are the objects that policies of the cluster refuse.
	Refused []ComputedRefusal
	// Open lists what could not be computed, as parts of one sentence.
	Open []string
}

// ComputedRefusal is that a policy refuses an object, by its id, and why.
type ComputedRefusal struct{ Object, Policy, Why string }
