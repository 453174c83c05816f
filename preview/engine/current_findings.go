package engine

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// CurrentFindings returns the findings of a plan under the present rules: those in
// the plan, and those computed now from its planned objects and Facts. A plan from
// a record has stored findings, which cannot be trusted to be complete, and no
// live bodies.
func CurrentFindings(p *preview.Plan, schemas Schemas) ([]preview.Finding, error) {
	fresh := *p
	fresh.Objects, fresh.Reads, fresh.Unknowns = slices.Clone(p.Objects), slices.Clone(p.Reads), slices.Clone(p.Unknowns)
	if err := derive(&fresh, schemas); err != nil {
		return nil, err
	}
	all := slices.Clone(p.Findings)
	for _, f := range fresh.Findings {
		if !slices.ContainsFunc(all, func(known preview.Finding) bool {
			return known.ID == f.ID && known.Fingerprint == f.Fingerprint && known.Severity == f.Severity
		}) {
			all = append(all, f)
		}
	}
	return all, nil
}
