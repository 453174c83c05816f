package risk

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
)

// lookups are indexes of the plan for rules that compare objects with each other. They
// are filled in one pass, because a plan may have twenty thousand objects.
type lookups struct {
	reads     map[string][]map[string]any    // bodies read from the cluster, by id
	workloads map[string][]*preview.Object   // objects that make pods, by namespace
	services  map[string][]*preview.Object   // of the plan, and those read from the cluster, by namespace
	leading   map[string][]map[string]any    // what leads out of the cluster there, by namespace
	ingresses map[string][]any               // specs of Ingresses read from the cluster, by namespace
	policies  map[string]bool                // ValidatingAdmissionPolicy that the plan binds → whether a binding says Deny
	bound     map[string][]*preview.Object   // bindings in the plan, by the policy that they name
	empty     bool                           // no object stays after the plan, as for uninstall
	rules     map[string]string              // permissions of roles as text, by the role's id
	labels    map[string][]map[string]string // distinct label sets of pods, by namespace
	behind    map[string][]map[string]string // label sets of the pods that a Service selects, by its id
	writers   map[string]map[string]bool     // names of objects that accounts of the plan may update, by resource
	// aggregating has a selector of each aggregated ClusterRole that was read from the
	// cluster, by "ClusterRole NAME".
	aggregating map[string]labelSelector
	collecting  []labelSelector // of the plan's aggregated ClusterRoles
	left        int             // comparisons of labels with selectors that may still be made
}

// maxSelections is the most comparisons of pod labels with selectors in one evaluation.
// Beyond it, a webhook counts as covering the pods behind it.
const maxSelections = 1 << 20

func newLookups(p *preview.Plan) lookups {
	a := lookups{
		reads: map[string][]map[string]any{}, workloads: map[string][]*preview.Object{}, services: map[string][]*preview.Object{}, ingresses: map[string][]any{}, leading: map[string][]map[string]any{},
		policies: map[string]bool{}, bound: map[string][]*preview.Object{}, writers: map[string]map[string]bool{}, aggregating: map[string]labelSelector{}, empty: true, rules: map[string]string{}, labels: map[string][]map[string]string{},
		behind: map[string][]map[string]string{}, left: maxSelections,
	}
	seen := map[string]bool{}
	for i := range p.Objects {
		o := &p.Objects[i]
		a.empty = a.empty && o.Planned == nil
		if pod, _ := preview.PodTemplate(o.Planned); pod != nil && !o.Is(preview.KindPodTemplate) {
			a.workloads[o.Namespace] = append(a.workloads[o.Namespace], o)
			a.addLabels(o, seen)
		}
		if o.Planned != nil && o.Is(preview.KindService) {
			a.services[o.Namespace] = append(a.services[o.Namespace], o)
		}
		if o.Is(preview.KindClusterRole) {
			for _, selector := range preview.Maps(o.Planned, "aggregationRule", "clusterRoleSelectors") {
				a.collecting = append(a.collecting, parseSelector(selector))
			}
		}
		policy := preview.String(o.Planned, "spec", "policyName")
		if o.Planned != nil && o.Is(preview.KindValidatingAdmissionPolicyBinding, kindMutatingBinding) {
			a.bound[string(o.GroupKind())+"/"+policy] = append(a.bound[string(o.GroupKind())+"/"+policy], o)
		}
		if o.Is(preview.KindValidatingAdmissionPolicyBinding) {
			a.policies[policy] = a.policies[policy] || slices.Contains(wording.Strings(preview.Value(o.Planned, "spec", "validationActions")), "Deny")
		}
	}
	for i := range p.Reads {
		a.reads[p.Reads[i].ID] = append(a.reads[p.Reads[i].ID], p.Reads[i].Body)
		a.addPlaces(p.Reads[i].Body)
		a.addAggregating(p.Reads[i].Body)
	}
	return a
}

// LeadsTo is a field of a read's spec: the hosts outside the cluster that a Service or
// endpoints of the cluster lead to.
const LeadsTo = "leadsTo"

// addPlaces adds a Service, an Ingress or endpoints that were read from the cluster.
func (a *lookups) addPlaces(body map[string]any) {
	ref := preview.RefOf(body)
	if preview.Value(body, "spec", LeadsTo) != nil {
		a.leading[ref.Namespace] = append(a.leading[ref.Namespace], body)
	}
	switch {
	case ref.Is(preview.KindService):
		a.services[ref.Namespace] = append(a.services[ref.Namespace], &preview.Object{ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Planned: body})
	case ref.Is(preview.KindIngress):
		a.ingresses[ref.Namespace] = append(a.ingresses[ref.Namespace], body["spec"])
	}
}

// addAggregating adds the selectors of a ClusterRole read from the cluster that
// aggregates others. The built-in roles are left out.
func (a *lookups) addAggregating(role map[string]any) {
	ref := preview.RefOf(role)
	if !ref.Is(preview.KindClusterRole) || access.IsBuiltIn(ref) {
		return
	}
	for _, selector := range preview.Maps(role, "aggregationRule", "clusterRoleSelectors") {
		a.aggregating["ClusterRole "+ref.Name] = parseSelector(selector)
	}
}

func (a *lookups) addLabels(o *preview.Object, seen map[string]bool) {
	_, meta := preview.PodTemplate(o.Planned)
	have := map[string]string{}
	for key, v := range preview.Map(meta, "labels") {
		have[key], _ = v.(string)
	}
	if !slices.Contains(podGroups, o.Ref().Group()) {
		return // a kind of the same name in another group: no pods are known to follow
	}
	if text := o.Namespace + "/" + labels.Set(have).String(); !seen[text] {
		seen[text] = true
		a.labels[o.Namespace] = append(a.labels[o.Namespace], have)
	}
}

// podsBehind returns the distinct label sets of the plan's pods that a Service selects.
// complete is false, and the list nil, after more than maxSelections comparisons.
func (a *lookups) podsBehind(service *preview.Object) (found []map[string]string, complete bool) {
	if known, looked := a.behind[service.ID]; looked {
		return known, true
	}
	picks := preview.Map(service.Planned, "spec", "selector")
	have := a.labels[service.Namespace]
	if len(picks) == 0 {
		return nil, true
	}
	if a.left -= len(have); a.left < 0 {
		return nil, false
	}
	picked, err := selectorOf(map[string]any{"matchLabels": picks})
	for _, set := range have {
		if err != nil || picked.Matches(labels.Set(set)) {
			found = append(found, set)
		}
	}
	a.behind[service.ID] = found
	return found, true
}

// denies reports whether the ValidatingAdmissionPolicy of that name can refuse
// requests: a binding in the plan has the action Deny, or the plan has no binding for
// it.
func (a *lookups) denies(name string) bool {
	denied, bound := a.policies[name]
	return denied || !bound
}
