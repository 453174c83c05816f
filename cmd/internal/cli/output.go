package cli

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
)

// outputFlag is -o of commands that print a plan.
type outputFlag struct {
	format string
	names  []string // that it takes
	forms  string   // the same in words
}

// add is for a command that ends with a plan: it has every form of such plans.
func (f *outputFlag) add(flags *pflag.FlagSet, scope report.Scope) {
	f.register(flags, report.Names(scope), report.OneOf(report.Names(scope)))
}

// addProgress is for a command that applies, and reports how that goes.
func (f *outputFlag) addProgress(flags *pflag.FlagSet) {
	f.register(flags, report.ProgressNames(), report.OneOf(report.ProgressNames()))
}

// addEither is for a command that applies, or stops after the plan.
func (f *outputFlag) addEither(flags *pflag.FlagSet, scope report.Scope) {
	progress, all := report.ProgressNames(), report.Names(scope)
	others := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(progress, name) })
	f.register(flags, all, report.OneOf(progress)+"; with --preview also "+report.OneOf(others))
}

func (f *outputFlag) register(flags *pflag.FlagSet, names []string, forms string) {
	f.names, f.forms = names, forms
	flags.StringVarP(&f.format, "output", "o", report.Text, "output format: "+forms)
	offer(flags, names...)
}

func (f *outputFlag) check() error {
	form, ok := report.FormOf(f.format)
	switch {
	case ok && !form.Single(): // also where none is printed: mayAsk names the command that does
		return nil
	case slices.Contains(f.names, f.format):
		return nil
	}
	return usagef("-o %s: want %s", f.format, f.forms)
}

// formsAnnotation holds the forms that completion offers for -o.
const formsAnnotation = "kubectl-operator_forms"

func offer(flags *pflag.FlagSet, forms ...string) {
	_ = flags.SetAnnotation("output", formsAnnotation, forms) // the flag exists
}

// completeOutputs makes the shell offer the forms of -o, in a command and below it.
func completeOutputs(cmd *cobra.Command) {
	if flag := cmd.Flags().Lookup("output"); flag != nil {
		_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(flag.Annotations[formsAnnotation], cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	}
	for _, below := range cmd.Commands() {
		completeOutputs(below)
	}
}

// plural names resources as the cluster does, where there is one.
func (p *session) plural(ctx context.Context) installer.Plural {
	return func(apiVersion, kind string) string {
		if p.client == nil {
			return ""
		}
		name, _ := p.client.Plural(ctx, apiVersion, kind) // what is not served has the name its definition gives
		return name
	}
}

// reportOptions are those of a form, with what the cluster and the request add.
func (p *session) reportOptions(ctx context.Context, format string, asked report.Asked) report.Options {
	return report.Options{Format: format, Plural: p.plural(ctx), Asked: asked}
}

// printAll prints plans in their order: as JSON one document, a list of several.
func (p *session) printAll(ctx context.Context, all []reviewedPlan, format string) error {
	form, _ := report.FormOf(format)
	write := func(text string) error {
		_, err := io.WriteString(p.app.streams.Out, text)
		return err
	}
	between := form.Open
	for _, r := range all {
		if len(all) > 1 {
			if err := write(between); err != nil {
				return err
			}
		}
		if err := p.app.print(ctx, r.Plan, p.reportOptions(ctx, format, r.want)); err != nil {
			return err
		}
		between = form.Between
	}
	if len(all) > 1 {
		return write(form.Close)
	}
	return nil
}

// print writes a report once all of it is there: one that is interrupted is none.
func (c console) print(ctx context.Context, plan *preview.Plan, o report.Options) error {
	out := c.streams.Out
	if form, _ := report.FormOf(o.Format); form.Human {
		out = c.streams.Human()
	}
	o.Color, o.ASCII, o.Width = c.streams.Color(), c.streams.ASCII(), c.streams.Width()
	text, err := interruptible(ctx, func() (*bytes.Buffer, error) {
		var text bytes.Buffer
		return &text, report.Write(&text, plan, o)
	})
	if err != nil {
		return err
	}
	_, err = text.WriteTo(out)
	return err
}
