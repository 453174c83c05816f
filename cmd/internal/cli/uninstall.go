package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/olmcluster"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/olmplugin"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

const uninstallLong = `Plan the removal of every object of a release, review it like an install, and
delete exactly that. CustomResourceDefinitions and Namespaces are kept and
listed, for what they hold. While custom resources of the release's own
CRDs exist, uninstall is refused and counts them.

With --include-crds the CRDs are deleted too, and all their custom resources with
them: the review counts those, and each CRD is a critical finding. They go while
the operator still runs, and it is removed when they are gone. What an earlier
uninstall kept can be removed like this, too.

With --include-namespaces the Namespaces go too that the release made, last of
all, and everything they hold: the review counts what is there of others. A
Namespace that was there before stays. The release's record is deleted with its
namespace, so --receipt must say where the receipt goes; while the namespace is
being deleted, the same command with the same file goes on with it.

--receipt keeps what was approved and what became of every object in a file.`

const uninstallExamples = `  # Review, then remove
  kubectl operator uninstall mongodb

  # Only show what would be deleted
  kubectl operator uninstall mongodb --preview

  # See which custom resources would be deleted with the CRDs
  kubectl operator uninstall mongodb --include-crds --preview

  # Leave nothing behind, but a receipt
  kubectl operator uninstall mongodb --include-crds --include-namespaces --receipt mongodb.json

  # From a script, with a receipt
  kubectl operator uninstall mongodb --yes --receipt mongodb.json`

func (a *app) newUninstallCommand() *cobra.Command {
	p := a.newSession()
	r := newReleaseRun(p, "uninstall", "uninstall --preview")
	var include planning.Removal
	cmd := &cobra.Command{
		Use:     "uninstall NAME",
		Short:   "Review and remove an installed release",
		Long:    uninstallLong,
		Example: uninstallExamples,
		Args:    a.completer().releaseArgs(1, "the NAME of a release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := firstError(olmplugin.CheckServer(cmd.Flag("server").Value.String()), r.check()); err != nil {
				return r.reportFailure(err)
			}
			switch {
			case r.approve.plan != "" && include.CRDs:
				return r.reportFailure(usagef("--plan says what is deleted; leave out --include-crds"))
			case r.approve.plan != "" && include.Namespaces:
				return r.reportFailure(usagef("--plan says what is deleted; leave out --include-namespaces"))
			case include.Namespaces && !r.preview && r.receipt.Path == "":
				return r.reportFailure(usagef("--include-namespaces deletes the release's record with its namespace; add --receipt FILE, which keeps it"))
			}
			if finished, err := r.finishRemoval(cmd.Context(), args[0], r.approve.approve); finished {
				return err
			}
			if r.approve.plan != "" {
				return r.runPlanFile(cmd.Context(), args[0], preview.RequestUninstall)
			}
			return r.run(cmd.Context(), "uninstall "+args[0], func(ctx context.Context, _ func(string)) (*preview.Plan, error) {
				plan, err := p.Uninstall(ctx, args[0], include)
				err = p.ofOLM(ctx, args[0], err, olmcluster.Uninstalling)
				if err != nil && !r.preview {
					err = r.refuseRemoved(ctx, args[0], err)
				}
				return plan, err
			})
		},
		ValidArgsFunction: a.completer().releases,
	}
	flags := cmd.Flags()
	flags.BoolVar(&include.CRDs, "include-crds", false, "delete the release's CRDs too, and all their custom resources")
	flags.BoolVar(&include.Namespaces, "include-namespaces", false, "delete the Namespaces that the release made too, last, and everything they hold; needs --receipt")
	addReadFlags(flags, &p.Read, false)
	r.addWithPreview(flags)
	return cmd
}

// refuseRemoved returns the error of an uninstall that finds no installed
// release: cannot, or that the approved digest was applied already. It deletes
// the Lease that a killed uninstall may have left.
func (r *releaseRun) refuseRemoved(ctx context.Context, name string, cannot error) error {
	removed, err := r.session.Recall(ctx, name)
	if err != nil || removed.Installed() {
		return cannot
	}
	if err := r.interrupted().RefuseRepeat(ctx, removed, r.approve.approve); err != nil {
		return err
	}
	r.dropLease(ctx, removed.Release)
	return cannot
}

// finishRemoval completes an interrupted uninstall that had deleted the
// release's namespace, and the record in it, so that only the receipt file is
// left. It returns false if there is no such uninstall.
func (r *releaseRun) finishRemoval(ctx context.Context, name, digest string) (finished bool, err error) {
	begun, err := r.receipt.Begun()
	if err != nil || begun == nil || begun.Release.Name != name || begun.Digest != digest {
		return false, nil // what is wrong with the file shows when it is opened
	}
	cluster, err := r.session.connect(ctx)
	if err != nil {
		return true, r.reportFailure(err)
	}
	target, err := cluster.Target(ctx)
	if err != nil || target.Identity != begun.Target {
		return false, nil
	}
	printer := r.printer()
	receipt, err := install.FinishRemoval(ctx, begun, cluster, r.options(printer.event))
	if receipt == nil {
		return err != nil, err
	}
	file := receiptFileAt(r.receipt.Path)
	receipt, err = file.Keep(receipt, err)
	printer.printDone(&preview.Plan{Release: begun.Release, Request: preview.Request{Action: preview.RequestUninstall}}, receipt, err)
	return true, err
}
