package preview

// ReadResult is the result of reading one object. Body and Err are both nil if the
// object does not exist. Err is a [Refusal] if the API server answered.
type ReadResult struct {
	Ref  Ref
	Body map[string]any
	Err  error
}

// DryRun is a server-side dry run of applying Body. UID and ResourceVersion identify the
// live object, and are empty if it does not exist. Force takes over fields of other
// managers. An empty Manager means [FieldManager].
//
// An empty Method means server-side apply; any other is the write of another tool, to try;
// ThreeWay is set for [MethodThreeWay], and for a [MethodUpdate] by a tool that knows what
// it sent before: what a custom resource has in addition to are defaults, without a dry
// run.
type DryRun struct {
	Body                 map[string]any
	UID, ResourceVersion string
	Force                bool
	Manager              string
	Method               WriteMethod `json:",omitempty"`
	ThreeWay             *ThreeWay   `json:",omitempty"`
	// Takes is set for a tool that makes fields of other managers its own with a server-side
	// apply, so that those which it does not send are removed.
	Takes *FieldTaking `json:",omitempty"`
	// Strict is set for a tool that has unknown fields refused.
	Strict bool `json:",omitempty"`
	// Then is called with the result, and adds what a tool writes with a second request; nil
	// if it sends one.
	Then func(result map[string]any) `json:"-"`
	// Refused is why the tool fails before it sends a request; nil if it sends one.
	Refused *Refusal `json:"-"`
}

// FieldTaking is what a tool takes of a live object: the fields of managers, which wrote by
// Apply or Update, and annotations and labels that it removes. The name of a manager may end
// with * for all that begin like it.
type FieldTaking struct {
	// Live is the live object of a tool that takes them before it applies. It is nil for one
	// that takes them of what its apply made, by exact names of those that wrote by Update, and
	// applies again.
	Live map[string]any
	// Typed is that the tool sends an object of a kind that is built in as its Go type writes
	// it, with empty structs, whose defaults so stay in a merge here.
	Typed               bool
	Applied, Updated    []string
	Annotations, Labels []string
	// KeepsLastApplied is set if the annotation [LastApplied] stays, though it is not sent.
	KeepsLastApplied bool
}

// Again reports whether a tool takes fields after its apply, and applies again.
func (t *FieldTaking) Again() bool { return t != nil && t.Live == nil && len(t.Updated) > 0 }

// Live returns the live object of a tool's write, which stays as it is where the tool
// sends nothing.
func (d DryRun) Live() map[string]any {
	if d.ThreeWay != nil {
		return d.ThreeWay.Live
	}
	return d.Body
}

// ThreeWay is what a patch is computed from in addition to the planned object: the object
// as the tool sent it before, and the live object.
type ThreeWay struct {
	Earlier, Live map[string]any
	// CustomTwoWay is true for a tool that does not look at live objects whose kind is not
	// built in: it sends the difference of earlier and planned.
	CustomTwoWay bool
}

// DryRunResult is the answer to a [DryRun]: the object as it would be stored, or an
// error. Warnings are the API server's Warning headers.
type DryRunResult struct {
	Body     map[string]any
	Warnings []string
	Err      error
}
