package installer

import (
	"maps"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Reviewer is the placeholder in the bindings that [ReviewManifests] writes.
const Reviewer = "REVIEWER"

// ReviewManifests returns the roles and bindings that let a user who may only read, and
// send no dry run, review a plan. A Role cannot be in a namespace that the plan creates,
// so rights there become rights to objects of these names in all namespaces.
func ReviewManifests(p *preview.Plan, plural Plural) []map[string]any {
	absent := map[string]bool{}
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Is(preview.KindNamespace) && o.Action == preview.ActionCreate {
			absent[o.Name] = true
		}
	}
	rights := append(looks(p, plural), Reads(p, plural)...)
	rights = slices.DeleteFunc(rights, func(r preview.Right) bool { return absent[r.Namespace] && r.Name == "" }) // nothing is listed there
	for i := range rights {
		if absent[rights[i].Namespace] {
			rights[i].Namespace = ""
		}
	}
	byNamespace := map[string][]preview.Right{}
	for _, r := range minimize(rights) {
		byNamespace[r.Namespace] = append(byNamespace[r.Namespace], r)
	}
	name := "kubectl-operator-reviewer-" + p.Release.Name
	var out []map[string]any
	for _, ns := range slices.Sorted(maps.Keys(byNamespace)) {
		out = append(out, role(name, ns, rules(byNamespace[ns])), binding(name, ns, Reviewer))
	}
	return out
}

// looks returns the rights to get the record of the release, the namespaces, and the
// live objects of the plan.
func looks(p *preview.Plan, plural Plural) []preview.Right {
	n := &rightSet{plural: fallbackPlural(p, plural)}
	n.add("v1", "Namespace", "", "kube-system", "get")
	n.add("v1", "Namespace", "", p.Release.Namespace, "get")
	n.add("v1", "Secret", p.Release.Namespace, preview.RecordName(p.Release.Name), "get")
	n.addChainReads(p)
	if p.Base.Unvouched != nil && p.Base.Unvouched.Hidden {
		n.add("rbac.authorization.k8s.io/v1", "Role", p.Release.Namespace, preview.RecordName(p.Release.Name), "get")
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Namespace != "" {
			n.add("v1", "Namespace", "", o.Namespace, "get")
		}
		if served := plural(o.APIVersion, o.Kind) != ""; served || o.LiveBody != nil || !brings(p, o.Ref()) {
			n.add(o.APIVersion, o.Kind, o.Namespace, o.Name, "get")
		}
	}
	if sharesDefinitions(p) {
		n.add("v1", "Secret", "", "", "list") // the records of other releases: RBAC knows no labels
	}
	n.addGone(p)
	if p.Request.Action == preview.RequestRollback && p.Request.Revision > 0 && p.Request.Revision < p.Base.Revision {
		n.addRevisionReads(p.Release, p.Request.Revision)
	}
	if p.FailureRollback != nil {
		n.addRevisionReads(p.Release, p.Base.Revision)
	}
	return n.rights
}

// sharesDefinitions reports whether the plan updates or deletes a CRD of the release
// that other releases may rely on. Any CRD counts in a plan without packages.
func sharesDefinitions(p *preview.Plan) bool {
	for i := range p.Objects {
		o := &p.Objects[i]
		touched := len(p.Packages) == 0 || o.Action == preview.ActionUpdate || o.Action == preview.ActionDelete
		if touched && o.Is(preview.KindCustomResourceDefinition) && p.Member(o) {
			return true
		}
	}
	return false
}

// brings reports whether a CRD of the plan defines the kind of ref.
func brings(p *preview.Plan, ref preview.Ref) bool {
	return slices.ContainsFunc(p.Objects, func(o preview.Object) bool {
		return preview.IsKind(o.Planned, preview.KindCustomResourceDefinition) &&
			preview.String(o.Planned, "spec", "group") == ref.Group() && preview.String(o.Planned, "spec", "names", "kind") == ref.Kind
	})
}
