package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

func (a *app) newPluginRollbackCommand() *cobra.Command {
	r := newSetRun(a, `"plugin rollback --preview", then "plugin rollback --yes --approve sha256:..."`)
	var f pluginFlags
	to := -1
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Review and bring back an earlier generation of a plugin set",
		Long: `Plan the files of an earlier generation against those that are installed, review
that like an install, and write exactly it as a new generation. Without --to it is
the generation that the current one replaced. Nothing is fetched: the bytes are
those on this machine, and a generation that is not as it was installed is refused.
Generation 0 is what was at the location before the first install.`,
		Example: `  # Review, then go back
  kubectl operator plugin rollback -c plugin_config.yaml

  # Only show what going back to the second generation would change
  kubectl operator plugin rollback --location /opt/piped/plugins --to 2 --preview`,
		Args: rangeArgs(0, 0, "none: the place is named with -c FILE or --location DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch given := cmd.Flags().Changed("to"); {
			case given && to < 0:
				return r.reportFailure(usagef("--to %d: want the number of a generation; see plugin list", to))
			case given && r.approve.plan != "":
				return r.reportFailure(usagef("--plan says which generation to go back to; leave out --to"))
			}
			if err := r.check(); err != nil {
				return r.reportFailure(err)
			}
			return r.run(cmd.Context(), "the rollback", preview.RequestRollback, func(ctx context.Context, _ func(string)) (*planning.SetPlan, error) {
				return r.rollback(ctx, f, to)
			})
		},
	}
	f.add(cmd)
	addConfigSourceFlags(cmd.Flags(), &r.session.Source)
	cmd.Flags().IntVar(&to, "to", -1, "generation to go back to (default: the one that the current one replaced)")
	cmd.Flags().Lookup("to").DefValue = "0" // which pflag does not print
	r.addWithPreview(cmd.Flags())
	return cmd
}

// rollback plans to install an earlier generation of plugins again, from its
// files on disk. A saved plan names location and generation itself.
func (r *setRun) rollback(ctx context.Context, f pluginFlags, to int) (*planning.SetPlan, error) {
	location, err := r.place(ctx, f)
	if err != nil {
		return nil, err
	}
	if r.loaded != nil {
		to = *r.loaded.Generation.Restores
	}
	return r.session.Sets().RollbackSet(ctx, location, to, r.choices())
}
