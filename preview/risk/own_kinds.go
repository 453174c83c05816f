package risk

import (
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
)

// kindIndex says of custom resources whether they are the plan's own, and else which
// controller of others acts on them. A kind is its own where the plan defines it and an
// account of the plan acts on it: a definition alone can be a copy.
type kindIndex struct {
	resources map[string]bool            // GROUP/RESOURCE and GROUP/* of the plan's CRDs, except CRDs of others
	kinds     map[string]bool            // GROUP/KIND of the plan's CRDs that are its own
	changed   deputy.Changed             // by accounts of the plan
	kept      deputy.Changed             // by their grants that stay as they are
	moved     []resourceName             // the plan's own kinds that only other grants act on
	named     map[string]map[string]bool // GROUP → resources that rules about grants name
	worst     map[resourceName]worstOf   // what worstKind returned, as the rules of all effects ask for it
}

type resourceName struct{ group, resource string }

type worstOf struct {
	kind deputy.Kind
	ok   bool
}

func newKindIndex(named map[string]map[string]bool, grants []preview.Grant) *kindIndex {
	same := slices.DeleteFunc(slices.Clone(grants), func(g preview.Grant) bool { return g.Change != preview.GrantSame })
	return &kindIndex{changed: deputy.ChangedBy(grants), kept: deputy.ChangedBy(same), resources: map[string]bool{}, kinds: map[string]bool{}, named: named, worst: map[resourceName]worstOf{}}
}

// add adds the kind that a CRD of the plan defines.
func (x *kindIndex) add(crd map[string]any) {
	clear(x.worst)
	group, plural, kind := definedBy(crd)
	acted := x.changed.Has(group, plural)
	if acted || !carriedOut(group, plural, kind) {
		x.resources[group+"/*"] = true
		x.resources[group+"/"+plural] = true
	}
	if acted && !x.kept.Has(group, plural) {
		x.moved = append(x.moved, resourceName{group, plural})
	}
	if acted {
		x.kinds[group+"/"+kind] = true
	}
}

// actorMoved reports whether a grant is about a kind of the plan that is its own only by
// grants which the plan changes.
func (x *kindIndex) actorMoved(g preview.Grant) bool {
	return slices.ContainsFunc(x.moved, func(r resourceName) bool {
		return (slices.Contains(g.APIGroups, r.group) || slices.Contains(g.APIGroups, all)) && (slices.Contains(g.Resources, r.resource) || slices.Contains(g.Resources, all))
	})
}

// carriedOut reports whether a controller that the table knows does something of note
// because of the objects of a kind.
func carriedOut(group, plural, kind string) bool {
	row, known := deputy.Of(group, kind)
	rows := deputy.Resources(group, plural)
	if known {
		rows = append(rows, row)
	}
	return slices.ContainsFunc(rows, func(k deputy.Kind) bool { return effectOf(k) != deputy.Plain && effectOf(k) != deputy.Elsewhere })
}

// definedBy returns what a CRD defines.
func definedBy(crd map[string]any) (group, plural, kind string) {
	names := preview.Map(crd, "spec", "names")
	return preview.String(crd, "spec", "group"), preview.String(names, "plural"), preview.String(names, "kind")
}

// defines reports whether a kind is the plan's own.
func (x *kindIndex) defines(group, kind string) bool { return x.kinds[group+"/"+kind] }

// ours reports whether a resource is defined by a CRD in the plan. The wildcard "*"
// counts only if every dangerous resource that is known of the API group is.
func (x *kindIndex) ours(group, resource string) bool {
	resource, _, _ = strings.Cut(resource, "/")
	if resource == all {
		for name := range x.named[group] {
			if !x.resources[group+"/"+name] {
				return false
			}
		}
		for _, k := range deputy.Resources(group, all) {
			if rankOf(k.Effect) <= rankOf(deputy.Mints) && !strings.Contains(k.Plural, "/") && !x.resources[group+"/"+k.Plural] {
				return false
			}
		}
	}
	return x.resources[group+"/"+resource]
}

// onlyOurs reports whether all resources of a grant are defined by CRDs in the plan.
func (x *kindIndex) onlyOurs(g preview.Grant) bool {
	for _, group := range g.APIGroups {
		for _, resource := range g.Resources {
			if !x.ours(group, resource) {
				return false
			}
		}
	}
	return len(g.Resources) > 0
}

// resourcesOfTable are the resources that the table names.
var resourcesOfTable = sync.OnceValue(func() map[string]map[string]bool { return namedResources(table()) })

// namedResources returns, by API group, the resources that rules about the verb create
// name in shapes. The table of operators' kinds does not judge these again.
func namedResources(rules []entry) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, rule := range rules {
		if rule.grant == nil {
			continue
		}
		for _, s := range rule.grant.shapes {
			if !slices.Contains(s.verbs, "create") {
				continue
			}
			for _, group := range s.groups {
				for _, resource := range s.resources {
					resource, _, _ = strings.Cut(resource, "/")
					if out[group] == nil {
						out[group] = map[string]bool{}
					}
					out[group][resource] = true
				}
			}
		}
	}
	return out
}

// worstKind returns the kind with the worst effect among those that a group and
// resource of a role name; either may be "*". Kinds of the plan, and resources
// that other rules judge, are left out; ok is false where no kind remains.
func (x *kindIndex) worstKind(group, resource string) (worst deputy.Kind, ok bool) {
	known, looked := x.worst[resourceName{group, resource}]
	if !looked {
		known.kind, known.ok = x.findWorst(group, resource)
		x.worst[resourceName{group, resource}] = known
	}
	return known.kind, known.ok
}

func (x *kindIndex) findWorst(group, resource string) (worst deputy.Kind, ok bool) {
	for _, k := range deputy.Resources(group, resource) {
		plural := k.Plural
		if plural == all {
			plural = resource
		}
		if x.resources[k.Group+"/"+plural] || x.resources[group+"/"+plural] || x.named[group][plural] || effectOf(k) == deputy.Elsewhere {
			continue
		}
		if !ok || rankOf(effectOf(k)) < rankOf(effectOf(worst)) {
			worst, ok = k, true
		}
	}
	if provider, iam := cloud.IAMResource(group, resource); iam && provider != cloud.Openshift && !strings.Contains(resource, "/") && rankOf(deputy.IAM) < rankOf(effectOf(worst)) {
		return deputy.Kind{Group: group, Plural: resource, Effect: deputy.IAM}, true
	}
	return worst, ok
}

// kindsPart returns the part of a grant that has any of the verbs on resources whose
// worst kind is wanted. ok is false where there is none. Kinds of the plan do not
// count.
func (x *kindIndex) kindsPart(g preview.Grant, verbs []string, wanted func(deputy.Kind) bool) (shape, bool) {
	part := shape{}
	usable := shape{verbs: verbs}.usable(g, g.Resources)
	if len(usable) == 0 {
		return part, false
	}
	for _, group := range g.APIGroups {
		for _, resource := range g.Resources {
			if worst, ok := x.worstKind(group, resource); ok && wanted(worst) {
				part.groups, part.resources = append(part.groups, group), append(part.resources, resource)
			}
		}
	}
	part.verbs = usable
	return part.join(shape{}), len(part.resources) > 0
}
