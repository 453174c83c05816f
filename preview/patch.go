package preview

import "reflect"

// AnnotationPlugins on the pod template of a host Deployment holds the
// contentDigest of the plugin set that its pods load: another set restarts them
// (section 7 of the package documentation).
const AnnotationPlugins = "kubectl-operator/plugins"

// FormatPlugins begins the format of a package that is a plugin set.
const FormatPlugins = "plugins/"

// PatchManager returns the field manager for a release's fields in objects that
// have another owner: a name of its own, so that an empty apply takes back those
// and nothing else.
func PatchManager(release string) string { return FieldManager + "-" + release }

// Patches reports whether an object has another owner, of which the release
// owns a few fields by a manager of its own. It carries no label of the release
// and is never pruned.
func (o *Object) Patches() bool { return o.Manager != "" }

// ReleasesOwnership reports whether an object is only patched to take back what was
// patched before.
func (o *Object) ReleasesOwnership() bool {
	return o.Patches() && reflect.DeepEqual(o.Planned, EmptyApply(o.Ref()))
}

// EmptyApply returns the body of an apply that sets nothing: the API server
// removes what its manager alone owned.
func EmptyApply(ref Ref) map[string]any {
	meta := map[string]any{"name": ref.Name}
	if ref.Namespace != "" {
		meta["namespace"] = ref.Namespace
	}
	return map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind, "metadata": meta}
}

// Restart returns the body of an apply that restarts a Deployment once for every
// contentDigest of the set that its pods load.
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

// Relevant cuts a live body of the object down to the relevant paths (see
// [Fingerprint]). Sensitive values are in it.
func (o *Object) Relevant(t TypeConverter, live map[string]any) (map[string]any, error) {
	return relevant(t, live, o.Planned, o.manager())
}

// OwnedFields returns the paths of a live body that the manager which writes
// the object owns.
func (o *Object) OwnedFields(live map[string]any) (*FieldSet, error) {
	return ownedFields(live, o.manager())
}

func (o *Object) manager() string {
	if o.Patches() {
		return o.Manager
	}
	return FieldManager
}
