package preview

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
)

// The labels and annotations this tool reads and writes. The applyset ones are
// KEP-3659's.
const (
	LabelPartOf     = "applyset.kubernetes.io/part-of"
	LabelSetID      = "applyset.kubernetes.io/id"
	AnnotationTool  = "applyset.kubernetes.io/tooling"
	AnnotationKinds = "applyset.kubernetes.io/contains-group-kinds"
	AnnotationExtra = "applyset.kubernetes.io/additional-namespaces"
	LabelRelease    = "kubectl-operator/release"
	// AnnotationMadeBy is on each Namespace that a release created, with the value
	// NAMESPACE/NAME of the release. A release deletes no other Namespace.
	AnnotationMadeBy = "kubectl-operator/made-by"
	// AnnotationRevision and AnnotationOptions are on the Role of a release that vouches for
	// its newest record: its number, and the digest of what the next plan takes from it.
	AnnotationRevision = "kubectl-operator/revision"
	AnnotationOptions  = "kubectl-operator/options"
	LastApplied        = "kubectl.kubernetes.io/last-applied-configuration"
	// KappOriginal is the annotation with what kapp applied.
	KappOriginal = "kapp.k14s.io/original"
)

// LastAppliedText returns what client-side apply keeps of an object in the annotation
// [LastApplied]: JSON of all but the annotation. With always, it has annotations even if there
// are none, as kubectl writes them (k8s.io/kubectl v0.37.2, pkg/util/apply.go).
func LastAppliedText(body map[string]any, always bool) (string, error) {
	out := maps.Clone(body)
	meta := maps.Clone(Map(body, "metadata"))
	out["metadata"] = meta
	annotations := maps.Clone(Map(meta, "annotations"))
	delete(annotations, LastApplied)
	if always && annotations == nil {
		annotations = map[string]any{}
	}
	if annotations != nil {
		meta["annotations"] = annotations
	}
	var text bytes.Buffer
	err := json.NewEncoder(&text).Encode(out) // with an end of line, as they have it
	return text.String(), err
}

// DefaultHistoryMax is how many revisions of a release are kept by default, the newest
// included.
const DefaultHistoryMax = 10

// RecordName returns the name of a release's record Secret, which is also its
// ApplySet parent, of its Lease, and of the Role that vouches for the record.
func RecordName(release string) string { return "kubectl-operator." + release }

// SetID returns the ApplySet id of a release (KEP-3659): of the record Secret in
// the release namespace.
func SetID(r Release) string {
	sum := sha256.Sum256([]byte(RecordName(r.Name) + "." + r.Namespace + ".Secret."))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// Mark adds the labels of the release's members to a rendered object. It is called
// before hashing, so that the labels are part of the reviewed content.
func Mark(body map[string]any, r Release) {
	SetMetadata(body, "labels", LabelPartOf, SetID(r))
	SetMetadata(body, "labels", LabelRelease, r.Name)
	if isNamespace(RefOf(body)) {
		MarkCreated(body, r)
	}
}

// SetMetadata sets a label or annotation of an object; field is labels or annotations.
func SetMetadata(body map[string]any, field, key, value string) {
	meta, ok := body["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		body["metadata"] = meta
	}
	values, ok := meta[field].(map[string]any)
	if !ok {
		values = map[string]any{}
		meta[field] = values
	}
	values[key] = value
}

// MarkCreated adds the annotation to a Namespace that says that the release created it.
func MarkCreated(body map[string]any, r Release) {
	SetMetadata(body, "annotations", AnnotationMadeBy, createdBy(r))
}

// CreatedBy reports whether a live Namespace has the annotation of [MarkCreated] for
// the release.
func CreatedBy(body map[string]any, r Release) bool {
	return isNamespace(RefOf(body)) && String(body, "metadata", "annotations", AnnotationMadeBy) == createdBy(r)
}

func createdBy(r Release) string { return r.Namespace + "/" + r.Name }

func isNamespace(ref Ref) bool { return ref.Kind == "Namespace" && ref.Group() == "" }

// Owner is the tool that an existing object belongs to by its labels and annotations,
// and the name in that tool.
type Owner struct {
	Tool string // such as "Helm release"
	Name string
}

// The tools of owners. ToolRelease is this program, with another release.
const (
	ToolRelease       = "release"
	ToolApplySet      = "ApplySet"
	ToolHelm          = "Helm release"
	ToolOLMv1         = "OLM v1 extension"
	ToolOLMv0         = "OLM operator"
	ToolKustomization = "Flux Kustomization"
	ToolHelmRelease   = "Flux HelmRelease"
	ToolArgo          = "Argo CD application"
	ToolCarvel        = "Carvel app"
)

func (o Owner) String() string { return o.Tool + " " + o.Name }

// ownerMarks are the labels and annotations that tools mark their objects with; each
// value is the owner's name. The first that an object has counts.
var ownerMarks = [...]struct{ tool, key string }{
	{ToolApplySet, LabelPartOf},
	{ToolHelm, "meta.helm.sh/release-name"},
	{ToolOLMv1, "olm.operatorframework.io/owner-name"},
	{ToolOLMv0, "olm.owner"},
	{ToolKustomization, "kustomize.toolkit.fluxcd.io/name"},
	{ToolHelmRelease, "helm.toolkit.fluxcd.io/name"},
	{ToolArgo, "argocd.argoproj.io/tracking-id"},
	{ToolArgo, "argocd.argoproj.io/instance"},
	{ToolCarvel, "kapp.k14s.io/app"},
}

// ForeignOwner returns the first of [ForeignOwners]; ok is false if there is none.
func ForeignOwner(body map[string]any, r Release) (Owner, bool) {
	owners := ForeignOwners(body, r)
	if len(owners) == 0 {
		return Owner{}, false
	}
	return owners[0], true
}

// ForeignOwners returns every owner that an object names in its labels and annotations,
// except the release itself.
func ForeignOwners(body map[string]any, r Release) []Owner {
	var out []Owner
	for _, mark := range ownerMarks {
		name := MarkValue(body, mark.key)
		if name == "" || mark.key == LabelPartOf && name == SetID(r) {
			continue
		}
		owner := Owner{Tool: mark.tool, Name: name}
		if release := MarkValue(body, LabelRelease); mark.key == LabelPartOf && release != "" {
			owner = Owner{Tool: ToolRelease, Name: release}
		}
		out = append(out, owner)
	}
	return out
}

// IsMember reports whether an object has the label of the release's members.
func IsMember(body map[string]any, r Release) bool {
	return String(body, "metadata", "labels", LabelPartOf) == SetID(r)
}

// OwnershipMarks returns all labels and annotations of an object that name an owner,
// for its fingerprint.
func OwnershipMarks(body map[string]any) map[string]any {
	out := map[string]any{}
	for _, mark := range ownerMarks {
		if v := MarkValue(body, mark.key); v != "" {
			out[mark.key] = v
		}
	}
	if v := MarkValue(body, LabelRelease); v != "" {
		out[LabelRelease] = v
	}
	return out
}

// MarkValue returns the value of a label or, if that is missing, of an annotation.
func MarkValue(body map[string]any, key string) string {
	if v := String(body, "metadata", "labels", key); v != "" {
		return v
	}
	return String(body, "metadata", "annotations", key)
}
