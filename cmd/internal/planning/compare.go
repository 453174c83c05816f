package planning

import (
	"cmp"
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Compare plans a request as if another version of its package (against) were
// installed, so that the plan shows the difference between the two.
func (p *Planner) Compare(ctx context.Context, want PlanRequest, against string, progress func(string)) (*preview.Plan, error) {
	r, err := p.Resolver(progress)
	if err != nil {
		return nil, err
	}
	found, err := r.find(ctx, want, nil)
	if err != nil {
		return nil, err
	}
	release, err := found.release(want.Name, want.namespace)
	if err != nil {
		return nil, err
	}
	contents, err := p.renderContent(ctx, r, found, release, nil, true)
	if err != nil {
		return nil, err
	}
	other := want
	other.Text, other.resolve.Version = against, ""
	if reference, err := ref.Parse(against); err == nil && reference.Kind != ref.KindPackage {
		other.resolve.Channel = ""
	}
	before, err := r.find(ctx, other, nil)
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", against, err)
	}
	if before.info.Package != found.info.Package {
		return nil, Usagef("--against %s is package %s, and %s is package %s; compare versions of one package",
			against, before.info.Package, want.Text, found.info.Package)
	}
	older, err := p.renderContent(ctx, r, before, release, nil, true)
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", against, err)
	}
	opts := p.options(release, nil)
	opts.Progress, opts.Request = r.progress, found.request
	opts.Request.Action = preview.RequestUpgrade
	return p.Judge(engine.Compare(contents, older, preview.Baseline{
		Reference: against, Package: before.info.Package, Version: before.info.Version,
	}, opts))
}

// BundleUpgrade is a bundle that OLM is to install in the place of another, by the names
// of their ClusterServiceVersions.
type BundleUpgrade struct {
	Package, Catalog  string // the catalog as --catalog takes it
	Channel           string // of the bundle; empty for any
	Bundle, Installed string
}

// CompareBundles plans upgrades that another program (carrier) carries out, the one that
// was asked for first. What is installed is taken from the bundles in the catalogs: the
// plan is of the contents, and no object of the cluster is in it. It is for that cluster,
// and approved like others.
func CompareBundles(ctx context.Context, p *Planner, release preview.Release, upgrades []BundleUpgrade, carrier string, progress func(string)) (*preview.Plan, error) {
	r, err := p.Resolver(progress)
	if err != nil {
		return nil, err
	}
	cluster, err := p.Connect(ctx)
	if err != nil {
		return nil, err
	}
	target, err := cluster.Target(ctx)
	if err != nil {
		return nil, err
	}
	opts := p.options(release, nil)
	opts.Progress, opts.Request = r.progress, preview.Request{Action: preview.RequestUpgrade, Version: p.Selection.Version}
	against := preview.Baseline{Reference: upgrades[0].Installed, Package: upgrades[0].Package, Carrier: carrier}
	var contents, older []planned.Content
	for i, u := range upgrades {
		next, _, err := renderBundle(ctx, p, r, release, u, u.Bundle, cmp.Or(u.Channel, catalog.EveryChannel))
		if err != nil {
			return nil, err
		}
		contents = append(contents, next...)
		before, info, err := renderBundle(ctx, p, r, release, u, u.Installed, catalog.EveryChannel)
		if err != nil {
			return nil, fmt.Errorf("what is installed: %w", err)
		}
		if older = append(older, before...); i == 0 {
			against.Version = info.Version
		}
	}
	plan, err := engine.Compare(contents, older, against, opts)
	if err != nil {
		return nil, err
	}
	plan.Target = target
	return p.Judge(plan, plan.Seal())
}

// renderBundle renders a bundle of a catalog by its name, with what it depends on.
func renderBundle(ctx context.Context, p *Planner, r *Resolver, release preview.Release, of BundleUpgrade, name, channel string) ([]planned.Content, format.Info, error) {
	want, err := p.Request(of.Package, release.Name)
	if err != nil {
		return nil, format.Info{}, err
	}
	want.resolve = Selection{Catalogs: []string{of.Catalog}, bundle: name, channels: []string{channel}}
	found, err := r.find(ctx, want, nil)
	if err != nil {
		return nil, format.Info{}, err
	}
	if found.info.Bundle != name {
		return nil, format.Info{}, Refuse(fmt.Sprintf("the catalog %s has two bundles of version %s of %s, and %s is not the one that is read", of.Catalog, found.info.Version, of.Package, name), "ask who publishes it")
	}
	contents, err := p.renderContent(ctx, r, found, release, nil, true)
	return contents, found.info, err
}
