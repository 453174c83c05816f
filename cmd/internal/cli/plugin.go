package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

func (a *app) newPluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Review and install files that a host program loads",
		Long: `A plugin set is files that a host program loads, listed in a config: that of
Optimus or PipeCD, a manifest of krew, or a PluginSet of this tool. It is installed
as a generation: beside the earlier one, and switched to at once. Earlier ones stay
until they are cleaned away.`,
		Example: `  # What an Optimus server would load
  kubectl operator plugin preview -c plugin_config.yaml

  # Review, then install exactly that
  kubectl operator plugin install -c plugin_config.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.newPluginPreviewCommand(), a.newPluginInstallCommand(), a.newPluginListCommand(),
		a.newPluginRollbackCommand(), a.newPluginCleanCommand())
	return cmd
}

// pluginFlags say which set is meant, and where it goes.
type pluginFlags struct {
	config, mode, location, lock string
	updateLock                   bool
}

// add declares the flags that name a set and its place.
func (f *pluginFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.config, "config", "c", "", "file that lists the plugins")
	flags.StringVar(&f.mode, "mode", "server", "where they are installed: server, on this machine, where the host runs")
	flags.StringVar(&f.location, "location", "", "directory that the host loads them from (default: the one that the config names, else the host's own)")
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{"server"}, cobra.ShellCompDirectiveNoFileComp))
}

// lockPath is where the lock file is.
func (f *pluginFlags) lockPath() string {
	if f.lock != "" {
		return f.lock
	}
	return f.config + ".lock"
}

// keepLock writes the lock file where that was asked for.
func (f *pluginFlags) keepLock(fresh *plugins.Lock) error {
	if !f.updateLock {
		return nil
	}
	if err := writeLock(f.lockPath(), fresh.Encode()); err != nil {
		return fmt.Errorf("writing the lock file %s: %w", f.lockPath(), err)
	}
	return nil
}

// addLock declares the flag of commands that fetch artifacts.
func (f *pluginFlags) addLock(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.lock, "lock", "", "file with the sha256 of every artifact (default: CONFIG.lock, if it is there)")
}

func (f *pluginFlags) check() error {
	if f.config == "" {
		return usagef("name the config of the plugins with -c FILE")
	}
	return f.checkMode()
}

func (f *pluginFlags) checkMode() error {
	switch {
	case f.mode == "client":
		return usagef("--mode client is not there yet; it fetches the config from the server")
	case f.mode != "server":
		return usagef("--mode %s: want server", f.mode)
	}
	return nil
}

// place is the location of commands that are about what is installed: the flag
// says it, or the config.
func (f *pluginFlags) place(p *planner) (string, error) {
	if err := f.checkMode(); err != nil {
		return "", err
	}
	switch {
	case f.location != "":
		return locationOf(f.location)
	case f.config == "":
		return "", usagef("name the config of the plugins with -c FILE, or where they are with --location DIR")
	}
	set, err := p.pluginSet(f.config)
	if err != nil {
		return "", err
	}
	return f.locationOf(set)
}

// locationOf is where a set goes, as an absolute path.
func (f *pluginFlags) locationOf(set *plugins.Set) (string, error) {
	if f.location != "" {
		return locationOf(f.location)
	}
	return locationOf(set.Location)
}
