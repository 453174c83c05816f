package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

func (a *app) newPluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Manage plugin sets: files that a host program loads",
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

// pluginFlags are the flags that select a plugin set and its location.
type pluginFlags struct{ planning.SetOptions }

// add adds the flags that name a plugin set and its location.
func (f *pluginFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.Config, "config", "c", "", "file that lists the plugins; with --mode client where the server has it, https://HOST/PATH or configmap://NAMESPACE/NAME")
	flags.StringVar(&f.Mode, "mode", planning.ModeServer, "whose config it is: server, of this machine, where the host runs; or client, fetched from the server and installed here too")
	flags.StringVar(&f.Location, "location", "", "directory that the host loads them from (default: the one that the config names, else the host's own)")
	flags.StringArrayVar(&f.Credentials, "credential-env", nil, "environment variable that a config fetched with --mode client may send to its providers (repeatable)")
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{planning.ModeServer, planning.ModeClient}, cobra.ShellCompDirectiveNoFileComp))
}

// addLock adds the flag for commands that read the lock file.
func (f *pluginFlags) addLock(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Lock, "lock", "", "file with the sha256 of every artifact (default: CONFIG.lock, if it is there; with --mode client by the name of the config, here)")
}

func (f *pluginFlags) check() error {
	if f.Config == "" {
		return usagef("name the config of the plugins with -c FILE")
	}
	return f.checkMode()
}

func (f *pluginFlags) checkMode() error {
	switch {
	case f.Mode != planning.ModeServer && f.Mode != planning.ModeClient:
		return usagef("--mode %s: want server or client", f.Mode)
	case f.Mode == planning.ModeServer && len(f.Credentials) > 0:
		return usagef("--credential-env is about a config that --mode client fetches; leave it out")
	}
	return nil
}

// place returns the location of the installed plugins, from --location or the config.
func (f *pluginFlags) place(ctx context.Context, p *session) (string, error) {
	if f.Location != "" && (f.Config == "" || f.Mode == planning.ModeClient) { // no need of the config
		return f.givenLocation()
	}
	location, _, err := f.placeOf(ctx, p)
	return location, err
}

func (f *pluginFlags) givenLocation() (string, error) {
	if err := f.checkMode(); err != nil {
		return "", err
	}
	return planning.Location(f.Location)
}

// placeOf returns the location, and the plugin set of the config, nil if no
// config is named.
func (f *pluginFlags) placeOf(ctx context.Context, p *session) (string, *plugins.Set, error) {
	if err := f.checkMode(); err != nil {
		return "", nil, err
	}
	switch {
	case f.Config == "" && f.Location != "":
		location, err := f.givenLocation()
		return location, nil, err
	case f.Config == "":
		return "", nil, usagef("name the config of the plugins with -c FILE, or where they are with --location DIR")
	}
	set, err := p.Sets().ReadSet(ctx, f.SetOptions, p.app.progress())
	if err != nil {
		return "", nil, err
	}
	if set.Host != nil && f.Mode == planning.ModeServer && f.Location == "" {
		return "", nil, usagef("the host of this set is in the cluster: status %s and history %s show it; --location DIR is about a place on this machine", set.Name, set.Name)
	}
	location, err := f.LocationOf(set)
	return location, set, err
}
