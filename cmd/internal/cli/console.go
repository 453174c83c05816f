package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// console prints the reports, lists and documents of commands that draw no
// screen, and asks questions in lines.
type console struct {
	streams *streams.Streams
}

// documentOutput is the flag -o of commands that print one document: text, json
// or yaml.
type documentOutput struct{ format string }

func (f *documentOutput) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.format, "output", "o", "text", "output format: text, json or yaml")
	offer(cmd.Flags(), "text", "json", "yaml")
}

func (f *documentOutput) check() error {
	if slices.Contains([]string{"text", "json", "yaml"}, f.format) {
		return nil
	}
	return usagef("-o %s: want text, json or yaml", f.format)
}

// printDocument prints a document as JSON or YAML, or calls text, which prints
// it for people.
func (c console) printDocument(output documentOutput, document any, text func() error) error {
	switch output.format {
	case "json":
		return c.printJSON(document)
	case "yaml":
		data, err := yaml.Marshal(document)
		if err != nil {
			return err
		}
		_, err = c.streams.Human().Write(data)
		return err
	}
	return text()
}

// itemsOutput is the flag -o of commands that print a list: text or json, and for lists
// like "kubectl get" its further forms.
type itemsOutput struct {
	format string
	forms  []string
}

func (f *itemsOutput) add(cmd *cobra.Command) {
	f.forms = append([]string{"text", "json"}, f.forms...)
	cmd.Flags().StringVarP(&f.format, "output", "o", "text", "output format: "+report.OneOf(f.forms))
	offer(cmd.Flags(), f.forms...)
}

func (f *itemsOutput) check() error {
	return checkListForm(f.format, f.forms)
}

// items is the JSON form of all lists.
type items[T any] struct {
	Items []T `json:"items"`
}

func (c console) printItems(format string, list any, rows [][]string) error {
	return printList(c.streams, format, list, rows)
}

func (c console) writeJSON(data []byte) error {
	_, err := c.streams.Out.Write(append(textsafe.JSON(data), '\n'))
	return err
}

// printJSON prints a value as one JSON document.
func (c console) printJSON(v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return c.writeJSON(data)
}

func argument(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}

// patience is the longest time without a line of progress, when standard error
// is no terminal.
const patience = time.Minute

// progress returns a function that prints to standard error what the command is
// doing. On a terminal, every step is printed; elsewhere, a line now and then,
// which shows that the command is still running.
func (a *app) progress() func(string) {
	if a.streams.ErrTTY() {
		return func(line string) {
			a.log.Info(line)
			a.streams.Status(line)
		}
	}
	throttle := &throttledProgress{say: a.streams.Status, now: time.Now, last: time.Now()}
	return func(line string) {
		a.log.Info(line)
		throttle.forward(line)
	}
}

// throttledProgress prints a line of progress only if none was printed recently.
type throttledProgress struct {
	say  func(string)
	now  func() time.Time
	mu   sync.Mutex
	last time.Time
}

func (t *throttledProgress) forward(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.now(); now.Sub(t.last) >= patience {
		t.last = now
		t.say(line)
	}
}

// outputFlag is the flag -o of commands that print a plan.
type outputFlag struct {
	format string
	names  []string // that it takes
	forms  string   // the same in words
}

// add adds the flag -o to a command that ends with a plan, with every output
// form of plans in that scope.
func (f *outputFlag) add(flags *pflag.FlagSet, scope report.Scope) {
	f.register(flags, report.Names(scope), report.OneOf(report.Names(scope)))
}

// addProgress adds the flag -o to a command that applies a plan and prints its
// progress.
func (f *outputFlag) addProgress(flags *pflag.FlagSet) {
	f.register(flags, report.ProgressNames(), report.OneOf(report.ProgressNames()))
}

// addEither adds the flag -o to a command that applies a plan or, with
// --preview, prints it: forms of progress, and forms of plans.
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
	case ok && !form.Single(): // also where none is printed: checkCanPrompt names the command that does
		return nil
	case slices.Contains(f.names, f.format):
		return nil
	}
	return usagef("-o %s: want %s", f.format, f.forms)
}

// formsAnnotation is the annotation of a flag -o with the output forms, for completion.
const formsAnnotation = "kubectl-operator_forms"

func offer(flags *pflag.FlagSet, forms ...string) {
	_ = flags.SetAnnotation("output", formsAnnotation, forms) // the flag exists
}

// completeOutputs registers shell completion of the values of -o, for a command
// and its subcommands.
func completeOutputs(cmd *cobra.Command) {
	if flag := cmd.Flags().Lookup("output"); flag != nil {
		_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(flag.Annotations[formsAnnotation], cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	}
	for _, below := range cmd.Commands() {
		completeOutputs(below)
	}
}

// plural returns a function for the resource name of a kind, such as
// deployments, as the cluster has it, if there is a cluster.
func (p *session) plural(ctx context.Context) installer.Plural {
	return func(apiVersion, kind string) string {
		if p.client == nil {
			return ""
		}
		name, _ := p.client.Plural(ctx, apiVersion, kind) // what is not served has the name its definition gives
		return name
	}
}

// reportOptions returns the options for printing a plan in an output form, including
// what the form needs from the cluster and the request.
func (p *session) reportOptions(ctx context.Context, format string, asked report.PlanRequest) report.Options {
	return report.Options{Format: format, Plural: p.plural(ctx), Asked: asked, TemplateOf: report.TemplateOf(p.templateOf)}
}

// printAll prints plans in order. In JSON, one plan is one document and several
// are a list.
func (p *session) printAll(ctx context.Context, all []reviewedPlan, format string) error {
	return p.writeAll(ctx, all, format, p.app.streams.Out, p.app.print)
}

// writeAll writes plans in order, each by calling write. Around several it
// writes what the form has for that, such as the brackets of a JSON list.
func (p *session) writeAll(ctx context.Context, all []reviewedPlan, format string, out io.Writer, write func(context.Context, *preview.Plan, report.Options) error) error {
	form, _ := report.FormOf(format)
	between := form.Open
	for _, r := range all {
		if len(all) > 1 {
			if _, err := io.WriteString(out, between); err != nil {
				return err
			}
		}
		if err := write(ctx, r.Plan, p.reportOptions(ctx, format, r.want)); err != nil {
			return err
		}
		between = form.Between
	}
	if len(all) > 1 {
		_, err := io.WriteString(out, form.Close)
		return err
	}
	return nil
}

// print prints a report only after it is made completely, so that an
// interrupted command prints no part of one.
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

// outFlags set the file of a saved plan, its recipients, and its expiry.
type outFlags struct {
	planning.SaveOptions
	expires time.Duration
}

func (f *outFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.To, "out", "", "save the plan, for install --plan: to this file, or to a registry as oci://HOST/REPO[:TAG]")
	flags.BoolVar(&f.PlaintextSecrets, "plaintext-secrets", false, "let the saved plan hold secret values in the clear")
	flags.StringArrayVar(&f.Recipients, "plan-recipient", nil, "encrypt the saved plan for this key of age or ssh, age1... or ssh-ed25519 ..., or for those in a file (repeatable)")
	flags.DurationVar(&f.expires, "expires", 0, "how long the saved plan can be applied, such as 72h (default: for ever; once applied, until its record in the cluster is gone, or not at all from the machine that applied it)")
}

func (f *outFlags) check() error {
	switch {
	case f.To == "" && (f.PlaintextSecrets || len(f.Recipients) > 0 || f.expires != 0):
		return usagef("--plaintext-secrets, --plan-recipient and --expires are about the plan that --out saves; add --out")
	case f.PlaintextSecrets && len(f.Recipients) > 0:
		return usagef("--plan-recipient encrypts the plan; leave out --plaintext-secrets")
	case f.expires < 0 || f.expires > 0 && f.expires < time.Second:
		return usagef("--expires %s: want a second or more, such as 72h", f.expires)
	}
	if to, ok := strings.CutPrefix(f.To, planning.RegistryPrefix); ok {
		if err := source.CheckArtifactDestination(to); err != nil {
			return usagef("--out %s", err)
		}
	}
	return nil
}

// save saves a plan and notes in it where it was saved.
func (f *outFlags) save(ctx context.Context, p *session, plan *preview.Plan) error {
	err := p.Saved().Save(ctx, plan, f.SaveOptions)
	if err == nil && strings.HasPrefix(f.To, planning.RegistryPrefix) {
		p.app.streams.Errorf("plan saved as %s\n", plan.SavedAs)
	}
	return err
}

// identityVariable is the environment variable with the file of age keys that
// decrypt a plan, the one that sops uses.
const identityVariable = "SOPS_AGE_KEY_FILE"

// savedFlags are the flags for reading a saved plan, such as the keys that decrypt it.
type savedFlags struct {
	identity string
}

func (f *savedFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.identity, "plan-identity", "", "file of the age key, or of the private ssh key, that opens an encrypted plan (default: the file that "+identityVariable+" names)")
}

func (f *savedFlags) keys(getenv func(string) string) planfile.Keys {
	if f.identity != "" {
		return planfile.Keys{File: f.identity}
	}
	return planfile.Keys{File: getenv(identityVariable)}
}

// loadPlan reads and verifies the plan saved at place.
func (p *session) loadPlan(ctx context.Context, place string, flags savedFlags) (*planning.SavedPlan, error) {
	plan, err := interruptible(ctx, func() (*planning.SavedPlan, error) {
		return p.Saved().Load(ctx, place, flags.keys(p.app.getenv))
	})
	if err == nil && plan.Notice != "" {
		p.app.streams.Errorf("note: %s\n", plan.Notice)
	}
	return plan, err
}

// askHidden asks for a line on a terminal without showing what is typed. Echo is
// switched off before the question is printed, so that an early answer is not
// shown either.
func (c console) askHidden(ctx context.Context, question string) (line []byte, err error) {
	terminal := int(c.streams.In.Fd())
	before, err := term.MakeRaw(terminal)
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, term.Restore(terminal, before))
		c.streams.Errorf("\n")
	}()
	c.streams.Errorf("%s", question)
	var given []byte
	read := tasks.Async(func() (err error) {
		given, err = readRaw(c.streams.In)
		return err
	})
	select {
	case <-ctx.Done(): // the reader ends with the program
		return nil, ctx.Err()
	case err := <-read:
		return given, err
	}
}

// readRaw reads a line from a terminal in raw mode, key by key. Ctrl-C and the end
// of the input are errors.
func readRaw(in *os.File) ([]byte, error) {
	const erase, kill, interrupt, end = 0x7f, 0x15, 0x03, 0x04
	var line []byte
	one := make([]byte, 1)
	for {
		if _, err := in.Read(one); err != nil {
			return nil, context.Canceled
		}
		switch key := one[0]; key {
		case '\r', '\n':
			return line, nil
		case interrupt, end:
			return nil, context.Canceled
		case kill:
			line = nil
		case erase, '\b':
			line = line[:max(0, len(line)-1)]
		default:
			if len(line) < 1024 {
				line = append(line, key)
			}
		}
	}
}
