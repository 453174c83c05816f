package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// pluginPlan makes the plan of a set. The lock file is written when everything
// else went well.
func (a *app) pluginPlan(ctx context.Context, p *planner, f pluginFlags) (*preview.Plan, error) {
	set, err := p.pluginSet(f.config)
	if err != nil {
		return nil, fmt.Errorf("config %s: %w", f.config, err)
	}
	if set.Host != nil {
		fetched, fresh, err := p.fetchSet(ctx, set, f, hostPlatform(p.source), a.progress())
		if err != nil {
			return nil, err
		}
		plan, err := p.hostedPlan(ctx, p.wantedSet(f.config, set), fetched, fresh, a.progress())
		if err != nil {
			return nil, err
		}
		return plan, f.keepLock(fresh)
	}
	target, err := p.pluginTarget(ctx, set, f)
	if err != nil {
		return nil, err
	}
	fetched, fresh, err := p.fetchSet(ctx, set, f, target.Platform, a.progress())
	if err != nil {
		return nil, err
	}
	plan, err := plugins.Plan(set, fetched, target)
	if err != nil {
		return nil, err
	}
	plan.Tool = preview.Tool{Version: a.version}
	plan.Request = preview.Request{Action: preview.RequestInstall, File: f.config}
	if err := engine.Finish(plan, p.typer()); err != nil {
		return nil, err
	}
	return plan, f.keepLock(fresh)
}

// fetchSet fetches what a set names, held to its lock, and locks it anew.
func (p *planner) fetchSet(ctx context.Context, set *plugins.Set, f pluginFlags, platform string, progress func(string)) ([]plugins.Fetched, *plugins.Lock, error) {
	lock, err := readLock(f.lockPath(), set, f.lock != "" && !f.updateLock)
	if err != nil {
		return nil, nil, fmt.Errorf("lock file %s: %w", f.lockPath(), err)
	}
	opts, err := p.app.sourceOptions(p.source, progress)
	if err != nil {
		return nil, nil, err
	}
	opts.Artifacts, opts.Platform = true, platform
	request := plugins.Request{Platform: platform, Sources: source.New(opts), Getenv: p.app.getenv}
	if !f.updateLock {
		request.Lock = lock
	}
	fetched, err := plugins.Fetch(ctx, set, request)
	if err != nil {
		return nil, nil, err
	}
	if f.updateLock {
		for i := range fetched {
			fetched[i].Pinned = true // by the lock that is written at the end
		}
	}
	return fetched, plugins.NewLock(set.Name, platform, fetched, lock), nil
}

// pluginSet reads a config.
func (p *planner) pluginSet(path string) (*plugins.Set, error) {
	data, err := readAtMost(path, plugins.MaxBytes)
	if err != nil {
		return nil, err
	}
	return plugins.Parse(data, plugins.Options{File: filepath.Base(path), Dir: filepath.Dir(path), PlainHTTP: p.source.plainHTTP})
}

// pluginTarget finds out where a set goes and what is there.
func (p *planner) pluginTarget(ctx context.Context, set *plugins.Set, f pluginFlags) (plugins.Target, error) {
	out := plugins.Target{Platform: p.source.platform}
	if out.Platform == "" {
		out.Platform = runtime.GOOS + "/" + runtime.GOARCH
	}
	location := f.location
	if location == "" {
		location = set.Location
	}
	if below, ok := strings.CutPrefix(location, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return out, errors.New("the plugins go below the home directory, and HOME is not set; name a place with --location")
		}
		location = filepath.Join(home, below)
	}
	absolute, err := filepath.Abs(location)
	if err != nil {
		return out, fmt.Errorf("location %s: %w", location, err)
	}
	out.Location = preview.Location{Path: absolute, Host: installed.HostID()}
	out.Installed, err = installed.Read(ctx, absolute)
	return out, err
}
