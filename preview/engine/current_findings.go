package engine

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// CurrentFindings returns the findings of a plan with the present rules: those stored
// in it, and those computed now from its planned objects and facts. The findings of a
// plan from a record may be incomplete, and such a plan has no live bodies.
func CurrentFindings(p *preview.Plan, schemas Schemas) ([]preview.Finding, error) {
	fresh := *p
	fresh.Objects, fresh.Reads, fresh.Unknowns = slices.Clone(p.Objects), slices.Clone(p.Reads), slices.Clone(p.Unknowns)
	if err := derive(&fresh, schemas); err != nil {
		return nil, err
	}
	all := slices.Clone(p.Findings)
	for _, f := range fresh.Findings {
		if !slices.ContainsFunc(all, func(known preview.Finding) bool {
			return known.ID == f.ID && f.HasFingerprint(known.Fingerprint) && known.Severity == f.Severity
		}) {
			all = append(all, f)
		}
	}
	return all, nil
}
