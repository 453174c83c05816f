package engine

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// ownFinalizers finds objects that the content writes with finalizers.
type ownFinalizers struct{ noCheck }

func (ownFinalizers) findings(of *view) []preview.Finding {
	var out []preview.Finding
	for i := range of.plan.Objects {
		o := &of.plan.Objects[i]
		if names := preview.Texts(preview.List(o.Sealed, "metadata", "finalizers")); len(names) > 0 {
			slices.Sort(names)
			out = append(out, rules.ObjectFinalizers.Finding(o.ID, o.Kind+" "+o.Name+" "+rules.ObjectFinalizers.Title, o.ID+": "+strings.Join(names, ", ")))
		}
	}
	return out
}
