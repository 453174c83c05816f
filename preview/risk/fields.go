package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/field"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pods"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// fieldRules returns the rules about fields that no row of the table in
// preview/risk/field judges, and about changes of fields that weaken a protection.
func fieldRules() []entry {
	return []entry{
		{Rule: rules.FieldNotJudged, object: texts(func(_ *scan, o *preview.Object) (Level, []string) { return None, field.Unknown(o.Planned) })},
		{Rule: rules.ProtectionWeakened, object: texts(weakened)},
		{Rule: rules.PodForeignSecret, object: texts(foreignSecrets)},
	}
}

// weakened matches objects that protect less after the plan than in the cluster now: a
// field is weakened, or the object is deleted.
func weakened(c *scan, o *preview.Object) (Level, []string) {
	level := None
	if o.Is(preview.KindCustomResourceDefinition) {
		level = Low // what its objects may say
	}
	switch {
	case o.Action == preview.ActionDelete && o.Planned == nil && !c.around.empty && !o.FormerOwner():
		if lost := field.Protects(o.APIVersion, o.Kind); lost != "" {
			return None, []string{"deleted: " + lost}
		}
	case o.Planned == nil || o.LiveBody == nil || o.Untouched():
	case o.ResultBody != nil:
		return level, field.Weakened(o.LiveBody, o.ResultBody, true)
	default:
		older := preview.String(o.LiveBody, "metadata", "uid") == "" // that of another version of the package
		return level, field.Weakened(o.LiveBody, o.Planned, older || o.Action == preview.ActionReplace)
	}
	return None, nil
}

// foreignSecrets matches pods that mount Secrets and PersistentVolumeClaims of a
// namespace that is not the release's own: the pod gets them without a right to read
// them.
func foreignSecrets(c *scan, o *preview.Object) (Level, []string) {
	pod, _ := preview.PodTemplate(o.Planned)
	if pod == nil || o.Namespace == "" || c.namespaces.brought(o.Namespace) {
		return None, nil
	}
	level, lines := High, []string(nil)
	for _, ref := range pods.Borrowed(pod, o.Namespace) {
		if c.objects[ref.ID()] == nil {
			lines = append(lines, ref.Kind+" "+preview.EvidenceName(ref.Name)+" of namespace "+o.Namespace)
		}
	}
	if slices.Contains(sharedNamespaces, o.Namespace) {
		level = Critical
	}
	return level, lines
}
