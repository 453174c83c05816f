package engine

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// CurrentFindings returns the findings of a plan under the current rules: those
// it carries, and those that follow from its planned objects and Facts now. A
// plan from a record carries what was stored there, and no live bodies: only
// what is sealed can be trusted to say what is critical.
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
