package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
)

// documentFlags are those of commands that end with a plan.
type documentFlags struct {
	output           outputFlag
	out              string
	plaintextSecrets bool
	detailedExitcode bool
	failOn           string
}

func (f *documentFlags) add(flags *pflag.FlagSet) {
	f.output.add(flags, outputOfPlan)
	flags.StringVar(&f.out, "out", "", "save the plan to this file, for install --plan")
	flags.BoolVar(&f.plaintextSecrets, "plaintext-secrets", false, "let the saved plan hold secret values in the clear")
	flags.BoolVar(&f.detailedExitcode, "detailed-exitcode", false, "exit 2 when the plan changes something")
	flags.StringVar(&f.failOn, "fail-on", "", "exit 5 when a finding is at least this severe: critical, warning or unknown")
}

func (f *documentFlags) check() error {
	switch f.failOn {
	case "", string(preview.Critical), string(preview.Warning), string(preview.NotKnown):
	default:
		return usagef("--fail-on %s: want critical, warning or unknown", f.failOn)
	}
	return f.output.check()
}

func (a *app) newPreviewCommand() *cobra.Command {
	p := &planner{app: a}
	var doc documentFlags
	cmd := &cobra.Command{
		Use:   "preview REF [NAME]",
		Short: "Show what an install would do, without doing it",
		Long: `Make the same plan as install and print it: what would change, which permissions
it hands over, what is risky. Nothing is written to the cluster. With --offline
no cluster is contacted, and the plan is the one for an empty cluster; references
that were resolved before come from the cache, and only others are fetched.`,
		Example: `  # The review as Markdown, and the plan to apply later
  kubectl operator preview ./bundle -o markdown --out plan.tgz

  # What is in a bundle, without a cluster
  kubectl operator preview registry.example.com/bundles/mongodb:v1.10.0 --offline`,
		Args: rangeArgs(1, 2, "REF and, if you like, NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := firstError(doc.check(), p.read.check()); err != nil {
				return err
			}
			plan, err := p.content(cmd.Context(), args[0], argument(args, 1), a.progress())
			if err != nil {
				return err
			}
			return a.document(plan, doc)
		},
		ValidArgsFunction: a.completePackages(&p.resolve, &p.source),
	}
	flags := cmd.Flags()
	p.addContent(flags)
	p.read.add(flags, true)
	doc.add(flags)
	return cmd
}

func (a *app) newShowCommand() *cobra.Command {
	var output outputFlag
	p := &planner{app: a}
	cmd := &cobra.Command{
		Use:   "show PLANFILE",
		Short: "Show a saved plan",
		Long: `Check that a saved plan holds together, recompute its review from the sealed
content, and print it. What the file only records - references, catalogs, the
server's address - is not shown, because nothing vouches for it.`,
		Example: `  # The review of a saved plan
  kubectl operator show plan.tgz

  # The exact manifests it would apply
  kubectl operator show plan.tgz -o manifests`,
		Args: rangeArgs(1, 1, "a PLANFILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			plan, err := a.loadPlan(args[0], p)
			if err != nil {
				return err
			}
			return a.print(plan, output.format)
		},
	}
	output.add(cmd.Flags(), outputOfPlan)
	return cmd
}

// loadPlan reads and verifies a plan file.
func (a *app) loadPlan(path string, p *planner) (*preview.Plan, error) {
	loaded, err := planfile.Load(path)
	if err != nil {
		return nil, err
	}
	plan, notice, err := engine.Verify(loaded, p.typer())
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", path, err)
	}
	if notice != "" {
		a.streams.Errorf("note: %s\n", notice)
	}
	return plan, nil
}

// document prints a plan, saves it if asked, and picks the exit code.
func (a *app) document(plan *preview.Plan, doc documentFlags) error {
	// The file first: a plan that cannot be saved was not reviewed for later.
	if doc.out != "" {
		if err := planfile.Save(doc.out, plan, doc.plaintextSecrets); err != nil {
			return err
		}
	}
	if err := a.print(plan, doc.output.format); err != nil {
		return err
	}
	if n := countAtLeast(plan, doc.failOn); n > 0 {
		return refuse(fmt.Sprintf("--fail-on %s: %d findings are at least that", doc.failOn, n), "see them above")
	}
	if doc.detailedExitcode && plan.Summary.Changes() {
		return &silentExit{exitDeclined}
	}
	return nil
}

// countAtLeast counts findings at or above a severity, in the order critical,
// warning, unknown.
func countAtLeast(plan *preview.Plan, failOn string) int {
	if failOn == "" {
		return 0
	}
	n := 0
	for _, f := range plan.Findings {
		if f.Severity.Rank() <= preview.Severity(failOn).Rank() {
			n++
		}
	}
	return n
}

func (a *app) print(plan *preview.Plan, format string) error {
	out := a.streams.Out
	if format == report.Text || format == report.Markdown {
		out = a.streams.Human()
	}
	return report.Write(out, plan, report.Options{
		Format: format, Color: a.streams.Color(), ASCII: a.streams.ASCII(), Width: a.streams.Width(),
	})
}

// progress prints what is being done to a person who is waiting, and to nobody
// else.
func (a *app) progress() func(string) {
	if !a.streams.ErrTTY() {
		return func(line string) { a.log.Info(line) }
	}
	return func(line string) {
		a.log.Info(line)
		a.streams.Status(line)
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
