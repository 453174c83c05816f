package preview

// Applier is the tool that applies the content of a plan and owns its objects, where that
// is not this program. Such a plan is reviewed, and never applied by this program.
type Applier struct {
	// Tool is the tool: helm, flux, argocd, kapp, kubectl, olmv0 or olmv1.
	Tool string `json:"tool"`
	// Controller applies for Object, such as helm-controller; empty where a command does.
	Controller string `json:"controller,omitempty"`
	// Object is the id of what the controller follows, such as that of a HelmRelease.
	Object string `json:"object,omitempty"`
	// Method is how the tool writes an existing object.
	Method WriteMethod `json:"method"`
	// Manager is the field manager that the tool writes with.
	Manager string `json:"manager"`
	// Overwrites is true if the tool takes fields over from other field managers, and
	// false if it fails with a conflict; see [MethodApply].
	Overwrites bool `json:"overwrites,omitempty"`
	// Revision counts what the tool applied before; 0 for a new installation, and for a
	// tool that does not count.
	Revision int `json:"revision,omitempty"`
	// State is that of the revision, in the words of the tool, such as deployed.
	State string `json:"state,omitempty"`
	// Record is the uid of the object that has the tool's earlier state; empty for none.
	Record string `json:"record,omitempty"`
	// Fails says why the tool would fail whatever the content is; empty if it would not.
	Fails ApplierFailure `json:"fails,omitempty"`
	// FailsOn is the id of the object that Fails is about; empty if that is the release.
	FailsOn string `json:"failsOn,omitempty"`
	// Limits lists what the tool does not do, or does later or besides, sorted by What and
	// Object.
	Limits []ApplierLimit `json:"limits,omitempty"`
}

// Limits returns all limits.
func Limits() []Limit {
	return []Limit{
		LimitCRDsKept, LimitHookRuns, LimitNotPruned, LimitKept, LimitSuspended, LimitWindow, LimitManual, LimitWaits,
		LimitRemediation, LimitRecreates, LimitIgnored, LimitOverwrites, LimitNotRead, LimitOtherOwner,
		LimitNoController, LimitNotRunning, LimitNotHandled, LimitOption,
	}
}

// Name returns the tool's own name.
func (a *Applier) Name() string {
	switch a.Tool {
	case ApplierHelm:
		return "Helm"
	case ApplierFlux:
		return "Flux"
	case ApplierArgoCD:
		return "Argo CD"
	case ApplierOLMv0, ApplierOLMv1:
		return "OLM"
	}
	return a.Tool
}

// ApplierFailure is why a tool fails before it writes an object.
type ApplierFailure string

// The failures.
const (
	// FailsPending is that an operation of the tool is under way or was interrupted.
	FailsPending ApplierFailure = "operation-pending"
	// FailsNoSource is that what a controller reads the content from does not exist.
	FailsNoSource ApplierFailure = "source-missing"
	// FailsUnfollowed is that another version of the package is installed, which nothing follows.
	FailsUnfollowed ApplierFailure = "installed-unfollowed"
)

// ApplierLimit is something that a tool does not do, or does besides writing the objects.
type ApplierLimit struct {
	// What is one of the limits below.
	What Limit `json:"what"`
	// Object is the id of the object concerned; empty for all.
	Object string `json:"object,omitempty"`
	// Detail is a name that belongs to What, such as the event of a hook.
	Detail string `json:"detail,omitempty"`
	// Window is that of a sync-window.
	Window SyncWindow `json:"window,omitzero"`
}

// SyncWindow is a time in which Argo CD syncs an Application, or does not. Whether it is open
// now is no part of a plan.
type SyncWindow struct {
	// Kind is allow or deny.
	Kind string `json:"kind"`
	// Schedule says in the form of cron when it opens.
	Schedule string `json:"schedule"`
	// TimeZone is that of Schedule, UTC if empty.
	TimeZone string `json:"timeZone,omitempty"`
	// Duration is how long it is open, such as 1h.
	Duration string `json:"duration"`
	// ManualSync is true if it does not keep a user from syncing.
	ManualSync bool `json:"manualSync,omitempty"`
}

// Limit is a kind of [ApplierLimit]. The set is closed.
type Limit string

// The limits.
const (
	LimitCRDsKept    Limit = "crds-not-upgraded" // of the directory crds of a chart
	LimitHookRuns    Limit = "hook-runs"         // Detail is the event
	LimitNotPruned   Limit = "not-pruned"        // what the content lacks stays
	LimitKept        Limit = "kept"              // by an annotation of the object
	LimitSuspended   Limit = "suspended"         // nothing is applied before it is resumed
	LimitWindow      Limit = "sync-window"       // Window, of the project Object
	LimitManual      Limit = "manual"            // nothing is applied before the controller is asked to
	LimitWaits       Limit = "waits"             // nothing is applied before Object is ready
	LimitRemediation Limit = "remediation"       // Detail is what follows a failure
	LimitRecreates   Limit = "recreates"         // an object whose immutable fields change
	LimitIgnored     Limit = "fields-ignored"    // Detail is the path of fields that are left as they are
	LimitOverwrites  Limit = "overwrites"        // Detail is the manager whose changes are undone
	LimitNotRead     Limit = "not-read"          // Object may not be read, so that its part is not known
	// LimitNoController is that the kind which the controller follows is not served, of the API
	// group Detail, so that nothing is applied before the tool is installed.
	LimitNoController Limit = "no-controller"
	// LimitNotRunning is that Detail, a controller that the tool needs, has no replica in the
	// cluster that is ready. Object is its workload, empty for none.
	LimitNotRunning Limit = "controller-not-running"
	LimitNotHandled Limit = "not-handled" // Object, which the controller follows, was never handled
	// LimitOption is that Detail, an option or step of the tool, changes what it writes in a way
	// that is not planned.
	LimitOption     Limit = "option-not-planned"
	LimitOtherOwner Limit = "other-owner" // Object has marks of Detail, another tool, and is written all the same
)

// The tools that appliers are of; ApplierSelf is this program, which is none.
const (
	ApplierHelm    = "helm"
	ApplierFlux    = "flux"
	ApplierArgoCD  = "argocd"
	ApplierKapp    = "kapp"
	ApplierKubectl = "kubectl"
	ApplierOLMv0   = "olmv0"
	ApplierOLMv1   = "olmv1"
	ApplierSelf    = "self"
)

// Appliers returns the tools of appliers.
func Appliers() []string {
	return []string{ApplierHelm, ApplierFlux, ApplierArgoCD, ApplierKapp, ApplierKubectl, ApplierOLMv0, ApplierOLMv1}
}

// WriteMethod is how a request writes an object.
type WriteMethod string

// The write methods.
const (
	// MethodApply is server-side apply (KEP-555).
	MethodApply WriteMethod = "server-side-apply"
	// MethodThreeWay is a patch that is computed from what was applied before, what is
	// planned and the live object.
	MethodThreeWay WriteMethod = "three-way-merge"
	// MethodCreate is a POST of the whole object, which must not exist.
	MethodCreate WriteMethod = "create"
	// MethodUpdate is a PUT of the whole object.
	MethodUpdate WriteMethod = "update"
	// MethodNone is that nothing is sent: the object stays as it is.
	MethodNone WriteMethod = "none"
)

// Member reports whether the live object belongs to the release: by the labels of this
// program, or, in a plan of another tool, because that tool applied it.
func (p *Plan) Member(o *Object) bool {
	if p.AppliedBy != nil {
		return o.Applied
	}
	return o.LiveBody != nil && IsMember(o.LiveBody, p.Release)
}
