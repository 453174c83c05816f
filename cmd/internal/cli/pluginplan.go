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
	target, err := p.pluginTarget(ctx, set, f)
	if err != nil {
		return nil, err
	}
	lockPath := f.lock
	if lockPath == "" {
		lockPath = f.config + ".lock"
	}
	lock, err := readLock(lockPath, set, f.lock != "" && !f.updateLock)
	if err != nil {
		return nil, fmt.Errorf("lock file %s: %w", lockPath, err)
	}
	opts, err := a.sourceOptions(p.source, a.progress())
	if err != nil {
		return nil, err
	}
	opts.Artifacts, opts.Platform = true, target.Platform
	request := plugins.Request{Platform: target.Platform, Sources: source.New(opts), Getenv: a.getenv}
	if !f.updateLock {
		request.Lock = lock
	}
	fetched, err := plugins.Fetch(ctx, set, request)
	if err != nil {
		return nil, err
	}
	fresh := plugins.NewLock(set.Name, target.Platform, fetched, lock)
	if f.updateLock {
		for i := range fetched {
			fetched[i].Pinned = true // by the lock that is written below
		}
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
	if f.updateLock {
		if err := writeLock(lockPath, fresh.Encode()); err != nil {
			return nil, fmt.Errorf("writing the lock file %s: %w", lockPath, err)
		}
	}
	return plan, nil
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
