package preview

import (
	"slices"
	"strings"
)

// APIVersion and KindPlan are the first fields of every plan document.
const (
	APIVersion = "kubectl-operator/v1alpha1"
	KindPlan   = "Plan"
)

// Ruleset is the number of the built-in risk rules. It is raised with any change of
// them and is part of every plan and approval, so that a newer version of the program
// cannot present its own findings as those that were reviewed.
const Ruleset = 8

// FieldManager is the field manager of server-side apply for everything that this
// program writes.
const FieldManager = "kubectl-operator"

// Plan is the result of a review. Its facts, see [Plan.Facts], decide what an apply
// does; all other fields are only displayed.
type Plan struct {
	// APIVersion is the version of the plan format, now
	// kubectl-operator/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// Kind is always Plan, so that a file can be recognised.
	Kind string `json:"kind"`
	// Tool names the version of the program that made the plan.
	Tool Tool `json:"tool"`
	// Ruleset is the number of the built-in risk rules that made the findings.
	Ruleset int `json:"ruleset"`
	// Request holds the command as given: reference, version, channel,
	// action.
	Request Request `json:"request"`
	// Release names the release that the plan creates, changes or removes.
	Release Release `json:"release"`
	// AppliedBy is the tool that applies the content; absent where this program does.
	AppliedBy *Applier `json:"appliedBy,omitempty"`
	// Base is the installed revision that the plan starts from.
	Base Base `json:"base"`
	// ReadMode says how the cluster was read: offline, get or dry-run.
	ReadMode ReadMode `json:"readMode"`
	// Options are the reviewed choices that apply follows.
	Options Options `json:"options"`
	// ReleaseOptions are the options of the release, which its record keeps for the next
	// plan; absent where all are defaults.
	ReleaseOptions *ReleaseOptions `json:"releaseOptions,omitempty"`
	// OptionChanges lists what becomes of the options of the installed release; absent
	// where there are none.
	OptionChanges []OptionChange `json:"optionChanges,omitempty"`
	// RecordChanges lists what the next revision records and the installed one does not,
	// where no object is written: then a revision is made for its sake. Absent otherwise.
	RecordChanges []RecordChange `json:"recordChanges,omitempty"`
	// Packages lists the resolved packages with their sources and
	// parameters, none for a removal.
	Packages []Package `json:"packages"`
	// Target identifies the cluster that the plan was made for.
	Target Target `json:"target"`
	// Objects lists every Kubernetes object of the plan with its action.
	Objects []Object `json:"objects"`
	// Files lists the files of a plugin set, sorted by path; empty for other
	// plans.
	Files []File `json:"files"`
	// Stages lists the groups of objects in the order that apply writes them.
	Stages []Stage `json:"stages"`
	// Access holds the RBAC permissions that the plan grants, and those that
	// the user lacks.
	Access Access `json:"access"`
	// Cloud holds the cloud provider permissions that the content asks for.
	Cloud Cloud `json:"cloud"`
	// Images lists the container images of the plan's pods, each once.
	Images []Image `json:"images"`
	// Reads lists the live objects that decisions rest on and that the plan
	// does not change.
	Reads []Read `json:"reads"`
	// Verdict is the summary: whether the plan can be applied, and what it changes.
	Verdict *Verdict `json:"verdict,omitempty"`
	// Findings lists what the risk rules found, the most severe first.
	Findings []Finding `json:"findings"`
	// Summary counts the objects of the plan by action.
	Summary Summary `json:"summary"`

	// FailureRollback says what apply does after a failed write; absent where it only
	// stops.
	FailureRollback *FailureRollback `json:"undo,omitempty"`

	// Against names the version that an offline plan is compared with.
	Against *Baseline `json:"against,omitempty"`
	// Policy identifies the policy file that judged the findings; else absent.
	Policy *PolicyUse `json:"policy,omitempty"`

	// Complete is false when something that the plan depends on could not be
	// read. Such a plan is applied only with each unknown accepted by name.
	Complete bool `json:"complete"`
	// Unknowns lists the objects that could not be read, with the reason.
	Unknowns []Unknown `json:"unknowns"`

	// Platform is the OS/ARCH that a plugin set is installed for; empty for
	// other plans.
	Platform string `json:"platform,omitempty"`
	// Generation numbers the installed files of a plugin set before and
	// after the plan.
	Generation *Generation `json:"generation,omitempty"`
	// Location is the directory and machine that a plugin set is installed
	// to.
	Location *Location `json:"location,omitempty"`
	// Platforms holds the content for each platform of a plugin set, the plan's own
	// included; empty where there is only that one.
	Platforms []PlatformContent `json:"platforms,omitempty"`
	// ConfigChanges lists the settings of a plugin host that differ from the
	// installed generation; sensitive values are masked.
	ConfigChanges []Change `json:"configChanges,omitempty"`

	// ContentDigest is the sha256 of the content alone, independent of any
	// cluster.
	ContentDigest string `json:"contentDigest"`
	// Digest is the sha256 of the plan's facts, which an approval names.
	Digest string `json:"digest"`

	// Gone are the members of the installed revision that were looked for and do
	// not exist any more; none in a plan that was saved.
	Gone []Ref `json:"-"`

	// Computed says what was computed about objects that lack a dry run; nil if nothing
	// was. It depends on who plans, is no Fact, and is not saved.
	Computed *Computed `json:"-"`
	// SavedAs is the path that the plan was saved to or read from, for --plan.
	SavedAs string `json:"-"`
}

// Tool is the program that made the plan.
type Tool struct {
	// Version is the release version of kubectl-operator that made the plan.
	Version string `json:"version"`
}

// The requests that plans are made for ([Request.Action]). The set is closed.
const (
	RequestInstall   = "install"
	RequestUpgrade   = "upgrade"
	RequestRollback  = "rollback"
	RequestUninstall = "uninstall"
	RequestClean     = "clean" // of generations of a plugin set
)

// Request records the command that the plan was made for; its reference may be a
// tag that moves.
type Request struct {
	// Reference is the package reference as typed, such as
	// oci://host/repo:tag.
	Reference string `json:"reference"`
	// Version is the version or range that was asked for; empty for the
	// newest.
	Version string `json:"version"`
	// Channel is the catalog channel that was asked for; empty for the
	// default.
	Channel string `json:"channel"`
	// Action is the requested change: install, upgrade, rollback, uninstall
	// or clean.
	Action string `json:"action"`
	// Format is the content format given by --format; empty where it was
	// detected.
	Format string `json:"format,omitempty"`
	// Path is the directory within the content that was asked for.
	Path string `json:"path,omitempty"`
	// File is the path of the request file that asked for the plan.
	File string `json:"file,omitempty"`
	// FileRequest is the request of the file, as --request takes it, where the file
	// has several.
	FileRequest string `json:"fileRequest,omitempty"`
	// Beside are the flags given next to the file, for what the request has no field for,
	// such as --certs; each is followed by its value.
	Beside []string `json:"beside,omitempty"`
	// CloudPolicies are the policies given by --cloud-policy, as typed.
	CloudPolicies []string `json:"cloudPolicies,omitempty"`
	// Flags lists other flags of the command that decide about the plan, each as
	// --NAME=VALUE. No record has them.
	Flags []string `json:"flags,omitempty"`
	// LeftOut lists the flags that a printed command does not repeat, because their value
	// may be secret, such as --token. No record has them.
	LeftOut []string `json:"leftOut,omitempty"`
	// Revision is the revision number that a rollback goes back to.
	Revision int `json:"revision,omitempty"`
	// Keep is the number of earlier plugin generations that a clean leaves.
	Keep *int `json:"keep,omitempty"`
}

// Release identifies one installed release by name and namespace.
type Release struct {
	// Name of the release, unique within its namespace.
	Name string `json:"name"`
	// Namespace that the release is installed into and recorded in.
	Namespace string `json:"namespace"`
}

// Base is the installed revision that the plan starts from: revision 0 and no
// digest when the release does not exist yet.
type Base struct {
	// Revision is the number of the installed revision, 0 for none.
	Revision int `json:"revision"`
	// Digest is the plan digest of the installed revision, empty for none.
	Digest string `json:"digest"`
	// Packages lists the packages of that revision. It is no fact.
	Packages []InstalledPackage `json:"packages,omitempty"`
	// Accepted maps the fingerprint of each finding that an earlier revision accepted to
	// the number of that revision.
	Accepted map[string]int `json:"accepted,omitempty"`
	// CloudPolicies are those that were attached to the plan of that revision.
	CloudPolicies []CloudPolicy `json:"cloudPolicies,omitempty"`
	// CloudDocuments are the cloud documents of that revision's packages.
	CloudDocuments []CloudDocument `json:"cloudDocuments,omitempty"`
	// Signature is the outcome of verifying the signature of that revision's record;
	// absent where no key was configured and the history holds.
	Signature *RecordSignature `json:"signature,omitempty"`
	// Lost is the number of the newest revision that was begun later than that one, and
	// whose record something else than this program removed; 0 for none.
	Lost int `json:"lost,omitempty"`
	// Unvouched is what the plan takes from the record although nothing vouches for the
	// record that a user who may write Secrets cannot write; absent where it takes nothing.
	Unvouched *UnvouchedOptions `json:"unvouched,omitempty"`
}

// UnvouchedOptions is what a plan takes from a record that only Secrets of the release's
// namespace vouch for.
type UnvouchedOptions struct {
	// Changes lists what the options of the record change, in comparison with the content
	// without them: object ids with the paths of fields.
	Changes []string `json:"changes,omitempty"`
	// Conflicts is true where the record decides about contested fields.
	Conflicts bool `json:"conflicts,omitempty"`
	// Package is the package whose name, catalog and channel come from the record; empty
	// where the user named it.
	Package string `json:"package,omitempty"`
	// Follows is the installed version whose upgrade edges are followed, if they lead to
	// another version than without them; empty for none.
	Follows string `json:"follows,omitempty"`
	// Hidden is true if the user may not read what would vouch for the record.
	Hidden bool `json:"hidden,omitempty"`
}

// IsZero reports whether a plan takes nothing.
func (u *UnvouchedOptions) IsZero() bool {
	return u == nil || len(u.Changes) == 0 && !u.Conflicts && u.Package == "" && u.Follows == ""
}

// Next returns the number of the revision that follows. That of a lost one is not used
// again.
func (b *Base) Next() int { return max(b.Revision, b.Lost) + 1 }

// InstalledPackage is a package of the installed revision.
type InstalledPackage struct {
	// Name of the package.
	Name string `json:"name"`
	// Version of the package; empty where it has none.
	Version string `json:"version"`
}

// RecordSignature is the result of verifying the signature of a release's record:
// the key that made it, or why it is not valid.
type RecordSignature struct {
	// Key is "sha256:HEX" of the public key that signed the record.
	Key string `json:"key,omitempty"`
	// Problem says why the signature is not valid; empty where it is.
	Problem string `json:"problem,omitempty"`
	// Chain says since which revision the records of the release are not those that
	// later ones name; empty where they are, or were not compared.
	Chain string `json:"chain,omitempty"`
	// Approvals says which signed approval on record does not hold, and why; empty where
	// all hold, or there are none.
	Approvals string `json:"approvals,omitempty"`
}

// Wrong says what is wrong with the record; empty where nothing is known to be.
func (s *RecordSignature) Wrong() string {
	if s == nil {
		return ""
	}
	return strings.Join(slices.DeleteFunc([]string{s.Problem, s.Chain, s.Approvals}, func(text string) bool { return text == "" }), ", and ")
}

// String returns the result in words, such as "signed with key ...".
func (s *RecordSignature) String() string {
	if s == nil {
		return "not verified"
	}
	if wrong := s.Wrong(); wrong != "" {
		return "not verified: " + wrong
	}
	return "signed with key " + s.Key
}

// ReadMode is how the cluster was read.
type ReadMode string

// The read modes.
const (
	ReadOffline ReadMode = "offline" // no cluster was contacted
	ReadGet     ReadMode = "get"     // get and list only
	ReadDryRun  ReadMode = "dry-run" // get, list and server-side dry runs
)

// Options are the reviewed options that change what an apply does.
type Options struct {
	// Conflicts says how contested fields are decided: fail, take, leave or own.
	Conflicts string `json:"conflicts"`
	// ConflictsOf decides about the contested fields of single objects, by object id:
	// take or leave. It has precedence over conflicts.
	ConflictsOf map[string]string `json:"conflictsOf,omitempty"`
	// Adopt lets the plan take over existing objects without an owner.
	Adopt bool `json:"adopt"`
	// OnFailure selects whether a failed apply stops or rolls back: stop or
	// rollback.
	OnFailure string `json:"onFailure"`
	// Prune deletes installed objects that the new content no longer has.
	Prune bool `json:"prune"`
	// Strict refuses objects of kinds that the cluster does not serve. Without it, such
	// an object is skipped if nothing depends on it.
	Strict bool `json:"strict,omitempty"`
	// IncludeCRDs makes the plan of a removal delete the release's
	// CustomResourceDefinitions, and with them every object of theirs.
	IncludeCRDs bool `json:"includeCRDs,omitempty"`
	// IncludeNamespaces makes the plan of a removal delete the Namespaces that the
	// release created, after all else, with everything in them.
	IncludeNamespaces bool `json:"includeNamespaces,omitempty"`
	// Expires is when the plan expires; after that it cannot be applied. See
	// [Options.ExpiresAt].
	Expires string `json:"expires,omitempty"`
}

// DefaultOptions returns the options that fail on conflicts, adopt nothing, stop
// on failure and prune.
func DefaultOptions() Options {
	return Options{Conflicts: ConflictsFail, OnFailure: OnFailureStop, Prune: true}
}

// Target is the cluster of a plan. Only identity is a fact.
type Target struct {
	// Identity is the uid of the kube-system namespace, the only Fact of the
	// target.
	Identity string `json:"identity"`
	// Server is the URL of the API server; it is shown and never dialled.
	Server string `json:"server"`
	// Version is the Kubernetes version of the API server.
	Version string `json:"version"`
	// User is the user name that the plan was made as. With read mode get it comes from the
	// kubeconfig or --as, because the API server is not asked.
	User string `json:"user"`
	// Context is the kubeconfig context that was used.
	Context string `json:"context"`

	// Groups are the user's as the API server sees them, for the administrator who is asked to
	// approve; none in a plan that was saved.
	Groups []string `json:"-"`
	// Authenticated is the user that the credentials are of, as the API server
	// says; empty where it does not. User is another one where that is
	// impersonated, or where only the kubeconfig names one.
	Authenticated string `json:"-"`
}

// Who returns the user that the plan was made as, and where the name comes from; empty
// if it is not known.
func (t Target) Who() string {
	switch t.Authenticated {
	case t.User:
		return t.User
	case "":
		return t.User + ", as the kubeconfig and flags say: the API server was not asked"
	}
	return t.User + ", impersonated by " + t.Authenticated
}

// Users returns the names of the user as the API server sees them: first the
// credentials' user, then the impersonated one. It is nil if the API server does not say
// whose the credentials are.
func (t Target) Users() []string {
	if t.Authenticated == "" {
		return nil
	}
	return slices.Compact([]string{t.Authenticated, t.User})
}

// Stage is a group of objects that apply writes together.
type Stage struct {
	// ID of the stage, such as crds or workloads.
	ID string `json:"id"`
	// Requires lists the ids of stages that have to be done before this one.
	Requires []string `json:"requires"`
	// Objects lists the ids of the objects that this stage writes.
	Objects []string `json:"objects"`
	// Timeout is how long to wait for the stage before it fails, a duration such as "2m".
	Timeout string `json:"timeout"`
	// Rollback is true where the stage restores an earlier revision.
	Rollback bool `json:"rollback"`
}

// Image is a container image that a pod of the plan uses.
type Image struct {
	// Reference is the image reference as the pod spec has it.
	Reference string `json:"reference"`
	// Digest of the image; empty for a tag that was not resolved.
	Digest string `json:"digest"`
	// Pinned is true where the reference names the image by digest.
	Pinned bool `json:"pinned"`
	// UsedBy lists the ids of the objects whose pods use it.
	UsedBy []string `json:"usedBy"`
}

// Read is a live object, or a value of this program, that a fact depends on and that
// the plan does not change.
type Read struct {
	// ID of the object, GROUP/KIND/NAMESPACE/NAME, or of the recorded value.
	ID string `json:"id"`
	// UID of the live object; empty where it does not exist.
	UID string `json:"uid"`
	// Fingerprint of the parts that were read; empty where it does not
	// exist.
	Fingerprint string `json:"fingerprint"`

	// Body is the object as read; it is saved next to the plan, not in it.
	Body map[string]any `json:"-"`
}

// Present is the fingerprint of a read that only recorded that something exists. If it
// does not exist, the fingerprint is empty.
const Present = "present"

// ReadBodies returns the bodies of the plan's reads.
func (p *Plan) ReadBodies() []map[string]any {
	var out []map[string]any
	for _, r := range p.Reads {
		if r.Body != nil {
			out = append(out, r.Body)
		}
	}
	return out
}

// AbsentReads returns the ids of the plan's reads of objects that do not exist.
func (p *Plan) AbsentReads() []string {
	var ids []string
	for _, r := range p.Reads {
		if r.Fingerprint == "" {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// Unknown is an object that could not be read, with the reason.
type Unknown struct {
	// Object is the id of the object that could not be read or decided.
	Object string `json:"object"`
	// Reason is why the API server refused the request; empty if it did not refuse one. Code
	// that applies a plan branches on it, never on Why.
	Reason Reason `json:"reason,omitempty"`
	// Quota is the name of the ResourceQuota that is exceeded; absent for other reasons.
	Quota string `json:"quota,omitempty"`
	// Why says why the object could not be read or decided.
	Why string `json:"why"`
	// Served is the API version of the object in the cluster, if the cluster does not serve
	// the content's.
	Served string `json:"served,omitempty"`
}

// OwnNamespaces returns the namespaces that the plan creates if they do not exist: the
// release's first, then namespaces of sections that have objects in them.
func (p *Plan) OwnNamespaces() []string {
	out := []string{p.Release.Namespace}
	for i := range p.Packages {
		s := p.Packages[i].Parameters.Section
		if s == nil || slices.Contains(out, s.Namespace) {
			continue
		}
		if slices.ContainsFunc(p.Objects, func(o Object) bool { return o.Planned != nil && o.Namespace == s.Namespace }) {
			out = append(out, s.Namespace)
		}
	}
	return out
}

// ObjectsByID returns the objects by id, for loops that look up many of them.
func (p *Plan) ObjectsByID() map[string]*Object {
	out := make(map[string]*Object, len(p.Objects))
	for i := range p.Objects {
		if o := &p.Objects[i]; out[o.ID] == nil {
			out[o.ID] = o
		}
	}
	return out
}

// Object returns the object with an id, or nil. It searches all objects; loops should
// use [Plan.ObjectsByID].
func (p *Plan) Object(id string) *Object {
	for i := range p.Objects {
		if p.Objects[i].ID == id {
			return &p.Objects[i]
		}
	}
	return nil
}
