package planning

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/deps"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// closure returns a package and, after it, those that it needs besides what the
// cluster has, each before what needs it. Content that comes from no catalog,
// where there is none to look in, stands alone: what it needs is in its review.
// What is planned beside it meets requirements too.
func (p *Planner) closure(ctx context.Context, r *Resolver, root *Resolution, release preview.Release, stored *record.Record, beside []deps.Installed) ([]*Resolution, error) {
	properties, err := root.properties()
	if err != nil {
		return nil, fmt.Errorf("reading what %s requires: %w", root.info.Package, err)
	}
	if !deps.Needed(properties) {
		return []*Resolution{root}, nil
	}
	catalogs, err := p.dependencyCatalogs(ctx, r, root)
	if err != nil {
		return nil, err
	}
	if len(catalogs) == 0 {
		return []*Resolution{root}, root.unmet(properties)
	}
	r.progress("resolving what " + root.info.Package + " requires")
	problem := deps.Problem{
		Root: deps.Root{Package: root.info.Package, Version: root.info.Version, Source: root.among(catalogs), Properties: properties},
	}
	for _, c := range catalogs {
		problem.Sources = append(problem.Sources, deps.Source{Catalog: c, Priority: c.Origin().Priority})
	}
	if !p.Read.Offline {
		if err := p.present(ctx, &problem, release, stored); err != nil {
			return nil, err
		}
	}
	problem.Installed = append(problem.Installed, beside...)
	solution, err := deps.Solve(ctx, problem)
	if err != nil {
		return nil, err
	}
	packages := []*Resolution{root}
	for i := range solution.Packages {
		pkg := &solution.Packages[i]
		if pkg.Root {
			root.dependencies, root.apis = pkg.Dependencies, pkg.APIs
			continue
		}
		found, err := r.dependency(ctx, pkg, catalogs, root)
		if err != nil {
			return nil, fmt.Errorf("package %s, which %s requires: %w", pkg.Package, root.info.Package, err)
		}
		packages = append(packages, found)
	}
	return packages, nil
}

// properties are what the catalog says of the bundle, else what it says itself.
func (out *Resolution) properties() ([]catalog.Property, error) {
	if out.choice != nil {
		return out.choice.Properties()
	}
	return deps.FromContent(out.content.FS)
}

// unmet lists requirements that nothing was looked for to meet.
func (out *Resolution) unmet(properties []catalog.Property) error {
	requirements, err := deps.Requirements(properties)
	for _, text := range requirements {
		out.dependencies = append(out.dependencies, preview.Dependency{
			Constraint: text, Detail: "not looked for: no catalog is given",
		})
	}
	return err
}

// dependencyCatalogs are the catalogs to look for dependencies in, highest
// priority first: that of the package, and all that a name is looked up in.
func (p *Planner) dependencyCatalogs(ctx context.Context, r *Resolver, root *Resolution) ([]*catalog.Catalog, error) {
	catalogs := slices.Clone(root.catalogs)
	if len(p.Selection.Catalogs) == 0 || root.choice == nil {
		more, err := r.Catalogs(ctx, p.Selection.Catalogs)
		if _, none := errors.AsType[*UsageError](err); err != nil && !none {
			return nil, err
		}
		for _, c := range more {
			if !slices.ContainsFunc(catalogs, func(known *catalog.Catalog) bool { return known.Origin().Digest == c.Origin().Digest }) {
				catalogs = append(catalogs, c)
			}
		}
	}
	slices.SortStableFunc(catalogs, func(a, b *catalog.Catalog) int { return b.Origin().Priority - a.Origin().Priority })
	return catalogs, nil
}

// among is the index of the catalog that the bundle was chosen in, -1 for none.
func (out *Resolution) among(catalogs []*catalog.Catalog) int {
	if out.choice == nil {
		return -1
	}
	return slices.IndexFunc(catalogs, func(c *catalog.Catalog) bool {
		return c.Origin().Digest == out.choice.Catalog.Digest && c.Origin().Reference == out.choice.Catalog.Reference
	})
}

// present adds what the cluster and the release have already to a problem.
func (p *Planner) present(ctx context.Context, problem *deps.Problem, release preview.Release, stored *record.Record) error {
	cluster, err := p.Connect(ctx)
	if err != nil {
		return err
	}
	others, err := installedPackages(ctx, cluster, release)
	if err != nil {
		return err
	}
	problem.Installed = others.packages
	problem.Cluster = servedAPIs{cluster: cluster, release: release, others: others}
	if stored == nil || !stored.Installed() {
		return nil
	}
	for _, pkg := range stored.Packages {
		if pkg.Name != problem.Root.Package && pkg.Parameters.Section == nil {
			problem.Release = append(problem.Release, deps.Installed{Package: pkg.Name, Version: pkg.Version, By: "this release"})
		}
	}
	return nil
}

// dependency reads the content of a package that another one requires. It is
// rendered with the defaults, for the same cluster.
func (r *Resolver) dependency(ctx context.Context, pkg *deps.Package, catalogs []*catalog.Catalog, root *Resolution) (*Resolution, error) {
	out := &Resolution{
		params: format.Params{Values: map[string]any{}, Certs: root.params.Certs, KubeVersion: root.params.KubeVersion, APIVersions: root.params.APIVersions},
		pin:    root.pin,
		choice: &pkg.Choice, catalogs: catalogs, via: []preview.Via{pkg.Via()},
		dependencies: pkg.Dependencies, apis: pkg.APIs,
	}
	var installed *catalog.Installed
	if pkg.From != "" {
		installed = &catalog.Installed{Version: pkg.From}
	}
	out.noteChoice(installed, catalog.CatalogProvided)
	reference, err := bundleReference(&pkg.Choice)
	if err != nil {
		return nil, err
	}
	if out.content, err = r.fetch(ctx, reference); err != nil {
		return nil, err
	}
	if err := r.detect(out, PlanRequest{Text: reference.Text}); err != nil {
		return nil, err
	}
	return out, out.isPackage(pkg)
}

// isPackage refuses content that is another package than the catalog says: its
// dependencies were resolved for that one.
func (out *Resolution) isPackage(pkg *deps.Package) error {
	if out.info.Package != pkg.Package || out.info.Version != pkg.Version {
		return contradicts(&pkg.Choice, out.info)
	}
	return nil
}
