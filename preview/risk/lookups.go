package risk

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// lookups indexes the plan for rules that compare objects with each other, in one
// pass, because a plan may have twenty thousand objects.
type lookups struct {
	byID      map[string]*preview.Object // those that are deleted too
	reads     map[string][]map[string]any
	workloads map[string][]*preview.Object   // that make pods, by namespace
	policies  map[string]bool                // validating policies that the plan binds → whether one binding says Deny
	bound     map[string][]*preview.Object   // bindings of the plan, by the admission policy that they bind
	own       []string                       // the plan's own namespaces
	empty     bool                           // nothing stays, as after uninstall
	rules     map[string]string              // hashes of what roles state, by id
	labels    map[string][]map[string]string // that pods have, by namespace, each set once
	behind    map[string][]map[string]string // labels of the pods that a Service selects
	writers   map[string]map[string]bool     // names of configurations that accounts of the plan may update, by resource
	// aggregating are the selectors of the cluster's aggregated ClusterRoles as far
	// as they were read, by the role.
	aggregating map[string]map[string]any
	collecting  []map[string]any // selectors of the plan's own aggregated ClusterRoles
	left        int              // selections of pods that are still evaluated
}

// maxSelections bounds how often labels of pods are held to a selector. Beyond
// it a webhook is taken to cover the pods behind it.
const maxSelections = 1 << 20

func newLookups(p *preview.Plan) lookups {
	a := lookups{
		byID: map[string]*preview.Object{}, reads: map[string][]map[string]any{}, workloads: map[string][]*preview.Object{},
		policies: map[string]bool{}, bound: map[string][]*preview.Object{}, writers: map[string]map[string]bool{}, aggregating: map[string]map[string]any{}, own: p.OwnNamespaces(), empty: true, rules: map[string]string{}, labels: map[string][]map[string]string{},
		behind: map[string][]map[string]string{}, left: maxSelections,
	}
	seen := map[string]bool{}
	for i := range p.Objects {
		o := &p.Objects[i]
		if _, known := a.byID[o.ID]; !known {
			a.byID[o.ID] = o
		}
		a.empty = a.empty && o.Planned == nil
		if pod, _ := preview.PodTemplate(o.Planned); pod != nil && !o.Is(preview.KindPodTemplate) {
			a.workloads[o.Namespace] = append(a.workloads[o.Namespace], o)
			a.addLabels(o, seen)
		}
		if o.Is(preview.KindClusterRole) {
			a.collecting = append(a.collecting, preview.Maps(o.Planned, "aggregationRule", "clusterRoleSelectors")...)
		}
		policy := preview.String(o.Planned, "spec", "policyName")
		if o.Planned != nil && o.Is(preview.KindValidatingAdmissionPolicyBinding, kindMutatingBinding) {
			a.bound[string(o.GroupKind())+"/"+policy] = append(a.bound[string(o.GroupKind())+"/"+policy], o)
		}
		if o.Is(preview.KindValidatingAdmissionPolicyBinding) {
			a.policies[policy] = a.policies[policy] || slices.Contains(words(preview.Value(o.Planned, "spec", "validationActions")), "Deny")
		}
	}
	for i := range p.Reads {
		a.reads[p.Reads[i].ID] = append(a.reads[p.Reads[i].ID], p.Reads[i].Body)
		a.addAggregating(p.Reads[i].Body)
	}
	return a
}

// addAggregating adds the selectors of a ClusterRole of the cluster that collects
// others, but for the built-in ones.
func (a *lookups) addAggregating(role map[string]any) {
	ref := preview.RefOf(role)
	if !ref.Is(preview.KindClusterRole) || access.IsBuiltIn(ref) {
		return
	}
	for _, selector := range preview.Maps(role, "aggregationRule", "clusterRoleSelectors") {
		a.aggregating["ClusterRole "+ref.Name] = selector
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
