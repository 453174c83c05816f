package planning

import (
	"cmp"
	"context"
	"runtime"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// requestedSet reads a PluginSet that a host in the cluster loads: it is planned
// and applied like a bundle.
func (p *Planner) requestedSet(path string) (PlanRequest, error) {
	set, err := p.Sets().pluginSet(path)
	if err != nil {
		return PlanRequest{}, err
	}
	return p.wantedSet(path, set), nil
}

func (p *Planner) wantedSet(path string, set *plugins.Set) PlanRequest {
	return PlanRequest{
		Text: path, Name: set.Name, namespace: cmp.Or(p.env.Namespace(), set.Host.Deployment.Namespace), Set: set,
	}
}

// hosted plans the ConfigMap of a set and the restart of its host.
func (p *Planner) hosted(ctx context.Context, want PlanRequest, progress func(string)) (*preview.Plan, error) {
	fetched, lock, err := p.Sets().fetchHosted(ctx, want.Set, SetOptions{Config: want.Text}, progress)
	if err != nil {
		return nil, err
	}
	return p.hostedPlan(ctx, want, fetched, lock, progress)
}

// fetchHosted fetches a set for each platform that pods of its host may run on:
// that is Linux, whatever runs here.
func (p SetPlanner) fetchHosted(ctx context.Context, set *plugins.Set, f SetOptions, progress func(string)) ([]plugins.OnPlatform, *plugins.Lock, error) {
	own, all, err := p.platforms(set, f, onLinux+runtime.GOARCH, onLinux)
	if err != nil {
		return nil, nil, err
	}
	return p.fetchPlatforms(ctx, set, f, own, all, progress)
}

const onLinux = "linux/"

func (p *Planner) hostedPlan(ctx context.Context, want PlanRequest, fetched []plugins.OnPlatform, lock *plugins.Lock, progress func(string)) (*preview.Plan, error) {
	release := preview.Release{Name: want.Name, Namespace: want.namespace}
	if err := checkRelease(release); err != nil {
		return nil, err
	}
	content, err := plugins.Hosted(want.Set, fetched, lock, release)
	if err != nil {
		return nil, err
	}
	var stored *record.Record
	if !p.Read.Offline {
		if stored, err = p.record(ctx, release); err != nil {
			return nil, err
		}
	}
	opts := p.options(release, stored)
	opts.Progress, opts.Request = progress, preview.Request{Reference: want.Text, File: want.Text}
	if stored != nil {
		if opts.Installed.Set, err = install.InstalledSet(ctx, p.cluster, stored); err != nil {
			return nil, err
		}
	}
	return p.onTop(ctx, []engine.Content{content}, stored, opts)
}
