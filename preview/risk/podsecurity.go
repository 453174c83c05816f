package risk

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// surroundingRules returns the rule about Namespaces whose Pod Security level the plan
// lowers.
func surroundingRules() []entry {
	return []entry{{Rule: rules.PodSecurityRelaxed, object: facts(relaxesLevel)}}
}

// relaxesLevel matches Namespaces whose enforced Pod Security level the plan lowers,
// and new ones that a label sets to level privileged.
func relaxesLevel(c *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil || !o.Is(preview.KindNamespace) || o.Action == preview.ActionUnchanged || o.Action == preview.ActionBlocked {
		return None, nil
	}
	after := enforcedLevel(c.namespaces.labels(o.Name))
	if o.LiveBody == nil {
		if after.Level == psa.LevelPrivileged && preview.String(o.Planned, "metadata", "labels", psa.EnforceLevelLabel) != "" {
			return Medium, []preview.Seen{words.ANewNamespaceEnforcesLevel.Of(after.String())}
		}
		return None, nil
	}
	before := enforcedLevel(textLabels(o.LiveBody))
	lower := psa.CompareLevels(after.Level, before.Level) < 0
	older := after.Level == before.Level && after.Level != psa.LevelPrivileged && after.Version.Older(before.Version)
	if !lower && !older {
		return None, nil
	}
	return None, []preview.Seen{words.EnforcesLevelNowAndAfterThe.Of(before.String(), after.String())}
}

// enforcedLevel returns the Pod Security level and version that the labels of a
// namespace enforce; privileged without labels.
func enforcedLevel(labels map[string]string) psa.LevelVersion {
	levels, _ := psa.PolicyToEvaluate(labels, psa.Policy{Enforce: psa.LevelVersion{Level: psa.LevelPrivileged, Version: psa.LatestVersion()}})
	return levels.Enforce
}

func textLabels(body map[string]any) map[string]string {
	out := map[string]string{}
	for key, v := range preview.Map(body, "metadata", "labels") {
		if text, ok := v.(string); ok {
			out[key] = text
		}
	}
	return out
}

// judgePodSecurity checks the pods of every namespace against its Pod Security
// labels (KEP-2579), with the checks of the API server. A namespace without labels
// is taken to admit everything, because another default of the API server cannot
// be read.
func (c *scan) judgePodSecurity() {
	byNamespace := c.around.workloads
	if len(byNamespace) == 0 {
		return
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return // the checks are compiled in; a test holds them to this
	}
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		levels := podLevels(c.namespaces.labels(namespace))
		if levels.FullyPrivileged() {
			continue
		}
		objects := byNamespace[namespace]
		refused := inadmissible(evaluator, levels.Enforce, objects)
		c.podSecurity(rules.PodSecurityRefused, namespace, "namespace "+namespace+" refuses pods of "+words.Series(kindNames(objects, refused), "and"), refused)
		if len(refused) > 0 {
			continue // what is refused need not be warned of
		}
		warned := warnedOf(evaluator, levels, objects)
		c.podSecurity(rules.PodSecurityWarned, namespace, "namespace "+namespace+" warns of pods of "+words.Series(kindNames(objects, warned), "and"), warned)
	}
}

// podLevels returns the levels that the labels of a namespace set; privileged without labels.
func podLevels(labels map[string]string) psa.Policy {
	none := psa.LevelVersion{Level: psa.LevelPrivileged, Version: psa.LatestVersion()}
	levels, _ := psa.PolicyToEvaluate(labels, psa.Policy{Enforce: none, Audit: none, Warn: none})
	return levels
}

func warnedOf(evaluator policy.Evaluator, levels psa.Policy, objects []*preview.Object) map[string]preview.Seen {
	warned := inadmissible(evaluator, levels.Warn, objects)
	maps.Copy(warned, inadmissible(evaluator, levels.Audit, objects))
	return warned
}

// NoLongerAdmitted returns the ids of workloads whose pods a live Namespace of the plan
// refuses, or only warns of, once the plan is applied, and does not before.
func NoLongerAdmitted(p *preview.Plan, namespace *preview.Object, workloads []map[string]any) (refused, warned []string) {
	before, after := podLevels(textLabels(namespace.LiveBody)), podLevels(newNamespaces(p, nil).labels(namespace.Name))
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil || before == after {
		return nil, nil
	}
	objects := make([]*preview.Object, 0, len(workloads))
	for _, body := range workloads {
		objects = append(objects, &preview.Object{ID: preview.RefOf(body).ID(), Planned: body})
	}
	added := func(now, was map[string]preview.Seen) []string {
		maps.DeleteFunc(now, func(id string, _ preview.Seen) bool { return was[id].Key != "" })
		return slices.Sorted(maps.Keys(now))
	}
	refused = added(inadmissible(evaluator, after.Enforce, objects), inadmissible(evaluator, before.Enforce, objects))
	if warned = added(warnedOf(evaluator, after, objects), warnedOf(evaluator, before, objects)); len(refused) > 0 {
		warned = nil // what is refused need not be warned of
	}
	return refused, warned
}

func (c *scan) podSecurity(rule rules.Rule, namespace, title string, lines map[string]preview.Seen) {
	if len(lines) == 0 {
		return
	}
	c.hit(rule, ruleHit{
		object: namespaceID(namespace), claim: preview.Claim{Predicate: title}, evidence: words.Saw(slices.Collect(maps.Values(lines))...),
		narrow: true, known: c.unchanged(slices.Collect(maps.Keys(lines))), held: c.unchanged(slices.Collect(maps.Keys(lines))),
	})
}

// inadmissible returns, for each object whose pods a Pod Security level does not admit,
// the reason, by object id.
func inadmissible(evaluator policy.Evaluator, level psa.LevelVersion, objects []*preview.Object) map[string]preview.Seen {
	out := map[string]preview.Seen{}
	for _, o := range objects {
		spec, meta := preview.PodTemplate(o.Planned)
		pod := corev1.PodSpec{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &pod); err != nil {
			continue // such an object cannot be applied, which is a finding
		}
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, podMeta(meta), &pod))
		if !result.Allowed {
			out[o.ID] = words.NotAdmitted.Of(o.ID, level.String(), result.ForbiddenDetail())
		}
	}
	return out
}

func podMeta(meta map[string]any) *metav1.ObjectMeta {
	out := &metav1.ObjectMeta{Annotations: map[string]string{}}
	for key, v := range preview.Map(meta, "annotations") {
		if text, ok := v.(string); ok {
			out.Annotations[key] = text
		}
	}
	return out
}

// kindNames returns "KIND NAME" of those objects whose ids are keys of said: the first
// three by name, and the number of the others.
func kindNames(objects []*preview.Object, said map[string]preview.Seen) []string {
	var out []string
	for _, o := range objects {
		if _, ok := said[o.ID]; ok {
			out = append(out, o.Kind+" "+o.Name)
		}
	}
	slices.Sort(out)
	if n := len(out) - 3; n > 0 {
		out = append(out[:3], fmt.Sprintf("%d more", n))
	}
	return out
}

// unchanged reports whether the plan leaves every one of the objects as it is.
func (c *scan) unchanged(ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool {
		o := c.objects[id]
		return o == nil || o.Action != preview.ActionUnchanged
	})
}
