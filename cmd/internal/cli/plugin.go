package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

func (a *app) newPluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Review files that a host program loads",
		Long: `A plugin set is files that a host program loads, listed in a config: that of
Optimus or PipeCD, a manifest of krew, or a PluginSet of this tool.`,
		Example: `  # What an Optimus server would load
  kubectl operator plugin preview -c plugin_config.yaml

  # The same for a pull request, with every artifact locked
  kubectl operator plugin preview -c plugin_config.yaml --update-lock -o markdown`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.newPluginPreviewCommand())
	return cmd
}

// pluginFlags say which set is meant, and where it goes.
type pluginFlags struct {
	config, mode, location, lock string
	updateLock                   bool
}

func (f *pluginFlags) check() error {
	switch {
	case f.config == "":
		return usagef("name the config of the plugins with -c FILE")
	case f.mode == "client":
		return usagef("--mode client is not there yet; it fetches the config from the server")
	case f.mode != "server":
		return usagef("--mode %s: want server", f.mode)
	}
	return nil
}

func (a *app) newPluginPreviewCommand() *cobra.Command {
	p := &planner{app: a}
	var doc documentFlags
	var f pluginFlags
	cmd := &cobra.Command{
		Use:   "preview",
		Short: "Show what installing a plugin set would do, without doing it",
		Long: `Read a config of plugins, pin and fetch every artifact, and print which files it
would put where: with modes, what their bytes are, what is there now, and what is
risky. Nothing is installed or run.

A config is Optimus' (install_location, providers, plugins; or plugin.artifacts), a
Piped of PipeCD, a Plugin of krew or a PluginSet, as a file or in a ConfigMap.
The lock file, CONFIG.lock unless --lock says otherwise, holds the sha256 of every
artifact by platform. Where there is one, an artifact that is another is refused;
without it the review says which ones nothing pins. --update-lock writes it.`,
		Example: `  # Which files an Optimus server would load, and what is wrong with them
  kubectl operator plugin preview -c plugin_config.yaml

  # Lock every artifact, then review a change of the config against the lock
  kubectl operator plugin preview -c plugin_config.yaml --update-lock
  kubectl operator plugin preview -c plugin_config.yaml -o markdown --out plan.tgz

  # The plugins of a piped on another machine
  kubectl operator plugin preview -c piped.yaml --platform linux/arm64 --location /opt/piped/plugins`,
		Args: rangeArgs(0, 0, "none: the config is named with -c FILE"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := firstError(f.check(), doc.check(), p.loadPolicy()); err != nil {
				return err
			}
			if doc.output.format == outputRequest || doc.output.format == outputInstallerRole {
				return usagef("-o %s: want %s", doc.output.format, outputOfPlan)
			}
			if doc.out.expires > 0 {
				return usagef("--expires says how long the saved plan can be applied, and that of a plugin set is only a review yet; leave it out")
			}
			p.read.offline = true
			plan, err := a.pluginPlan(cmd.Context(), p, f)
			if err != nil {
				return err
			}
			if _, err := p.judge(plan, nil); err != nil {
				return err
			}
			return p.documents(cmd.Context(), []reviewed{{Plan: plan}}, doc)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.config, "config", "c", "", "file that lists the plugins")
	flags.StringVar(&f.mode, "mode", "server", "where they are installed: server, on this machine, where the host runs")
	flags.StringVar(&f.location, "location", "", "directory that the host loads them from (default: the one that the config names, else the host's own)")
	flags.StringVar(&f.lock, "lock", "", "file with the sha256 of every artifact (default: CONFIG.lock, if it is there)")
	flags.BoolVar(&f.updateLock, "update-lock", false, "write the lock file anew from what was fetched, instead of holding that to it")
	p.source.addPlugins(flags)
	p.policy.add(flags)
	doc.add(flags)
	flags.Lookup("output").Usage = "output format: " + outputOfPlan
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{"server"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

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

// readLock reads a lock file; none is nil unless it is due.
func readLock(path string, set *plugins.Set, due bool) (*plugins.Lock, error) {
	data, err := readAtMost(path, plugins.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) && !due {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lock, err := plugins.ReadLock(data)
	if err != nil {
		return nil, err
	}
	return lock, lock.CheckName(set)
}

// writeLock replaces a lock file as a whole.
func writeLock(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".lock-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // gone already after the rename
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// readAtMost reads a file of one byte more than is read at most.
func readAtMost(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, cause(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	return data, cause(err)
}

// cause drops operation and path from an error of a file that is named already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
