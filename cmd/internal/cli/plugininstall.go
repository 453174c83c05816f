package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

func (a *app) newPluginInstallCommand() *cobra.Command {
	r := newSetRun(a, `"plugin preview -o markdown", then "plugin install --yes --approve sha256:..."`)
	var f pluginFlags
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Review a plugin set, and install exactly what was reviewed",
		Long: `Pin and fetch every artifact of a config of plugins, show which files that would
put where, and write exactly them once it is approved: as a new generation beside
the one that is installed, read again and compared, and switched to by one rename.
Whatever happens before that, the host finds the old generation whole. It stays
for plugin rollback until plugin clean.

Files at the location that this tool did not put there are kept as generation 0.
With a lock file an artifact that changed is refused. Without a terminal use --yes,
alone only when nothing is critical, else with a reviewed plan or digest; a plan
file says which files, and the config where their bytes come from.`,
		Example: `  # Review, then install
  kubectl operator plugin install -c plugin_config.yaml

  # Install exactly the plan that a pull request reviewed
  kubectl operator plugin install -c plugin_config.yaml --plan plan.tgz --yes`,
		Args: rangeArgs(0, 0, "none: the config is named with -c FILE"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := firstError(f.check(), r.check()); err != nil {
				return r.reportFailure(err)
			}
			return r.run(cmd.Context(), "plugins of "+f.Config, preview.RequestInstall, func(ctx context.Context, progress func(string)) (*planning.SetPlan, error) {
				plan, err := r.session.Sets().PlanSet(ctx, f.SetOptions, r.choices(), progress)
				if err == nil && !plan.OnMachine() {
					err = usagef("the host of this set is in the cluster: install -f %s", f.Config)
				}
				return plan, err
			})
		},
	}
	f.add(cmd)
	f.addLock(cmd)
	addSetSourceFlags(cmd.Flags(), &r.session.Source)
	addSignatureFlags(cmd.Flags(), &r.session.Signatures)
	r.addApply(cmd.Flags())
	r.approve.several = true
	cmd.Flags().Lookup("approve").Usage = "apply only the plan, or the content, with this reviewed digest; of contents several with commas between, for as many platforms (needs --yes)"
	r.output.addProgress(cmd.Flags())
	return cmd
}
