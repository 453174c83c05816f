package preview

import (
	"strings"
)

// TypeRecord is the type of the Secrets that hold a release's records.
const TypeRecord = "kubectl-operator/record"

// reservedMarks are the labels and annotations that identify records, members of a
// release, and Namespaces that a release created.
var reservedMarks = [...]string{
	LabelPartOf, LabelSetID, AnnotationTool, AnnotationKinds, AnnotationExtra, LabelRelease, AnnotationMadeBy,
	AnnotationRevision, AnnotationOptions,
}

// reservedRow is a field or name that only this program may set. With it, an object of
// a package could pose as part of a release.
type reservedRow struct {
	name  string
	found func(ref Ref, body map[string]any) string // what the object has, in words; empty if it has nothing
}

var reservedTable = [...]reservedRow{
	{"the name of a record or lock", func(ref Ref, _ map[string]any) string {
		own := ref.Is("coordination.k8s.io/Lease") || ref.Is("rbac.authorization.k8s.io/Role") || isSecret(ref)
		if own && strings.HasPrefix(ref.Name, RecordName("")) {
			return "the name " + ref.Name
		}
		return ""
	}},
	{"the type of a record", func(ref Ref, body map[string]any) string {
		if isSecret(ref) && String(body, "type") == TypeRecord {
			return "the type " + TypeRecord
		}
		return ""
	}},
	{"a mark", func(_ Ref, body map[string]any) string {
		for _, key := range reservedMarks {
			for _, field := range []string{"labels", "annotations"} {
				if _, set := Map(body, "metadata", field)[key]; set {
					return "the " + strings.TrimSuffix(field, "s") + " " + key
				}
			}
		}
		return ""
	}},
}

func isSecret(ref Ref) bool { return ref.Kind == "Secret" && ref.Group() == "" }

// Reserved returns in words what an object of a package has that only this program may
// set: the name of a record or lock, the type of records, or reserved labels. It is
// empty if there is none.
func Reserved(body map[string]any) string {
	ref := RefOf(body)
	for _, row := range reservedTable {
		if what := row.found(ref, body); what != "" {
			return what
		}
	}
	return ""
}

// ReservedInMember is [Reserved] for an object that already has the labels of the
// release itself.
func ReservedInMember(body map[string]any, r Release) string {
	own := Map(body, "metadata", "labels")
	if String(own, LabelPartOf) != SetID(r) || String(own, LabelRelease) != r.Name {
		return Reserved(body)
	}
	body = CloneBody(body)
	for _, key := range []string{LabelPartOf, LabelRelease} {
		delete(Map(body, "metadata", "labels"), key)
	}
	if isNamespace(RefOf(body)) && String(body, "metadata", "annotations", AnnotationMadeBy) == createdBy(r) {
		delete(Map(body, "metadata", "annotations"), AnnotationMadeBy)
	}
	return Reserved(body)
}
