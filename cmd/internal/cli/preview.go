package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/atomicfile"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	document "github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/tui/review"
)

// documentFlags are the flags of commands that print plans and apply none.
type documentFlags struct {
	output           outputFlag
	out              outFlags
	reports          reportFlags
	detailedExitcode bool
	failOn           string
}

func (f *documentFlags) add(flags *pflag.FlagSet, scope report.Scope) {
	f.output.add(flags, scope)
	f.out.add(flags)
	f.reports.add(flags, scope)
	flags.BoolVar(&f.detailedExitcode, "detailed-exitcode", false, "exit 2 when the plan changes something, 5 when it cannot be applied")
	flags.StringVar(&f.failOn, "fail-on", "", "exit 5 when a finding is at least this severe: critical, warning or unknown")
}

func (f *documentFlags) check() error {
	switch f.failOn {
	case "", string(preview.Critical), string(preview.Warning), string(preview.NotKnown):
	default:
		return usagef("--fail-on %s: want critical, warning or unknown", f.failOn)
	}
	return firstError(f.output.check(), f.out.check(), f.reports.check())
}

const previewLong = `Make the same plan as install and print it: what would change, which permissions
it hands over, what is risky. Nothing is written to the cluster. With --offline
no cluster is contacted, and the plan is the one for an empty cluster; references
that were resolved before come from the cache, and only others are fetched.

What another tool installed, such as Helm or Flux, is planned as that tool applies
it: see kubectl operator help owners. NAME alone shows what it installed.

What the user may not read is left open, with the right that would show it; who may
write none of the objects gets the plan of --read-only get. -o reviewer-role prints
the roles that show all of it.

With -f a request file says what to install: a Request of this tool, or what the
controllers of OLM, Flux, Argo CD, rukpak and PipeCD read. A change of its version can be
reviewed as it stands, and -o request writes it back for exactly what was
reviewed. Several files are planned one by one, each for the cluster as it is;
-o json then prints a list.

With --against two versions are compared without a cluster, as if the one were
installed: what changes, which permissions come and go, and which findings are
new. Such a plan cannot be applied.

With --tui the review is on the screen, as install shows it, and read-only.`

const previewExamples = `  # The review as Markdown, and the plan to apply later
  kubectl operator preview ./bundle -o markdown --out plan.tgz

  # One plan in several forms, for a pipeline
  kubectl operator preview ./bundle --report markdown=review.md --report sarif=review.sarif -o json

  # What is in a bundle, without a cluster
  kubectl operator preview quay.io/operatorhubio/argocd-operator:v0.7.0 --offline

  # A bump of a HelmRelease, and the file with what was reviewed
  kubectl operator preview -f podinfo.yaml -o markdown
  kubectl operator preview -f podinfo.yaml -o request

  # A bump of what Helm installed as web, and what is installed now
  kubectl operator preview ./web-1.1.0.tgz web -n shop
  kubectl operator preview web -n shop

  # Look around in it on the screen
  kubectl operator preview ./bundle --tui

  # What a new version changes, for a pull request; no cluster is needed
  kubectl operator preview ./bundle/1.1.0 --against ./bundle/1.0.0 -o markdown`

func (a *app) newPreviewCommand() *cobra.Command {
	p := a.newSession()
	p.LooksOnly = true
	var doc documentFlags
	var against againstFlag
	var screen screenFlag
	cmd := &cobra.Command{
		Use:     "preview REF [NAME]",
		Short:   "Show what an install would do, without doing it",
		Long:    previewLong,
		Example: previewExamples,
		Args:    rangeArgs(0, 2, "REF and, if you like, NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.requests.open(a.streams)
			if err := firstError(doc.check(), p.via.Check(cmd.Flags().Changed, &p.Render), p.Read.Check(), against.check(cmd.Flags(), p), p.requests.refuseRepeated(args), p.owners.check(false, p.Read.Offline), screen.check(a, cmd.Flags()), p.loadPolicy()); err != nil {
				return err
			}
			if p.StageTimeout < 0 {
				return usagef("--stage-timeout cannot be negative")
			}
			if !slices.Contains(report.TemplatesOf(), p.templateOf) {
				return usagef("--for %s: want %s", p.templateOf, report.OneOf(report.TemplatesOf()))
			}
			if doc.out.expires > 0 && (p.Read.Offline || against.reference != "") {
				return usagef("--expires says how long the saved plan can be applied, and one that saw no cluster never is; leave it out")
			}
			p.Expires = doc.out.expires
			if len(p.requests.files) > 0 && !screen.on {
				return a.previewFiles(cmd.Context(), p, doc)
			}
			want, err := p.previewRequest(cmd.Context(), args)
			if err != nil {
				return err
			}
			plan := planFunc(func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
				if against.reference != "" {
					return p.Compare(ctx, want, against.reference, progress)
				}
				if screen.on && len(p.requests.files) == 0 { // with the setting that was chosen on the screen
					if want, err = p.Request(args[0], argument(args, 1)); err != nil {
						return nil, err
					}
				}
				return p.Plan(ctx, want, progress)
			}).interruptible()
			if screen.on {
				o := review.Options{
					Title: "preview " + want.Text, Resolve: p.onScreen(plan), Settle: p.Settle, Watch: p.watch, PriorAcceptance: p.priorAcceptance,
				}
				if against.reference == "" {
					o.Choose = p.chooser()
				}
				return a.browse(cmd.Context(), o)
			}
			made, err := plan(cmd.Context(), a.progress())
			if err != nil {
				return err
			}
			return p.documents(cmd.Context(), []reviewedPlan{{made, want}}, doc)
		},
		ValidArgsFunction: a.completer().packages(&p.Selection, &p.Source),
	}
	flags := cmd.Flags()
	addContentFlags(flags, &p.Options)
	p.requests.add(flags, "; repeatable", &p.Requests)
	addReadFlags(flags, &p.Read, true)
	p.judged.add(flags, &p.Policy)
	addRecordFlags(flags, &p.Records)
	flags.DurationVar(&p.StageTimeout, "stage-timeout", 0, "how long each stage may take when the plan is applied (default: each stage's own)")
	p.via.Add(cmd.Flags())
	p.owners.add(cmd, flags, &p.Owners)
	addAppliedBy(cmd, flags, &p.Owners)
	against.add(flags)
	screen.add(flags)
	doc.add(flags, report.OfRequest)
	flags.StringVar(&p.templateOf, "for", report.TemplatesOf()[0], "the pods that -o pod-template describes: the host that loads a plugin set, or the jobs that run its plugins; "+report.OneOf(report.TemplatesOf()))
	return cmd
}

// previewRequest returns the request to plan, from the arguments or the only
// request file.
func (p *session) previewRequest(ctx context.Context, args []string) (planning.PlanRequest, error) {
	switch files := p.requests.files; {
	case len(files) == 1:
		return p.ReadRequest(ctx, files[0], p.requests.name)
	case len(files) > 1:
		return planning.PlanRequest{}, usagef("--tui shows one plan; there are %d request files", len(files))
	case len(args) == 0:
		return planning.PlanRequest{}, usagef("say what to preview: a package, an image, a directory, or -f FILE")
	}
	return p.Request(args[0], argument(args, 1))
}

func (a *app) newShowCommand() *cobra.Command {
	var output outputFlag
	var saved savedFlags
	var screen screenFlag
	p := a.newSession()
	cmd := &cobra.Command{
		Use:   "show PLANFILE",
		Short: "Show a saved plan",
		Long: `Check that a saved plan holds together, recompute its review from the sealed
content, and print it. What the file only records - references, catalogs, the
server's address - is not shown, because nothing vouches for it. PLANFILE is a file,
or oci://HOST/REPO@sha256:HEX in a registry. No cluster is contacted. With --tui the
review is on the screen, as install shows it, and read-only.`,
		Example: `  # The review of a saved plan
  kubectl operator show plan.tgz

  # The same on the screen
  kubectl operator show plan.tgz --tui

  # The exact manifests it would apply, and the role that its deployer needs
  kubectl operator show plan.tgz -o manifests
  kubectl operator show plan.tgz -o installer-role

  # A plan in a registry, encrypted for the holder of this age key
  kubectl operator show oci://registry.example.com/plans/mongodb@sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae --plan-identity key.txt

  # As a policy judges it
  kubectl operator show plan.tgz --policy policy.yaml`,
		Args: rangeArgs(1, 1, "a PLANFILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := firstError(output.check(), screen.check(a, cmd.Flags()), p.loadPolicy()); err != nil {
				return err
			}
			plan, err := p.loadPlan(cmd.Context(), args[0], saved)
			if err != nil {
				return err
			}
			if _, err := p.Judge(plan.Plan, nil); err != nil {
				return err
			}
			if why := plan.Expired(time.Now()); why != "" {
				a.streams.Errorf("note: %s\n", why)
			}
			if screen.on {
				return a.browse(cmd.Context(), review.Options{Title: "show " + args[0], Plan: plan.Plan})
			}
			return a.print(cmd.Context(), plan.Plan, p.reportOptions(cmd.Context(), output.format, nil))
		},
	}
	p.judged.add(cmd.Flags(), &p.Policy)
	output.add(cmd.Flags(), report.OfRelease)
	screen.add(cmd.Flags())
	saved.add(cmd.Flags())
	addRegistryFlags(cmd.Flags(), &p.Source)
	return cmd
}

// reviewedPlan is a plan and the request that it was made for.
type reviewedPlan struct {
	*preview.Plan
	want planning.PlanRequest
}

// previewFiles makes and prints the plan of each request of the request files.
func (a *app) previewFiles(ctx context.Context, p *session, doc documentFlags) error {
	var wanted []planning.PlanRequest
	for _, path := range p.requests.files {
		of, err := p.ReadRequests(ctx, path, p.requests.name)
		if err != nil {
			return err
		}
		wanted = append(wanted, of...)
	}
	form, _ := report.FormOf(doc.output.format)
	if len(wanted) > 1 && (doc.out.To != "" || form.Single() || doc.reports.single()) {
		single := report.SingleNames()
		last := len(single) - 1
		return usagef("--out, -o %s and -o %s are for one request; -f holds %d, of which --request NAME takes one", strings.Join(single[:last], ", -o "), single[last], len(wanted))
	}
	var all []reviewedPlan
	for _, want := range wanted {
		plan, err := planFunc(func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
			return p.Plan(ctx, want, progress)
		}).interruptible()(ctx, a.progress())
		if err != nil {
			return fmt.Errorf("request file %s: %w", want.Origin(), err)
		}
		if text := want.Unreviewed(plan); text != "" {
			a.streams.Errorf("note: %s\n", text)
		}
		all = append(all, reviewedPlan{plan, want})
	}
	return p.documents(ctx, all, doc)
}

// documents prints plans, saves one if a flag asks for that, and returns an
// error with the exit code that --fail-on and --detailed-exitcode ask for.
func (p *session) documents(ctx context.Context, all []reviewedPlan, doc documentFlags) error {
	// The file first: a plan that cannot be saved was not reviewed for later.
	if doc.out.To != "" {
		if err := doc.out.save(ctx, p, all[0].Plan); err != nil {
			return err
		}
	}
	if err := doc.reports.save(ctx, p, all); err != nil {
		return err
	}
	form, _ := report.FormOf(doc.output.format)
	if err := p.printAll(ctx, all, form.Name); err != nil || form.Aside {
		return err
	}
	bad, obstacles, changes, above := 0, 0, false, ""
	for _, r := range all {
		if n := r.Plan.Verdict.Count(); n > 0 {
			obstacles, above = obstacles+n, document.ObstacleTitle(r.Plan)
		}
		bad += countAtLeast(r.Plan, doc.failOn)
		changes = changes || r.Plan.Changes() || r.SetChanges()
	}
	switch {
	case bad > 0:
		return refuse(fmt.Sprintf("--fail-on %s: %d findings are at least that", doc.failOn, bad), "see them above")
	case doc.detailedExitcode && obstacles > 0:
		return refuse(fmt.Sprintf("the plan cannot be applied, for %s", preview.Plural(obstacles, "reason")), "see "+above+" above")
	case doc.detailedExitcode && changes:
		return &silentExit{exitDeclined}
	}
	return nil
}

// countAtLeast counts the findings with at least the severity failOn, in the
// order critical, warning, unknown. It is 0 if that is empty.
func countAtLeast(plan *preview.Plan, failOn string) int {
	if failOn == "" {
		return 0
	}
	n := 0
	for _, f := range plan.Findings {
		if f.AtLeast(preview.Severity(failOn)) {
			n++
		}
	}
	return n
}

// reportFlags are the flags that write the same plans to files, in other output
// forms than the printed one. Two commands would make two plans, of a cluster
// that may have changed between them.
type reportFlags struct {
	texts []string // FORM=FILE
	names []string // of forms that they take
	files []reportFile
}

// reportFile is an output form, and the file that the plans are written to in it.
type reportFile struct{ form, path string }

func (f *reportFlags) add(flags *pflag.FlagSet, scope report.Scope) {
	f.names = report.Names(scope)
	flags.StringArrayVar(&f.texts, "report", nil, "also write the plan in another form to a file, as FORM=FILE, such as sarif=review.sarif; FORM as for -o (repeatable)")
}

func (f *reportFlags) check() error {
	f.files = nil
	for _, text := range f.texts {
		form, path, ok := strings.Cut(text, "=")
		switch {
		case !ok || path == "":
			return usagef("--report %s: want FORM=FILE, such as sarif=review.sarif", text)
		case !slices.Contains(f.names, form):
			return usagef("--report %s: want %s before the =", text, report.OneOf(f.names))
		case slices.ContainsFunc(f.files, func(r reportFile) bool { return filepath.Clean(r.path) == filepath.Clean(path) }):
			return usagef("--report %s: another --report names the same file", text)
		}
		f.files = append(f.files, reportFile{form, path})
	}
	return nil
}

// single reports whether one of the output forms can have only one plan.
func (f *reportFlags) single() bool {
	return slices.ContainsFunc(f.files, func(r reportFile) bool {
		form, _ := report.FormOf(r.form)
		return form.Single()
	})
}

// save writes each of the files as a whole, as if to a pipe: without colour,
// and not wrapped to a terminal's width.
func (f *reportFlags) save(ctx context.Context, p *session, all []reviewedPlan) error {
	for _, file := range f.files {
		var text bytes.Buffer
		err := p.writeAll(ctx, all, file.form, &text, func(ctx context.Context, plan *preview.Plan, o report.Options) error {
			o.ASCII = p.app.streams.ASCII()
			part, err := interruptible(ctx, func() (*bytes.Buffer, error) {
				var part bytes.Buffer
				return &part, report.Write(&part, plan, o)
			})
			if err == nil {
				_, err = part.WriteTo(&text)
			}
			return err
		})
		if err == nil {
			err = atomicfile.Write(file.path, text.Bytes(), 0o644)
		}
		if err != nil {
			return fmt.Errorf("writing --report %s=%s: %w", file.form, file.path, err)
		}
	}
	return nil
}
