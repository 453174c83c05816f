package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// againstFlag compares two versions without a cluster.
type againstFlag struct{ reference string }

func (f *againstFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.reference, "against", "", "compare with this version, as if it were installed: a REF like the other, rendered with the same flags; no cluster is contacted")
}

// check refuses what only a cluster can answer. It makes the plan offline.
func (f *againstFlag) check(flags *pflag.FlagSet, p *planner) error {
	if !flags.Changed("against") {
		return nil
	}
	if f.reference == "" {
		return Usagef("--against needs the version to compare with")
	}
	if len(p.request.files) > 0 {
		return Usagef("--against compares with a REF; -f cannot be compared")
	}
	for _, name := range []string{"read-only", "kubeconfig", "context", "cluster", "user", "server", "token", "as", "as-group", "as-uid", "pull-secret"} {
		if flags.Changed(name) {
			return Usagef("--against contacts no cluster; leave out --%s", name)
		}
	}
	p.read.offline = true
	return nil
}

// compare plans what is wanted as if another version of it were installed.
func (p *planner) compare(ctx context.Context, want wanted, against string, progress func(string)) (*preview.Plan, error) {
	r, err := p.resolver(progress)
	if err != nil {
		return nil, err
	}
	found, err := r.find(ctx, want, nil)
	if err != nil {
		return nil, err
	}
	release, err := found.release(want.name, want.namespace)
	if err != nil {
		return nil, err
	}
	contents, err := p.sealed(ctx, r, found, release, nil, true)
	if err != nil {
		return nil, err
	}
	other := want
	other.text, other.resolve.version = against, ""
	if reference, err := ref.Parse(against); err == nil && reference.Kind != ref.KindPackage {
		other.resolve.channel = ""
	}
	before, err := r.find(ctx, other, nil)
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", against, err)
	}
	if before.info.Package != found.info.Package {
		return nil, Usagef("--against %s is package %s, and %s is package %s; compare versions of one package",
			against, before.info.Package, want.text, found.info.Package)
	}
	older, err := p.sealed(ctx, r, before, release, nil, true)
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", against, err)
	}
	opts := p.options(release, nil)
	opts.Progress, opts.Request = r.progress, found.request
	opts.Request.Action = preview.RequestUpgrade
	return p.judge(engine.Compare(contents, older, preview.Against{
		Reference: against, Package: before.info.Package, Version: before.info.Version,
	}, opts))
}
