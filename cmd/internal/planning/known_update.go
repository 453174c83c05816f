package planning

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// KnownUpdate returns the version that an upgrade of a release would choose, by what is
// on this machine of its catalog: no server is asked. It is empty when none is known.
func (p *Planner) KnownUpdate(ctx context.Context, stored *record.Record) string {
	if stored.Package() == "" || stored.Catalog() == "" {
		return ""
	}
	names, err := p.env.upgradeCatalog(stored)
	if err != nil {
		return ""
	}
	r, err := p.env.newResolver(p.Source, p.Signatures, nil, nil)
	if err != nil {
		return ""
	}
	r.fetcher = r.cached
	catalogs, err := r.CatalogsFor(ctx, Selection{Catalogs: names})
	if err != nil {
		return ""
	}
	query := catalog.Query{Package: stored.Package(), Installed: &catalog.Installed{Bundle: stored.Bundle(), Version: stored.Version()}}
	if channel := stored.Channel(); channel != "" {
		query.Channels = []string{channel}
	}
	choice, err := catalog.Resolve(catalogs, query)
	if err != nil || sameVersion(choice.Version, stored.Version()) {
		return ""
	}
	return choice.Version
}
