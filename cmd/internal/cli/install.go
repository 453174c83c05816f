package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/olmcluster"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

const installLong = `Resolve REF to an immutable digest, show what installing it would do, and apply
exactly that once it is approved. REF is a package of a catalog (mongodb,
mongodb@1.10.0), an image (HOST/REPO:TAG, HOST/REPO@sha256:...) or a directory
(./bundle). NAME names the release; it defaults to the package. Without REF you
choose from the packages of the catalogs; at a terminal also where none has that name.

With -f a request file says all that instead; see preview --help.

A release that is installed already is upgraded: it keeps the options that it has, as
upgrade does.

On a terminal the review is interactive, and an install mode that is not clear is asked
for; else the narrowest is taken. In scripts use --yes, alone only when
nothing is critical or unknown, else with a reviewed plan or digest.`

const installExamples = `  # Review and install the head of the default channel
  kubectl operator install argocd-operator --catalog quay.io/operatorhubio/catalog:latest

  # Choose from a list
  kubectl operator install --catalog ./catalog

  # Apply exactly the plan a pull request reviewed
  kubectl operator install --plan plan.tgz --yes

  # Be done only when the database that the bundle brings says that it is ready
  kubectl operator install ./bundle --health-check MongoDB.mongodb.com/main=self.status.ready`

func (a *app) newInstallCommand() *cobra.Command {
	p := a.newSession()
	r := newReleaseRun(p, "install", "preview")
	cmd := &cobra.Command{
		Use:     "install REF [NAME]",
		Short:   "Review a package or bundle, and install exactly what was reviewed",
		Long:    installLong,
		Example: installExamples,
		Args:    rangeArgs(0, 2, "REF and, if you like, NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.requests.open(a.streams)
			if err := firstError(p.via.Check(cmd.Flags().Changed, &p.Render), r.check()); err != nil {
				if errors.Is(err, errNoTerminal) || errors.Is(err, errInCI) { // with a terminal there would be no catalog either
					err = errors.Join(err, p.WithoutCatalog(argument(args, 0)))
				}
				return r.reportFailure(err)
			}
			if err := p.requests.refuseRepeated(args); err != nil {
				return r.reportFailure(err)
			}
			if r.approve.plan != "" {
				if len(p.requests.files) > 0 {
					return r.reportFailure(usagef("--plan says what to install; leave out -f"))
				}
				if len(args) > 0 {
					return usagef("--plan says what to install; leave out %q", args[0])
				}
				return r.runPlanFile(cmd.Context(), "", preview.RequestInstall)
			}
			if len(p.requests.files) > 0 {
				return r.runFiles(cmd.Context())
			}
			if len(args) == 0 {
				if r.approve.yes {
					return r.reportFailure(usagef("say what to install: a package, an image, a directory, or -f FILE"))
				}
				name, err := p.pick(cmd.Context(), nil)
				if err != nil {
					return err
				}
				return r.runReference(cmd.Context(), name, "")
			}
			err := r.runReference(cmd.Context(), args[0], argument(args, 1))
			if unknown := r.unknownPackage(err, args[0]); unknown != nil {
				name, err := p.pick(cmd.Context(), unknown)
				if err != nil {
					return err
				}
				return r.runReference(cmd.Context(), name, argument(args, 1))
			}
			return err
		},
		ValidArgsFunction: a.completer().packages(&p.Selection, &p.Source),
	}
	flags := cmd.Flags()
	addContentFlags(flags, &p.Options)
	p.requests.add(flags, "", &p.Requests)
	addReadFlags(flags, &p.Read, false)
	p.owners.add(cmd, flags, &p.Owners)
	r.health.add(flags)
	r.addWithPreview(flags)
	p.via.Add(flags)
	return cmd
}

// runReference installs what a reference leads to, as the release of that name; an
// empty name leaves it to the package. The user is asked for an install mode that is not
// clear.
func (r *releaseRun) runReference(ctx context.Context, reference, name string) error {
	render, s := &r.session.Render, r.app.streams
	render.AskMode = !r.approve.yes && !r.preview && s.CanAsk()
	err := r.planReference(ctx, reference, name)
	unclear, ok := errors.AsType[*format.UnclearModeError](err)
	if !ok || !render.AskMode {
		return err
	}
	answer, chosen, err := askInstallMode(ctx, s.In, s.Human(), unclear)
	if err != nil {
		return err
	}
	if !chosen {
		s.Printf("Nothing was applied.\n")
		return &silentExit{exitDeclined}
	}
	render.InstallMode, render.WatchNamespaces = answer.Mode, answer.Watch
	return r.planReference(ctx, reference, name)
}

func (r *releaseRun) planReference(ctx context.Context, reference, name string) error {
	what := []string{reference}
	if name != "" {
		what = append(what, name)
	}
	return r.run(ctx, "install "+reference, func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
		want, err := r.session.Request(reference, name)
		if err != nil {
			return nil, err
		}
		plan, err := r.session.Plan(ctx, want, progress)
		return plan, r.session.withoutCluster(err, what...)
	})
}

// unknownPackage returns the error that no catalog has the package which the reference
// names, if the user can be asked for another one; the version asked for stays. It is
// nil otherwise: a dependency that is missing is no name that was mistyped.
func (r *releaseRun) unknownPackage(err error, reference string) *catalog.UnknownPackageError {
	unknown, ok := errors.AsType[*catalog.UnknownPackageError](err)
	asked, parseErr := ref.Parse(reference)
	if !ok || parseErr != nil || asked.Package != unknown.Package || r.approve.yes || r.preview || !r.app.streams.CanPrompt() {
		return nil
	}
	r.session.Selection.Version = cmp.Or(r.session.Selection.Version, asked.Version)
	return unknown
}

// runFiles installs the release that a request file describes.
func (r *releaseRun) runFiles(ctx context.Context) error {
	files := r.session.requests.files
	if len(files) > 1 {
		return r.reportFailure(usagef("%d request files; install one at a time", len(files)))
	}
	want, err := r.session.ReadRequest(ctx, files[0], r.session.requests.name)
	if err == nil && !r.preview {
		err = want.Paused()
	}
	if err != nil {
		return r.reportFailure(err)
	}
	title := "install PluginSet " + want.Name
	if want.File != nil {
		r.health.checks = append(r.health.checks, want.File.HealthChecks...)
		title = "install " + want.File.Object
	}
	return r.run(ctx, title, func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
		plan, err := r.session.Plan(ctx, want, progress)
		if err != nil {
			return nil, r.session.withoutCluster(fmt.Errorf("request file %s: %w", files[0], err), "-f", files[0])
		}
		if text := want.Unreviewed(plan); text != "" {
			command := commandline.Operator("preview", "-f", files[0], "-o", "request")
			return nil, &commandline.Advised{Err: refuse(text, command+" updates the pin in the file"), Commands: []string{command}, Scope: commandline.All}
		}
		return plan, nil
	})
}

func (a *app) newUpgradeCommand() *cobra.Command {
	p := a.newSession()
	r := newReleaseRun(p, "upgrade", "upgrade --preview")
	cmd := &cobra.Command{
		Use:   "upgrade NAME [REF]",
		Short: "Review and apply another version of an installed release",
		Long: `Plan an installed release again. Without REF it goes along the upgrade edges of
the catalog that it came from, if the configuration has that catalog, or --catalog
names one; what only the release's record names is not followed. With REF any
version may be named; the plan then says that the upgrade path was not checked.

With --via olmv0, NAME is a Subscription, or the package of one. The bundle that its
InstallPlan would install is reviewed as an upgrade of the one that is installed, and
exactly that InstallPlan is approved: see "kubectl operator help olm".

What the release was installed with stays: values, install mode, certificates and the
other options of "kubectl operator help releases". A flag changes one of them,
--values-from-defaults drops the values, --reset-options all; the review begins with
what is kept and what is not.`,
		Example: `  # To the newest version that the channel's edges allow
  kubectl operator upgrade mongodb

  # With one value changed, and all others as they are
  kubectl operator upgrade shop ./chart --set replicas=3

  # With the values of the package, whatever it was installed with
  kubectl operator upgrade mongodb --values-from-defaults

  # What OLM would upgrade, once its InstallPlan is approved
  kubectl operator upgrade mongodb --via olmv0 -n databases

  # Only show what a bundle directory would change
  kubectl operator upgrade mongodb ./bundle --preview`,
		Args: a.completer().releaseArgs(2, "the NAME of a release and, if you like, REF"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := firstError(p.via.CheckUpgrade(cmd.Flags().Changed, &p.Render), r.check()); err != nil {
				return r.reportFailure(err)
			}
			if r.approve.plan != "" {
				return r.runPlanFile(cmd.Context(), args[0], preview.RequestUpgrade)
			}
			return r.run(cmd.Context(), "upgrade "+args[0], func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
				if p.via != "" {
					return p.upgradeVia(ctx, args[0], argument(args, 1), progress)
				}
				plan, err := p.Upgrade(ctx, args[0], argument(args, 1), progress)
				return plan, p.ofOLM(ctx, args[0], err, olmcluster.Upgrading)
			})
		},
		ValidArgsFunction: a.completer().releases,
	}
	flags := cmd.Flags()
	addContentFlags(flags, &p.Options)
	addReadFlags(flags, &p.Read, false)
	p.owners.add(cmd, flags, &p.Owners)
	r.health.add(flags)
	r.addWithPreview(flags)
	p.via.AddToUpgrade(flags)
	return cmd
}
