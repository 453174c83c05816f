package preview

import (
	"cmp"
	"reflect"
	"strings"
)

// AnnotationPlugins is the annotation on the pod template of a host Deployment that has
// the content digest of the plugin set which its pods load. A changed value restarts
// them (section 7 of the package documentation).
const AnnotationPlugins = "kubectl-operator/plugins"

// FormatPlugins is the prefix of the format of plugin sets.
const FormatPlugins = "plugins/"

// PatchManager returns the field manager that a release writes objects of other owners
// with. It differs from the manager of the release's own objects, so that an empty apply
// removes only the patched fields.
func PatchManager(release string) string { return FieldManager + "-" + release }

// Patches reports whether the release sets only a few fields in an object of another
// owner. Such an object has no label of the release and is never deleted.
func (o *Object) Patches() bool { return strings.HasPrefix(o.Manager, FieldManager+"-") }

// ReleasesOwnership reports whether the object is patched only to remove the fields
// that an earlier patch set.
func (o *Object) ReleasesOwnership() bool {
	return o.Patches() && reflect.DeepEqual(o.Planned, EmptyApply(o.Ref()))
}

// EmptyApply returns the body of an apply without fields. With it the API server
// removes the fields that only the applying manager owned.
func EmptyApply(ref Ref) map[string]any {
	meta := map[string]any{"name": ref.Name}
	if ref.Namespace != "" {
		meta["namespace"] = ref.Namespace
	}
	return map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind, "metadata": meta}
}

// Restart returns the body of an apply that restarts a Deployment by an annotation with
// the content digest of its plugin set.
func Restart(deployment Ref, contentDigest string) map[string]any {
	body := EmptyApply(deployment)
	body["spec"] = map[string]any{"template": map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{AnnotationPlugins: contentDigest},
	}}}
	return body
}

// Fingerprint returns the fingerprint that the object has with this live body, see
// [Fingerprint].
func (o *Object) Fingerprint(t TypeConverter, live map[string]any) (string, error) {
	return fingerprint(t, live, o.Planned, o.Whole(), o.manager())
}

// Relevant returns the part of a live body that the fingerprint covers, see
// [Fingerprint], with sensitive values.
func (o *Object) Relevant(t TypeConverter, live map[string]any) (map[string]any, error) {
	return relevant(t, live, o.Planned, o.Whole(), o.manager())
}

// OwnedFields returns the paths of a live body that belong to the field manager that
// writes the object.
func (o *Object) OwnedFields(live map[string]any) (*FieldSet, error) {
	return ownedFields(live, o.manager())
}

func (o *Object) manager() string {
	return cmp.Or(o.Manager, FieldManager)
}
