package preview

import (
	"cmp"
	"slices"
	"strings"
)

// APIVersion and Kind head every plan document.
const (
	APIVersion = "kubectl-operator/v1alpha1"
	KindPlan   = "Plan"
)

// Ruleset numbers the built-in risk rules. It is raised with any change of
// them, and stands in every plan and approval so that a newer tool does not
// pass off its judgement as the one a person saw.
const Ruleset = 5

// FieldManager is the server-side apply manager of everything this tool writes.
const FieldManager = "kubectl-operator"

// Plan is the result of a review. What [Plan.Facts] returns of it is Facts; the rest
// is View and never decides anything at apply time.
type Plan struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Tool       Tool      `json:"tool"`
	Ruleset    int       `json:"ruleset"`
	Request    Request   `json:"request"`
	Release    Release   `json:"release"`
	Base       Base      `json:"base"`
	ReadMode   ReadMode  `json:"readMode"`
	Options    Options   `json:"options"`
	Packages   []Package `json:"packages"`
	Target     Target    `json:"target"`
	Objects    []Object  `json:"objects"`
	Files      []File    `json:"files"`
	Stages     []Stage   `json:"stages"`
	Access     Access    `json:"access"`
	Cloud      Cloud     `json:"cloud"`
	Images     []Image   `json:"images"`
	Reads      []Read    `json:"reads"`
	Findings   []Finding `json:"findings"`
	Summary    Summary   `json:"summary"`

	// FailureRollback is what a failure leads to, nil where apply just stops.
	FailureRollback *FailureRollback `json:"undo,omitempty"`

	// Against is set where two versions are compared without a cluster, Policy
	// where one judged the findings.
	Against *Baseline  `json:"against,omitempty"`
	Policy  *PolicyUse `json:"policy,omitempty"`

	// Complete is false when something that the plan depends on could not be
	// read. Such a plan is applied only with each unknown accepted by name.
	Complete bool      `json:"complete"`
	Unknowns []Unknown `json:"unknowns"`

	// Platform, Generation and Location are set where the plan is of a plugin
	// set: for which OS/ARCH, what is replaced by what, and where.
	Platform   string      `json:"platform,omitempty"`
	Generation *Generation `json:"generation,omitempty"`
	Location   *Location   `json:"location,omitempty"`
	// Platforms are all that the plan's content is for, its own among them; empty
	// where it is for its own alone.
	Platforms []PlatformContent `json:"platforms,omitempty"`
	// ConfigChanges are how the settings of the host of a plugin set differ from
	// those of the installed generation; sensitive values are masked.
	ConfigChanges []Change `json:"configChanges,omitempty"`

	ContentDigest string `json:"contentDigest"`
	Digest        string `json:"digest"`

	// Gone are the members of the installed revision that were looked for and do
	// not exist any more; none in a plan that was saved.
	Gone []Ref `json:"-"`

	// SavedAs is where the plan was saved or read from, as --plan takes it.
	SavedAs string `json:"-"`
}

// Tool is the program that made the plan.
type Tool struct {
	Version string `json:"version"`
}

// What a plan was asked to do. The set is closed.
const (
	RequestInstall   = "install"
	RequestUpgrade   = "upgrade"
	RequestRollback  = "rollback"
	RequestUninstall = "uninstall"
	RequestClean     = "clean" // of generations of a plugin set
)

// Request is what the user asked for; its reference may float.
type Request struct {
	Reference string `json:"reference"`
	Version   string `json:"version"`
	Channel   string `json:"channel"`
	Action    string `json:"action"`
	Format    string `json:"format,omitempty"`   // that the content was said to be of
	Path      string `json:"path,omitempty"`     // of the part of the content that was meant
	File      string `json:"file,omitempty"`     // the request file that said so
	Revision  int    `json:"revision,omitempty"` // to roll back to
	Keep      *int   `json:"keep,omitempty"`     // how many earlier generations stay
}

// Release is one installed thing, by name and namespace.
type Release struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// Base is the revision the plan stands on: revision 0 and no digest when the
// release does not exist yet.
type Base struct {
	Revision int    `json:"revision"`
	Digest   string `json:"digest"`
	// Accepted maps the fingerprint of each finding that the release's
	// receipts accepted to the revision that did.
	Accepted map[string]int `json:"accepted,omitempty"`
	// Signature is whether the record of that revision is signed, nil where no
	// key was configured to tell.
	Signature *RecordSignature `json:"signature,omitempty"`
}

// RecordSignature is the outcome of checking the signature of a release's record:
// the key that made it, or why it does not count.
type RecordSignature struct {
	Key     string `json:"key,omitempty"` // "sha256:HEX" of the public half
	Problem string `json:"problem,omitempty"`
}

// String says what is known of the record, for a sentence.
func (s *RecordSignature) String() string {
	switch {
	case s == nil:
		return "not verified"
	case s.Problem != "":
		return "not verified: " + s.Problem
	}
	return "signed with key " + s.Key
}

// ReadMode says how the cluster was read.
type ReadMode string

// The read modes.
const (
	ReadOffline ReadMode = "offline" // no cluster was contacted
	ReadGet     ReadMode = "get"     // get and list only
	ReadDryRun  ReadMode = "dry-run" // get, list and server-side dry runs
)

// Options are the reviewed choices that steer apply.
type Options struct {
	Conflicts string `json:"conflicts"` // fail, take, leave or own
	Adopt     bool   `json:"adopt"`
	OnFailure string `json:"onFailure"` // stop or rollback
	Prune     bool   `json:"prune"`
	// Strict refuses objects of kinds that the cluster does not serve, which
	// are skipped otherwise where nothing depends on them.
	Strict bool `json:"strict,omitempty"`
	// IncludeCRDs makes the plan of a removal delete the release's
	// CustomResourceDefinitions, and with them every object of theirs.
	IncludeCRDs bool `json:"includeCRDs,omitempty"`
	// IncludeNamespaces makes the plan of a removal delete the Namespaces that
	// the release made, last of all, and with them everything they hold.
	IncludeNamespaces bool `json:"includeNamespaces,omitempty"`
	// Expires is when the plan cannot be applied any more; see [Options.ExpiresAt].
	Expires string `json:"expires,omitempty"`
}

// DefaultOptions fails on conflicts, adopts nothing, stops on failure and
// prunes what left the set.
func DefaultOptions() Options {
	return Options{Conflicts: ConflictsFail, OnFailure: OnFailureStop, Prune: true}
}

// Package is one resolved and rendered package of a plan.
type Package struct {
	Name          string           `json:"name"`
	Version       string           `json:"version"`
	Bundle        string           `json:"bundle"` // the bundle's own name, such as the CSV's
	Format        string           `json:"format"`
	ContentDigest string           `json:"contentDigest"`
	Parameters    Parameters       `json:"parameters"`
	Sources       []Source         `json:"sources"`
	Via           []ResolutionStep `json:"via"`
	Verification  Verification     `json:"verification"`
	// Referrers lists what else lies beside the source and refers to it, such
	// as SBOMs and provenance, sorted. They were not checked.
	Referrers []Referrer `json:"referrers,omitempty"`
	// Dependencies are what the package requires, and what meets it.
	Dependencies []Dependency `json:"dependencies,omitempty"`
	// Isolation says how rendering was confined on the machine that did it. It
	// is only recorded.
	Isolation string `json:"isolation,omitempty"`
	// Notes are what making the objects decided or took away.
	Notes []Note `json:"notes,omitempty"`
	// RelatedImages are the image references the package lists as its own,
	// sorted; empty when it lists none.
	RelatedImages []string `json:"relatedImages,omitempty"`
	// Executors are the images that the plugins of a set run in, by who names
	// them; sorted.
	Executors []Executor `json:"executors,omitempty"`
	// Requires lists the APIs the package needs and does not bring, as
	// APIVERSION/KIND, sorted.
	Requires []string `json:"requires,omitempty"`
}

// Executor is an image that a plugin runs in: By is file/PATH or plugin/NAME.
type Executor struct {
	Image string `json:"image"`
	By    string `json:"by"`
}

// Note is something that happened between the content and its objects and that
// a reviewer should know: a finding of a rule, about an object.
type Note struct {
	Rule   string `json:"rule"`
	Object string `json:"object"`
	Text   string `json:"text"`
}

// Dependency is one requirement of a package, and what meets it: a package of
// the plan, or the cluster.
type Dependency struct {
	Constraint string `json:"constraint"`
	By         string `json:"by"`
	Detail     string `json:"detail,omitempty"`
}

// Parameters are the resolved inputs of rendering. Values is the sha256 of the
// canonical values, empty when none were given. ClusterReads are what rendering
// asked the cluster, in the order of kind and name.
type Parameters struct {
	InstallMode     string   `json:"installMode"`
	WatchNamespaces []string `json:"watchNamespaces"`
	Values          string   `json:"values"`
	Certs           string   `json:"certs"`
	KubeVersion     string   `json:"kubeVersion"`

	ClusterReads []ClusterRead `json:"clusterReads,omitempty"`

	// Section is set where the package is a section of a request, of which the
	// package then has the name.
	Section *Section `json:"section,omitempty"`
}

// Section is what a package is besides a section of a request: what its content
// calls itself, or the section where that has no name, and the namespace of what
// names none.
type Section struct {
	Package   string `json:"package"`
	Namespace string `json:"namespace"`
}

// The kinds of cluster reads. The set is closed.
const (
	ReadKubeVersion = "kubeVersion" // Value is the version
	ReadAPIVersion  = "apiVersion"  // Value is "served" or "absent"
	ReadLookup      = "lookup"      // Value is a fingerprint, or "absent"
)

// ClusterRead is one answer of the cluster that the objects depend on.
type ClusterRead struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Source is where content came from, and its pin.
type Source struct {
	Kind      string `json:"kind"`
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
	// Verification is the outcome for this source alone, where a package has
	// several, as the artifacts of a plugin set; nil elsewhere. It is only
	// recorded.
	Verification *Verification `json:"verification,omitempty"`
}

// ResolutionStep is a step on the way to the source, such as the catalog that named it.
type ResolutionStep struct {
	Kind      string `json:"kind"`
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
	Channel   string `json:"channel"`
	// Why says what made it the choice, and Rejected what else there was.
	Why      string              `json:"why,omitempty"`
	Rejected []RejectedCandidate `json:"rejected,omitempty"`
	// Verification is the outcome for this step's own signatures, nil where
	// none were asked for.
	Verification *Verification `json:"verification,omitempty"`
}

// RejectedCandidate is a candidate that another catalog had, and why it was not chosen.
type RejectedCandidate struct {
	Catalog string `json:"catalog"`
	Version string `json:"version"`
	Why     string `json:"why"`
}

// Verification is the outcome of checking signatures.
type Verification struct {
	Status   string `json:"status"` // verified, unverified or failed
	Identity string `json:"identity"`
}

// Referrer is an artifact that names the content it is about as its subject
// (OCI image specification 1.1), or that cosign tagged by its digest.
type Referrer struct {
	ArtifactType string `json:"artifactType"` // media type; may be empty
	Digest       string `json:"digest"`       // of its manifest
	// PredicateType is what an attestation says that it is about, such as an
	// SBOM; empty where that is not known. Nothing proves it.
	PredicateType string `json:"predicateType,omitempty"`
}

// CompareReferrers is the order of [Package.Referrers].
func CompareReferrers(a, b Referrer) int {
	return cmp.Or(strings.Compare(a.ArtifactType, b.ArtifactType), strings.Compare(a.PredicateType, b.PredicateType), strings.Compare(a.Digest, b.Digest))
}

// Target is the cluster a plan is for. Only Identity, the uid of the
// kube-system namespace, is a Fact. Server is shown and never dialled.
type Target struct {
	Identity string `json:"identity"`
	Server   string `json:"server"`
	Version  string `json:"version"`
	User     string `json:"user"`
	Context  string `json:"context"`

	// Groups are the user's as the API server sees them, for the administrator who is asked to
	// approve; none in a plan that was saved.
	Groups []string `json:"-"`
	// Authenticated is the user that the credentials are of, as the API server
	// says; empty where it does not. User is another one where that is
	// impersonated, or where only the kubeconfig names one.
	Authenticated string `json:"-"`
}

// Users are the names that the API server has for who acts: that of the
// credentials first, and the impersonated one. There are none where it does not
// say whose the credentials are.
func (t Target) Users() []string {
	if t.Authenticated == "" {
		return nil
	}
	return slices.Compact([]string{t.Authenticated, t.User})
}

// Stage is a group of objects written together. Objects holds object ids;
// Timeout is a duration such as "2m" after which a gate gives up. Rollback says
// that it brings an earlier revision back.
type Stage struct {
	ID       string   `json:"id"`
	Requires []string `json:"requires"`
	Objects  []string `json:"objects"`
	Timeout  string   `json:"timeout"`
	Rollback bool     `json:"rollback"`
}

// Image is a container image a pod of the plan names. Digest is empty when the
// reference is a tag that was not resolved.
type Image struct {
	Reference string   `json:"reference"`
	Digest    string   `json:"digest"`
	Pinned    bool     `json:"pinned"`
	UsedBy    []string `json:"usedBy"`
}

// Read is a live object a Fact came from without being changed.
type Read struct {
	ID          string `json:"id"`
	UID         string `json:"uid"`
	Fingerprint string `json:"fingerprint"`

	// Body is the object as read; it is saved beside the plan, not in it.
	Body map[string]any `json:"-"`
}

// Present is the fingerprint of a read that only asked whether something exists;
// an absent one has none.
const Present = "present"

// ReadBodies are the objects that the plan was read from and does not change.
func (p *Plan) ReadBodies() []map[string]any {
	var out []map[string]any
	for _, r := range p.Reads {
		if r.Body != nil {
			out = append(out, r.Body)
		}
	}
	return out
}

// AbsentReads are the ids of what was looked for in the cluster and is not there.
func (p *Plan) AbsentReads() []string {
	var ids []string
	for _, r := range p.Reads {
		if r.Fingerprint == "" {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// Unknown is something that could not be read, and why.
type Unknown struct {
	Object string `json:"object"`
	Why    string `json:"why"`
}

// InSections reports whether packages are the sections of a request, with what
// those require.
func InSections(packages []Package) bool {
	return slices.ContainsFunc(packages, func(pkg Package) bool { return pkg.Parameters.Section != nil })
}

// OwnNamespaces are those that the plan sees to itself: the release's, first, and
// those of its sections that something is put into.
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

// ObjectsByID returns the objects by their ids, for a loop that looks many of them up.
func (p *Plan) ObjectsByID() map[string]*Object {
	out := make(map[string]*Object, len(p.Objects))
	for i := range p.Objects {
		if o := &p.Objects[i]; out[o.ID] == nil {
			out[o.ID] = o
		}
	}
	return out
}

// Object returns the object with an id, or nil. It searches: a loop over objects
// takes [Plan.ObjectsByID].
func (p *Plan) Object(id string) *Object {
	for i := range p.Objects {
		if p.Objects[i].ID == id {
			return &p.Objects[i]
		}
	}
	return nil
}
