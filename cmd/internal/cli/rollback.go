package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func (a *app) newRollbackCommand() *cobra.Command {
	p := a.newSession()
	r := newReleaseRun(p, "rollback", "rollback --preview")
	var to int
	cmd := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Review and apply an earlier revision of a release",
		Long: `Plan the objects of an earlier revision against the cluster as it is now, review
that like an install, and apply exactly it. Without --to it goes back to the last
revision before the newest that was applied. The options that the revision was
installed with come back with it: the next upgrade starts from them.

Hooks do not run. CRDs that cannot be rolled back without data loss stay as
they are, and so do the values of Secrets, which records do not hold; the
review says where.

Fields that the revision sets and that another manager has changed since, such as a
hot fix by kubectl set image, are taken back: the review names each with its value
now and after. Fields that the revision left to others stay conflicts. --conflicts
decides otherwise for all of them.

With --on-failure rollback a rollback that fails goes back in turn, to the revision
it was planned on; that one must be applied as a whole.`,
		Example: `  # Review, then go back
  kubectl operator rollback mongodb

  # Only show what going back to the third revision would change
  kubectl operator rollback mongodb --to 3 --preview

  # Go back, and leave what others have changed since as it is
  kubectl operator rollback mongodb --conflicts leave`,
		Args: a.completer().releaseArgs(1, "the NAME of a release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.check(); err != nil {
				return r.reportFailure(err)
			}
			switch given := cmd.Flags().Changed("to"); {
			case given && to < 1:
				return r.reportFailure(usagef("--to %d: want the number of a revision; see history %s", to, args[0]))
			case given && r.approve.plan != "":
				return r.reportFailure(usagef("--plan says which revision to go back to; leave out --to"))
			}
			if r.approve.plan != "" {
				return r.runPlanFile(cmd.Context(), args[0], preview.RequestRollback)
			}
			return r.run(cmd.Context(), "rollback "+args[0], func(ctx context.Context, _ func(string)) (*preview.Plan, error) {
				return p.Rollback(ctx, args[0], to)
			})
		},
		ValidArgsFunction: a.completer().releases,
	}
	flags := cmd.Flags()
	flags.IntVar(&to, "to", 0, "revision to go back to (default: the last before the newest that was applied)")
	a.completer().addRevisions(cmd, "to")
	p.owners.addToRollback(cmd, flags, &p.Owners)
	addReadFlags(flags, &p.Read, false)
	r.health.add(flags)
	r.addWithPreview(flags)
	return cmd
}
