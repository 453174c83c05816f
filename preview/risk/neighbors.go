package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/neighbors"
)

// neighborRules returns the rules about objects that affect Services, storage or
// traffic of other users.
func neighborRules() []entry {
	var out []entry
	rows := map[string][]neighbors.Row{}
	for _, row := range neighbors.Table() {
		if rows[row.Rule.Name] == nil {
			out = append(out, entry{Rule: row.Rule})
		}
		rows[row.Rule.Name] = append(rows[row.Rule.Name], row)
	}
	for i := range out {
		out[i].object = neighborMatch(rows[out[i].Name])
	}
	return out
}

// neighborMatch returns a matcher that judges an object by the first row for its kind.
func neighborMatch(rows []neighbors.Row) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []string) {
		for _, row := range rows {
			if o.Planned != nil && o.Is(row.Kinds...) {
				return row.Judge(neighbors.Object{Ref: o.Ref(), Body: o.Planned, Own: c.ownNamespace, Control: controlNamespace})
			}
		}
		return None, nil
	}
}

// ownNamespace reports whether a namespace is the release's own or is created by the
// plan.
func (c *scan) ownNamespace(namespace string) bool {
	if slices.Contains(c.around.own, namespace) {
		return true
	}
	made := c.around.byID["core/Namespace/-/"+namespace]
	return made != nil && brings(made) && !controlNamespace(namespace)
}

// controlNamespace reports whether a namespace holds accounts or configuration of the
// control plane or of the platform, so that writing there is as severe as in the whole
// cluster.
func controlNamespace(namespace string) bool {
	return slices.Contains(sharedNamespaces, namespace) || namespace == "kube-public" || strings.HasPrefix(namespace, "openshift-")
}
