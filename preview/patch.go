package preview

import "reflect"

// AnnotationPlugins on the pod template of a host Deployment holds the
// contentDigest of the plugin set that its pods load: another set restarts them
// (section 7 of the package documentation).
const AnnotationPlugins = "kubectl-operator/plugins"

// FormatPlugins begins the format of a package that is a plugin set.
const FormatPlugins = "plugins/"

// PatchManager returns the field manager for a release's fields in objects of
// other owners. It is another manager than for its own objects, so that an empty
// apply removes only those fields.
func PatchManager(release string) string { return FieldManager + "-" + release }

// Patches reports whether the release sets only a few fields in an object of
// another owner. Such an object has no label of the release and is never pruned.
func (o *Object) Patches() bool { return o.Manager != "" }

// ReleasesOwnership reports whether an object is patched only to remove the fields
// that were set before.
func (o *Object) ReleasesOwnership() bool {
	return o.Patches() && reflect.DeepEqual(o.Planned, EmptyApply(o.Ref()))
}

// EmptyApply returns the body of an apply without fields, with which the API
// server removes those that only this manager owned.
func EmptyApply(ref Ref) map[string]any {
	meta := map[string]any{"name": ref.Name}
	if ref.Namespace != "" {
		meta["namespace"] = ref.Namespace
	}
	return map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind, "metadata": meta}
}

// Restart returns the body of an apply that restarts a Deployment, once for each
// content digest of the plugin set that its pods load.
func Restart(deployment Ref, contentDigest string) map[string]any {
	body := EmptyApply(deployment)
	body["spec"] = map[string]any{"template": map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{AnnotationPlugins: contentDigest},
	}}}
	return body
}

// Fingerprint returns the fingerprint of a live body of the object (see
// [Fingerprint]).
func (o *Object) Fingerprint(t TypeConverter, live map[string]any) (string, error) {
	return fingerprint(t, live, o.Planned, o.Whole(), o.manager())
}

// Relevant returns a live body of the object with only the relevant paths (see
// [Fingerprint]), including sensitive values.
func (o *Object) Relevant(t TypeConverter, live map[string]any) (map[string]any, error) {
	return relevant(t, live, o.Planned, o.manager())
}

// OwnedFields returns the paths of a live body that are owned by the manager with
// which the object is written.
func (o *Object) OwnedFields(live map[string]any) (*FieldSet, error) {
	return ownedFields(live, o.manager())
}

func (o *Object) manager() string {
	if o.Patches() {
		return o.Manager
	}
	return FieldManager
}
