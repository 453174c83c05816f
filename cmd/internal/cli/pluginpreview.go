package cli

import (
	"github.com/spf13/cobra"
)

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
			if ofOnePlan(doc.output.format) {
				return usagef("-o %s: want %s", doc.output.format, outputOfPlan)
			}
			p.read.offline, p.expires = true, doc.out.expires
			plan, err := a.pluginPlan(cmd.Context(), p, f, nil)
			if err != nil {
				return err
			}
			return p.documents(cmd.Context(), []reviewed{{Plan: plan.Plan}}, doc)
		},
	}
	flags := cmd.Flags()
	f.add(cmd)
	f.addLock(cmd)
	flags.BoolVar(&f.updateLock, "update-lock", false, "write the lock file anew from what was fetched, instead of holding that to it")
	p.source.addPlugins(flags)
	p.policy.add(flags)
	doc.add(flags)
	flags.Lookup("output").Usage = "output format: " + outputOfPlan
	return cmd
}
