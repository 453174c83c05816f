package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// planner makes plans. One serves one command.
type planner struct {
	app     *app
	source  sourceFlags
	verify  verifyFlags
	resolve resolveFlags
	render  renderFlags
	read    readFlags
	rollout rolloutFlags

	cluster *k8s.Client
	schemas *k8s.Schemas
}

// addContent adds the flags that choose and render content.
func (p *planner) addContent(flags *pflag.FlagSet) {
	p.source.add(flags)
	p.verify.add(flags)
	p.resolve.add(flags)
	p.render.add(flags)
}

// connect contacts the cluster once.
func (p *planner) connect(ctx context.Context) (*k8s.Client, error) {
	if p.cluster != nil {
		return p.cluster, nil
	}
	var err error
	p.cluster, err = k8s.Connect(ctx, k8s.Options{Flags: p.app.kube, UserAgent: "kubectl-operator/" + p.app.version})
	return p.cluster, err
}

func (p *planner) resolver(params format.Params, progress func(string)) (*resolver, error) {
	var cluster source.Getter
	if !p.read.offline {
		cluster = targetCluster{p}
	}
	return p.app.newResolver(p.source, p.verify, p.resolve, params, cluster, progress)
}

func (p *planner) typer() *k8s.Schemas {
	if p.schemas == nil {
		p.schemas = k8s.NewSchemas()
	}
	return p.schemas
}

// content plans to install a reference, or to upgrade the release it is
// installed as.
func (p *planner) content(ctx context.Context, text, name string, progress func(string)) (*preview.Plan, error) {
	params, err := p.render.params()
	if err != nil {
		return nil, err
	}
	r, err := p.resolver(params, progress)
	if err != nil {
		return nil, err
	}
	found, err := r.find(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	release, err := found.release(name, p.app.kube.Namespace())
	if err != nil {
		return nil, err
	}
	if p.read.offline {
		return p.build(ctx, r, found, release, nil)
	}
	record, err := p.record(ctx, release)
	if err != nil {
		return nil, err
	}
	found.withoutEdges(record)
	return p.build(ctx, r, found, release, record)
}

// withoutEdges notes that a version was chosen by the user and not along a
// catalog's upgrade edges.
func (out *resolved) withoutEdges(record *history.Record) {
	if record != nil && record.Installed() && record.Version() != out.info.Version {
		out.note(engine.RuleNoEdges, "no upgrade edges were followed from "+record.Version()+" to "+out.info.Version)
	}
}

// upgrade plans an existing release. Without a reference it goes to the
// package and catalog the release came from, along the upgrade edges.
func (p *planner) upgrade(ctx context.Context, name, text string, progress func(string)) (*preview.Plan, error) {
	params, err := p.render.params()
	if err != nil {
		return nil, err
	}
	record, err := p.find(ctx, name)
	if err != nil {
		return nil, err
	}
	var installed *catalog.Installed
	if text == "" {
		if text = record.Package(); text == "" {
			return nil, usagef("release %s did not come from a catalog; say what to upgrade to: upgrade %s REF", name, name)
		}
		if len(p.resolve.catalogs) == 0 && record.Catalog() != "" {
			p.resolve.catalogs = []string{record.Catalog()}
		}
		if p.resolve.channel == "" {
			p.resolve.channel = record.Channel()
		}
		installed = &catalog.Installed{Bundle: record.Bundle(), Version: record.Version()}
	}
	r, err := p.resolver(params, progress)
	if err != nil {
		return nil, err
	}
	found, err := r.find(ctx, text, installed)
	if err != nil {
		return nil, err
	}
	if installed == nil {
		found.withoutEdges(record)
	}
	return p.build(ctx, r, found, record.Release, record)
}

// uninstall plans to remove every member of a release but CRDs and Namespaces.
func (p *planner) uninstall(ctx context.Context, name string) (*preview.Plan, error) {
	record, err := p.find(ctx, name)
	if err != nil {
		return nil, err
	}
	opts := p.options(record.Release, record)
	opts.Request = preview.Request{Reference: name, Action: preview.RequestUninstall}
	return engine.Build(ctx, nil, p.cluster, opts)
}

// find looks a release up by name; the cluster is connected afterwards.
func (p *planner) find(ctx context.Context, name string) (*history.Record, error) {
	cluster, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	return history.Find(ctx, cluster, name, p.app.kube.Namespace())
}

// record reads the newest record of a release, nil when there is none.
func (p *planner) record(ctx context.Context, release preview.Release) (*history.Record, error) {
	cluster, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	record, err := history.Load(ctx, cluster, release)
	if preview.ReasonOf(err) == preview.ReasonForbidden {
		return nil, fmt.Errorf("reading the record of release %s: %w; a plan needs get on secrets in namespace %s", release.Name, err, release.Namespace)
	}
	return record, err
}

func (p *planner) build(ctx context.Context, r *resolver, found *resolved, release preview.Release, record *history.Record) (*preview.Plan, error) {
	content, err := r.seal(ctx, found, release)
	if err != nil {
		return nil, err
	}
	opts := p.options(release, record)
	opts.Progress = r.progress
	opts.Request = found.request
	opts.Request.Action = preview.RequestInstall
	if record != nil && record.Installed() {
		opts.Request.Action = preview.RequestUpgrade
	}
	var cluster engine.Cluster
	if !p.read.offline {
		cluster = p.cluster
	}
	return engine.Build(ctx, []engine.Content{content}, cluster, opts)
}

func (p *planner) options(release preview.Release, record *history.Record) engine.Options {
	opts := engine.Options{
		Tool: p.app.version, Release: release, Apply: preview.DefaultOptions(),
		StageTimeout: p.rollout.stage(), Schemas: p.typer(),
	}
	if record != nil {
		opts.Installed = engine.Installed{Base: record.Base()}
		for _, item := range record.Inventory() {
			opts.Installed.Members = append(opts.Installed.Members, engine.Member{Ref: item.Ref, Package: item.Package})
		}
	}
	return opts
}

// recheck plans the same content again from fresh reads.
func (p *planner) recheck(ctx context.Context, plan *preview.Plan) (*preview.Plan, error) {
	if p.cluster == nil {
		return nil, errors.New("no cluster was contacted for this plan")
	}
	return engine.Recheck(ctx, plan, p.cluster, p.typer())
}
