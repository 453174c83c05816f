package planning

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/deps"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// closure returns a package and those of its dependencies that the cluster does not
// have, each before the packages that need it. If there is no catalog to search,
// content from outside a catalog is returned alone, and its requirements are shown in
// the review. beside are other packages of the same plan, which meet requirements too.
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
		Root: deps.Root{Package: root.info.Package, Version: root.info.Version, Source: root.catalogIndex(catalogs), Properties: properties},
	}
	for _, c := range catalogs {
		problem.Sources = append(problem.Sources, deps.Source{Catalog: c, Priority: c.Origin().Priority})
	}
	if !p.Read.Offline {
		if err := p.addPresentPackages(ctx, &problem, release, stored); err != nil {
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

// properties returns the OLM properties of the bundle: as its catalog has them,
// else as the bundle's own metadata has them.
func (out *Resolution) properties() ([]catalog.Property, error) {
	if out.choice != nil {
		return out.choice.Properties()
	}
	return deps.FromContent(out.content.FS)
}

// unmet adds the package's requirements to the resolution, as dependencies that
// were not searched because no catalog is given.
func (out *Resolution) unmet(properties []catalog.Property) error {
	requirements, err := deps.Requirements(properties)
	for _, text := range requirements {
		out.dependencies = append(out.dependencies, preview.Dependency{
			Constraint: text, Detail: "not looked for: no catalog is given",
		})
	}
	return err
}

// dependencyCatalogs returns the catalogs that are searched for dependencies, by
// descending priority: those in which the package was found and, unless --catalog
// is given, all configured ones.
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

// catalogIndex returns the index of the catalog from which the bundle was
// chosen, -1 if that is not among catalogs.
func (out *Resolution) catalogIndex(catalogs []*catalog.Catalog) int {
	if out.choice == nil {
		return -1
	}
	return slices.IndexFunc(catalogs, func(c *catalog.Catalog) bool {
		return c.Origin().Digest == out.choice.Catalog.Digest && c.Origin().Reference == out.choice.Catalog.Reference
	})
}

// addPresentPackages adds the packages that are installed in the cluster or in
// the release to a dependency problem, so that requirements on them are met.
func (p *Planner) addPresentPackages(ctx context.Context, problem *deps.Problem, release preview.Release, stored *record.Record) error {
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

// dependency reads the content of a package that another package requires. It
// is rendered with default values, for the same cluster.
func (r *Resolver) dependency(ctx context.Context, pkg *deps.Package, catalogs []*catalog.Catalog, root *Resolution) (*Resolution, error) {
	out := &Resolution{
		params: format.Params{Values: map[string]any{}, Certs: root.params.Certs, KubeVersion: root.params.KubeVersion, APIVersions: root.params.APIVersions},
		pin:    root.pin,
		choice: &pkg.Choice, catalogs: catalogs, via: []preview.ResolutionStep{pkg.Via()},
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

// isPackage refuses content whose own package name differs from that in the
// catalog, because dependencies were resolved for the name in the catalog.
func (out *Resolution) isPackage(pkg *deps.Package) error {
	if out.info.Package != pkg.Package || out.info.Version != pkg.Version {
		return contradicts(&pkg.Choice, out.info)
	}
	return nil
}

// presentPackages are the packages installed in the cluster by other releases
// or OLM, as far as the user may list them.
type presentPackages struct {
	packages []deps.Installed
	releases map[string]bool // installed releases, by name
}

// installedPackages lists the packages of other releases, of OLM v1 and of OLM
// v0. Those that cannot be read are left out; a plan for objects that
// belong to one is still refused later.
func installedPackages(ctx context.Context, cluster Cluster, release preview.Release) (presentPackages, error) {
	out := presentPackages{releases: map[string]bool{}}
	records, err := history.List(ctx, cluster, "")
	if _, ok := history.Unreadable(err); !ok && preview.ReasonOf(err) != preview.ReasonForbidden {
		return out, err
	}
	for i := range records {
		out.releases[records[i].Release.Name] = true
		if records[i].Release == release {
			continue
		}
		for _, pkg := range records[i].Packages {
			out.add(deps.Installed{Package: ownName(&pkg), Version: pkg.Version, By: "release " + records[i].Release.Name})
		}
	}
	for _, kind := range []struct {
		apiVersion, kind string
		fields           []string // that read uses
		read             func(body map[string]any) deps.Installed
	}{
		{"olm.operatorframework.io/v1", "ClusterExtension", []string{"spec.source.catalog.packageName", "status.install.bundle.version"}, fromExtension},
		{"operators.coreos.com/v1alpha1", "ClusterServiceVersion", []string{"metadata.annotations"}, fromCSV},
	} {
		bodies, err := cluster.List(ctx, kind.apiVersion, kind.kind, "", "", kind.fields...)
		switch preview.ReasonOf(err) {
		case preview.ReasonForbidden, preview.ReasonNotServed:
			continue
		}
		if err != nil {
			return out, fmt.Errorf("listing the %ss of the cluster: %w", kind.kind, err)
		}
		for _, body := range bodies {
			out.add(kind.read(body))
		}
	}
	return out, nil
}

// ownName returns the package name in the content itself.
func ownName(pkg *preview.Package) string {
	if s := pkg.Parameters.Section; s != nil {
		return s.Package
	}
	return pkg.Name
}

// add adds a package. One without a name, or without a version that can be
// compared, is left out.
func (p *presentPackages) add(in deps.Installed) {
	if _, err := catalog.ParseVersion(in.Version); err == nil && in.Package != "" {
		p.packages = append(p.packages, in)
	}
}

func fromExtension(body map[string]any) deps.Installed {
	return deps.Installed{
		Package: preview.String(body, "spec", "source", "catalog", "packageName"),
		Version: preview.String(body, "status", "install", "bundle", "version"),
		By:      "ClusterExtension " + preview.RefOf(body).Name,
	}
}

// fromCSV returns the package that OLM v0 installed, from its
// ClusterServiceVersion. It is empty for a copy of the CSV in another namespace.
func fromCSV(body map[string]any) deps.Installed {
	if preview.String(body, "metadata", "labels", "olm.copiedFrom") != "" {
		return deps.Installed{}
	}
	in := deps.Installed{By: "ClusterServiceVersion " + preview.RefOf(body).Namespace + "/" + preview.RefOf(body).Name}
	noted, err := preview.DecodeJSON([]byte(preview.String(body, "metadata", "annotations", "operatorframework.io/properties")))
	if err != nil {
		return in
	}
	fields, _ := noted.(map[string]any)
	for _, item := range preview.Maps(fields, "properties") {
		property := catalog.Property{Type: preview.String(item, "type"), Value: item["value"]}
		in.Properties = append(in.Properties, property)
		if property.Type == "olm.package" {
			in.Package, in.Version = preview.String(item, "value", "packageName"), preview.String(item, "value", "version")
		}
	}
	return in
}

// servedAPIs answers which APIs the cluster serves, leaving out those of one release.
type servedAPIs struct {
	cluster Cluster
	release preview.Release
	others  presentPackages
}

// Serves implements [deps.Cluster].
func (s servedAPIs) Serves(ctx context.Context, api deps.API) (by string, served bool, err error) {
	apiVersion := api.APIVersion()
	_, err = s.cluster.Kind(ctx, apiVersion, api.Kind)
	if preview.ReasonOf(err) == preview.ReasonNotServed {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	definition, err := s.cluster.Definition(ctx, apiVersion, api.Kind)
	switch {
	case preview.ReasonOf(err) == preview.ReasonForbidden:
		return "", true, nil
	case err != nil:
		return "", false, err
	case definition == nil:
		return "", true, nil
	case preview.IsMember(definition, s.release):
		return "", false, nil
	}
	owner, owned := preview.ForeignOwner(definition, s.release)
	if !owned {
		return "", true, nil
	}
	if owner.Tool == preview.ToolRelease && !s.others.releases[owner.Name] {
		return "", false, nil // kept when its release went
	}
	return owner.String(), true, nil
}
