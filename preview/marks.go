package preview

import (
	"crypto/sha256"
	"encoding/base64"
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
	LastApplied     = "kubectl.kubernetes.io/last-applied-configuration"
)

// DefaultHistoryMax is how many revisions a release remembers unless told
// otherwise, the newest included.
const DefaultHistoryMax = 10

// RecordName is the name of a release's record Secret, which is also its
// ApplySet parent, and of its Lease.
func RecordName(release string) string { return "kubectl-operator." + release }

// SetID is the ApplySet id of a release (KEP-3659): of the record Secret in
// the release namespace.
func SetID(r Release) string {
	sum := sha256.Sum256([]byte(RecordName(r.Name) + "." + r.Namespace + ".Secret."))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// Mark labels a rendered object as a member of a release. It happens before
// hashing, so that the labels are part of what is reviewed.
func Mark(body map[string]any, r Release) {
	meta := Map(body, "metadata")
	if meta == nil {
		meta = map[string]any{}
		body["metadata"] = meta
	}
	labels, ok := meta["labels"].(map[string]any)
	if !ok {
		labels = map[string]any{}
		meta["labels"] = labels
	}
	labels[LabelPartOf] = SetID(r)
	labels[LabelRelease] = r.Name
}

// Owner is who an existing object belongs to, by the marks it carries.
type Owner struct {
	Tool string // such as "Helm release"
	Name string
}

// ToolRelease is the tool of owners that are releases of ours.
const ToolRelease = "release"

// ToolHelm is the tool of owners that are Helm releases.
const ToolHelm = "Helm release"

func (o Owner) String() string { return o.Tool + " " + o.Name }

// ownerMarks are the labels and annotations by which tools mark what is
// theirs. The first that matches names the owner.
var ownerMarks = [...]struct{ tool, key string }{
	{"ApplySet", LabelPartOf},
	{ToolHelm, "meta.helm.sh/release-name"},
	{"OLM v1 extension", "olm.operatorframework.io/owner-name"},
	{"OLM operator", "olm.owner"},
	{"Flux Kustomization", "kustomize.toolkit.fluxcd.io/name"},
	{"Flux HelmRelease", "helm.toolkit.fluxcd.io/name"},
	{"Argo CD application", "argocd.argoproj.io/tracking-id"},
	{"Argo CD application", "argocd.argoproj.io/instance"},
	{"Carvel app", "kapp.k14s.io/app"},
}

// ForeignOwner returns the owner whose mark an object carries, unless that is
// the release itself. An object without marks has no owner.
func ForeignOwner(body map[string]any, r Release) (Owner, bool) {
	for _, mark := range ownerMarks {
		name := markValue(body, mark.key)
		if name == "" || mark.key == LabelPartOf && name == SetID(r) {
			continue
		}
		if mark.key == LabelPartOf {
			if release := markValue(body, LabelRelease); release != "" {
				return Owner{Tool: ToolRelease, Name: release}, true
			}
		}
		return Owner{Tool: mark.tool, Name: name}, true
	}
	return Owner{}, false
}

// Ours reports whether an object is marked as a member of the release.
func Ours(body map[string]any, r Release) bool {
	return String(body, "metadata", "labels", LabelPartOf) == SetID(r)
}

// ownershipMarks returns every mark of an object, for its fingerprint.
func ownershipMarks(body map[string]any) map[string]any {
	out := map[string]any{}
	for _, mark := range ownerMarks {
		if v := markValue(body, mark.key); v != "" {
			out[mark.key] = v
		}
	}
	if v := markValue(body, LabelRelease); v != "" {
		out[LabelRelease] = v
	}
	return out
}

func markValue(body map[string]any, key string) string {
	if v := String(body, "metadata", "labels", key); v != "" {
		return v
	}
	return String(body, "metadata", "annotations", key)
}
