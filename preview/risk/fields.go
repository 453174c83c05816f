package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/field"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pods"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// fieldRules returns the rules about fields that no row of the table in
// preview/risk/field judges, and about changes of fields that weaken a protection.
func fieldRules() []entry {
	return []entry{
		{Rule: rules.FieldNotJudged, object: facts(func(_ *scan, o *preview.Object) (Level, []preview.Seen) { return None, field.Unknown(o.Planned) })},
		{Rule: rules.ProtectionWeakened, object: facts(weakened)},
		{Rule: rules.PodForeignSecret, object: facts(foreignSecrets)},
	}
}

// weakened matches objects that protect less after the plan than in the cluster now: a
// field is weakened, or the object is deleted.
func weakened(c *scan, o *preview.Object) (Level, []preview.Seen) {
	level := None
	if o.Is(preview.KindCustomResourceDefinition) {
		level = Low // what its objects may say
	}
	switch {
	case o.Action == preview.ActionDelete && o.Planned == nil && !c.around.empty && !o.FormerOwner():
		if lost := field.Protects(o.APIVersion, o.Kind); lost != "" {
			return None, []preview.Seen{words.DeletedProtection.Of(lost)}
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
func foreignSecrets(c *scan, o *preview.Object) (Level, []preview.Seen) {
	pod, _ := preview.PodTemplate(o.Planned)
	if pod == nil || o.Namespace == "" || c.namespaces.brought(o.Namespace) {
		return None, nil
	}
	level, lines := High, []preview.Seen(nil)
	for _, ref := range pods.Borrowed(pod, o.Namespace) {
		if c.objects[ref.ID()] == nil {
			lines = append(lines, words.ObjectOfNamespace.Of(ref.Kind, preview.EvidenceName(ref.Name), o.Namespace))
		}
	}
	if slices.Contains(sharedNamespaces, o.Namespace) {
		level = Critical
	}
	return level, lines
}
