package report

import (
	"io"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// addressed returns a writer of a form for readers, in which the kubectl commands that
// findings name are addressed to the cluster of the plan. The findings themselves know no
// cluster: their evidence is the same for all who review the plan.
func addressed(write func(io.Writer, *preview.Plan, Options) error) func(io.Writer, *preview.Plan, Options) error {
	return func(w io.Writer, p *preview.Plan, o Options) error {
		flags := commandline.Flags(p.Request.Flags, commandline.Connection)
		if len(flags) == 0 {
			return write(w, p, o)
		}
		shown := *p
		shown.Findings = slices.Clone(p.Findings)
		for i := range shown.Findings {
			f := &shown.Findings[i]
			f.Why, f.Evidence = commandline.Addressed(f.Why, flags), commandline.Addressed(f.Evidence, flags)
			f.Pieces = slices.Clone(f.Pieces)
			for n := range f.Pieces {
				f.Pieces[n].Text = commandline.Addressed(f.Pieces[n].Text, flags)
			}
		}
		return write(w, &shown, o)
	}
}
