package planning

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
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
