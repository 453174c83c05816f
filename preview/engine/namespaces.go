package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// maxForeign is the most objects of one namespace that a finding lists; the others are
// counted.
const maxForeign = 50

// foreignNamespaces is the check for objects in other namespaces than the release's.
type foreignNamespaces struct{ noCheck }

// findings returns one finding for each namespace other than the release's that the plan
// has objects in. Left out are bundles of registry+v1, whose install mode is displayed
// and decides their namespaces, and sections with their own namespace.
func (foreignNamespaces) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	own := map[string]string{} // namespace, in addition to the release's, by package
	by := map[string]bool{}
	for _, pkg := range p.Packages {
		by[pkg.Name] = pkg.Format != "registry+v1"
		if s := pkg.Parameters.Section; s != nil {
			own[pkg.Name] = s.Namespace
		}
	}
	found := map[string][]string{}
	for i := range p.Objects {
		o := &p.Objects[i]
		expected := o.Namespace == "" || o.Namespace == p.Release.Namespace || o.Namespace == own[o.Package]
		if o.Planned != nil && by[o.Package] && !expected {
			found[o.Namespace] = append(found[o.Namespace], o.ID)
		}
	}
	var out []preview.Finding
	for _, namespace := range slices.Sorted(maps.Keys(found)) {
		ids := found[namespace]
		slices.Sort(ids)
		title := fmt.Sprintf("%d objects go into namespace %s", len(ids), namespace)
		if len(ids) == 1 {
			title = "one object goes into namespace " + namespace
		}
		var evidence []preview.Piece
		for _, id := range ids[:min(len(ids), maxForeign)] {
			evidence = append(evidence, preview.Piece{What: id})
		}
		if n := len(ids) - maxForeign; n > 0 {
			evidence = append(evidence, preview.Piece{What: fmt.Sprintf("and %d more", n)})
		}
		in := preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: namespace}
		out = append(out, rules.ForeignNamespace.Finding(in.ID(), preview.Claim{Predicate: title}, evidence...))
	}
	return out
}
