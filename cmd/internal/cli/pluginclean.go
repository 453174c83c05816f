package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// defaultKeep is how many earlier generations plugin clean leaves by default,
// to go back to.
const defaultKeep = 1

func (a *app) newPluginCleanCommand() *cobra.Command {
	r := newSetRun(a, `"plugin clean --preview", then "plugin clean --yes --approve sha256:..."`)
	var f pluginFlags
	keep := defaultKeep
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Review and remove earlier generations of a plugin set",
		Long: `List every file of the generations before the current one, but for the newest of
them that --keep leaves, and remove exactly those once it is approved. Never the
current one, and never generation 0: what was at the location before the first
install is yours to remove.`,
		Example: `  # Keep the current generation and the one before it
  kubectl operator plugin clean -c plugin_config.yaml

  # Only show what would be removed if the current one alone stayed
  kubectl operator plugin clean -c plugin_config.yaml --keep 0 --preview`,
		Args: rangeArgs(0, 0, "none: the place is named with -c FILE or --location DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch given := cmd.Flags().Changed("keep"); {
			case keep < 0:
				return r.reportFailure(usagef("--keep %d: want how many earlier generations stay, 0 for none", keep))
			case given && r.approve.plan != "":
				return r.reportFailure(usagef("--plan says what is removed; leave out --keep"))
			}
			if err := r.check(); err != nil {
				return r.reportFailure(err)
			}
			return r.run(cmd.Context(), "which generations can be removed", preview.RequestClean, func(ctx context.Context, _ func(string)) (*planning.SetPlan, error) {
				return r.clean(ctx, f, keep)
			})
		},
	}
	f.add(cmd)
	addConfigSourceFlags(cmd.Flags(), &r.session.Source)
	cmd.Flags().IntVar(&keep, "keep", defaultKeep, "how many earlier generations stay")
	r.addWithPreview(cmd.Flags())
	return cmd
}

// clean plans to delete the files of earlier generations of plugins. A saved
// plan names the generations itself.
func (r *setRun) clean(ctx context.Context, f pluginFlags, keep int) (*planning.SetPlan, error) {
	if r.loaded != nil {
		return &planning.SetPlan{Plan: r.loaded.Plan}, nil // Apply reads the disk again
	}
	location, err := r.place(ctx, f)
	if err != nil {
		return nil, err
	}
	return r.session.Sets().CleanSet(ctx, location, keep, r.choices())
}
