package verdict

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Kept says what an uninstall leaves in the cluster, each with the flag that deletes it
// too; none for another plan.
func Kept(p *preview.Plan) []string {
	if p.Request.Action != preview.RequestUninstall || len(p.Objects) == 0 {
		return nil
	}
	var crds, namespaces []string
	deleted := false // the namespace of the release
	for i := range p.Objects {
		switch o := &p.Objects[i]; {
		case o.Is(preview.KindNamespace) && o.Action == preview.ActionKeep:
			namespaces = append(namespaces, o.Name)
		case o.Is(preview.KindNamespace):
			deleted = deleted || o.Name == p.Release.Namespace
		case o.Action == preview.ActionKeep:
			crds = append(crds, "CRD "+o.Name+", with its custom resources: --include-crds deletes them")
		}
	}
	if !deleted && p.Release.Namespace != "" && !slices.Contains(namespaces, p.Release.Namespace) {
		namespaces = append(namespaces, p.Release.Namespace)
	}
	for i, name := range namespaces {
		namespaces[i] = "namespace " + name + ": --include-namespaces deletes it, if the release created it"
	}
	return bounded(slices.Concat(crds, namespaces))
}
