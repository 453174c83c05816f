package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func (a *app) newUninstallCommand() *cobra.Command {
	p := &planner{app: a}
	r := &runner{app: a, planner: p}
	var includeCRDs bool
	cmd := &cobra.Command{
		Use:   "uninstall NAME",
		Short: "Review and remove an installed release",
		Long: `Plan the removal of every object of a release, review it like an install, and
delete exactly that. CustomResourceDefinitions and Namespaces are kept and
listed, for what they hold. While custom resources of the release's own
definitions exist, uninstall is refused and counts them.

With --include-crds the definitions go too, and every object of theirs with them:
the review counts those, and each definition is a critical finding. They go while
the operator still runs, and it is removed when they are gone. What an earlier
uninstall kept can be removed like this, too.

--receipt keeps what was approved and what became of every object in a file.`,
		Example: `  # Review, then remove
  kubectl operator uninstall mongodb

  # Only show what would be deleted
  kubectl operator uninstall mongodb --preview

  # See what would be lost with the definitions
  kubectl operator uninstall mongodb --include-crds --preview

  # From a script, with a receipt
  kubectl operator uninstall mongodb --yes --receipt mongodb.json`,
		Args: rangeArgs(1, 1, "the NAME of a release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.check(p); err != nil {
				return r.failed(err)
			}
			if r.approve.plan != "" && includeCRDs {
				return r.failed(usagef("--plan says what is deleted; leave out --include-crds"))
			}
			if r.approve.plan != "" {
				return r.runPlanFile(cmd.Context(), args[0], preview.RequestUninstall)
			}
			return r.run(cmd.Context(), "uninstall "+args[0], func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
				return p.uninstall(ctx, args[0], includeCRDs)
			})
		},
		ValidArgsFunction: a.completeReleases,
	}
	flags := cmd.Flags()
	flags.BoolVar(&includeCRDs, "include-crds", false, "delete the release's CustomResourceDefinitions too, and with them every object of theirs")
	p.read.add(flags, false)
	r.addWithPreview(flags)
	r.receipt.add(flags)
	return cmd
}
