// Package cli is the command line, built with cobra: one file per command. A
// command parses its flags into the options of package planning, which makes the
// plan; run.go takes a plan through review, approval and apply, and package
// report prints it. Errors become exit codes in one place, [Main]. There is no
// package-level state.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/olmcluster"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/olmplugin"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/sandboxcmd"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/shutdown"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// app holds what all commands share: the streams, the global flags, the configuration,
// and the name that the program is called by.
type app struct {
	version string
	commit  string
	// controlPlane is the released image of the sandbox, see [Options].
	controlPlane string
	program      string // as in usage lines
	getenv       func(string) string
	console
	kube    *k8s.Flags
	global  globalFlags
	given   []string // flags of the command line, as [givenFlags] returns them
	log     *slog.Logger
	logFile io.Closer
	// watch sees each event of an apply before it is printed, when not nil.
	watch install.Sink
	// config reads the user's configuration, once.
	config func() (config.Config, error)
}

// Options are a program's settings for the command line.
type Options struct {
	Version string
	Commit  string // the program was built from; empty means Go's build info
	// ControlPlane is the released image of the sandbox, as IMAGE@sha256:HEX; may be empty.
	ControlPlane string
	Getenv       func(string) string
	In           *os.File
	Out          *os.File
	Err          *os.File
}

// Main runs one command line and returns the exit code. When ctx ends, the
// command stops in order.
func Main(ctx context.Context, args []string, o Options) int {
	return newApp(o).main(ctx, args)
}

// Command returns the whole command tree, for the generators of man pages and
// other documents.
func Command(o Options) *cobra.Command { return newApp(o).newRootCommand() }

func (a *app) main(ctx context.Context, args []string) int {
	k8s.RouteLogs(io.Discard)
	root := a.newRootCommand()
	root.SetArgs(args)
	called := root
	err := tasks.Try(func() (err error) {
		called, err = root.ExecuteContextC(ctx)
		return err
	})
	if err = a.panicError(ctx, err); err != nil {
		a.printError(err, called)
	}
	a.log.Info("done", "exitCode", exitCode(err))
	return max(exitCode(err), a.close(err))
}

func newApp(o Options) *app {
	return &app{
		version: o.Version, commit: o.Commit, controlPlane: o.ControlPlane, getenv: o.Getenv, kube: k8s.NewFlags(),
		program: "kubectl operator", log: slog.New(slog.DiscardHandler),
		console: console{streams.New(o.In, o.Out, o.Err, o.Getenv)},
		config:  sync.OnceValues(func() (config.Config, error) { return config.Load(o.Getenv) }),
	}
}

func (c console) printError(err error, called *cobra.Command) {
	text := commandline.Complete(err, givenFlags(called.Flags()), flagsOfCommands(called.Root()))
	if text = errorText(err, called.CommandPath(), text); text != "" {
		c.streams.Errorf("%s\n", text)
	}
}

// close flushes the output and returns the exit code for a failure to write it;
// 0 if there was none, or if the command failed with err anyway.
func (a *app) close(err error) int {
	flushErr := a.streams.Flush()
	if a.logFile != nil {
		flushErr = errors.Join(flushErr, a.logFile.Close())
	}
	if err == nil && flushErr != nil && !errors.Is(flushErr, syscall.EPIPE) {
		fmt.Fprintln(os.Stderr, "error: writing output:", flushErr)
		return exitError
	}
	return exitDone
}

func (a *app) newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-operator",
		Short: "Review exactly what an install would do to a cluster, then do exactly that",
		Long: `kubectl operator resolves a package to an immutable digest, shows what installing
it would do to the cluster - permissions, cloud access, manifest changes, risks -
and, once approved, applies exactly the reviewed content and follows the rollout.`,
		Example: `  # Review and install interactively
  kubectl operator install argocd-operator --catalog quay.io/operatorhubio/catalog:latest

  # The same review for a pull request, then exactly that plan from a script
  kubectl operator preview mongodb --catalog ./catalog --out plan.tgz -o markdown
  kubectl operator install --plan plan.tgz --yes`,
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: a.program},
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.given = givenFlags(cmd.Flags())
			return a.start()
		},
		Args:    cobra.ArbitraryArgs,
		Version: a.version,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%s", unknownCommandHint(cmd, args[0]))
			}
			if a.streams.CanPrompt() && !a.streams.Lines() {
				return a.home(cmd.Context(), cmd.Flags())
			}
			return cmd.Help()
		},
	}
	root.SetIn(a.streams.In)
	root.SetOut(a.streams.Human())
	root.SetErr(a.streams.HumanErr())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !cmd.HasParent() && cmd.Flags().NArg() > 0 {
			return usagef("%s", unknownCommandHint(cmd, cmd.Flags().Arg(0))) // whose flags this program does not know
		}
		return usagef("%s", unknownFlagHint(cmd, err))
	})
	root.SetVersionTemplate("kubectl-operator {{.Version}}\n")
	a.kube.AddFlags(root.PersistentFlags())
	a.global.add(root.PersistentFlags())
	root.AddCommand(
		a.newInstallCommand(), a.newPreviewCommand(), a.newShowCommand(), a.newApproveCommand(), a.newUpgradeCommand(),
		a.newUninstallCommand(), a.newRollbackCommand(), a.newListCommand(), a.newStatusCommand(), a.newHistoryCommand(), a.newSearchCommand(), a.newDescribeCommand(), a.newOperandsCommand(), a.newFormatCommand(), a.newSourceCommand(), a.newPluginCommand(),
		a.newExplainCommand(), a.newOptionsCommand(), a.newVersionCommand(), newCompletionCommand(a.streams.Out),
		a.newCatalogCommand(), a.newSandboxCommand(), olmplugin.NewOLMv1Command(),
	)
	root.SetHelpCommand(a.newHelpCommand())
	root.SetUsageFunc(a.writeUsage)
	completeOutputs(root)
	a.completer().addChoices(root)
	a.completer().addCluster(root)
	return root
}

// start applies the global flags. It is called before any command runs.
func (a *app) start() error {
	if err := a.streams.Configure(streams.Options{Color: a.global.color, ASCII: a.global.ascii, Plain: a.global.plain}); err != nil {
		return usagef("%s", err)
	}
	if !slices.Contains(theme.Schemes(), a.global.scheme) {
		return usagef("--color-scheme %s: want %s", a.global.scheme, strings.Join(theme.Schemes(), " or "))
	}
	if a.global.logFile == "" || a.logFile != nil { // open, where a command was chosen on the first screen
		return nil
	}
	file, err := os.OpenFile(a.global.logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY|bounded.NoFollow, 0o600)
	if err != nil {
		return fmt.Errorf("opening --log-file: %w", err)
	}
	a.logFile = file
	if err := debug.SetCrashOutput(file, debug.CrashOptions{}); err != nil {
		return fmt.Errorf("opening --log-file: %w", err)
	}
	log := streams.Plain(file)
	a.log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	k8s.RouteLogs(log)
	return nil
}

// rangeArgs is cobra.RangeArgs with an error that names the expected arguments (want).
func rangeArgs(least, most int, want string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("%s, want %s", preview.Plural(len(args), "argument"), want)
		}
		return nil
	}
}

// usagef returns an error about wrong flags or arguments, which is printed with a
// hint to --help.
func usagef(format string, args ...any) error { return planning.Usagef(format, args...) }

// refuse returns an error with exit code 5: the request is refused, and nothing was
// changed. The argument what is the reason, next the advice.
func refuse(what, next string) error { return planning.Refuse(what, next) }

// The exit codes answer one question: did the target change? They are contract.
const (
	exitDone        = 0
	exitError       = int(install.NotStarted)
	exitDeclined    = int(install.Declined) // or preview --detailed-exitcode with changes
	exitFailed      = int(install.Failed)
	exitInterrupted = int(install.Interrupted)
	exitRefused     = int(install.Refused)
)

// silentExit is an error that ends the program with an exit code and prints nothing.
type silentExit struct{ code int }

func (e *silentExit) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exitCode returns the exit code for an error. No other function chooses exit
// codes.
func exitCode(err error) int {
	var silent *silentExit
	var refused *engine.RefusedError
	var installError *install.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &silent):
		return silent.code
	case errors.As(err, &installError):
		return max(int(installError.Kind), exitError) // no error ends with 0
	case errors.As(err, &refused):
		return exitRefused
	case errors.Is(err, context.Canceled):
		return exitDeclined
	}
	return exitError
}

// errorText returns the text of an error for the user, at most three lines. No other
// function words errors for the user. command is the command line that failed.
func errorText(err error, command, text string) string {
	var silent *silentExit
	var usage *planning.UsageError
	var installError *install.Error // says itself what was cancelled
	switch {
	case errors.As(err, &silent):
		return ""
	case errors.Is(err, context.Canceled) && exitCode(err) == exitDeclined && !errors.As(err, &installError):
		return "cancelled; nothing was applied"
	case errors.As(err, &usage):
		return "error: " + text + "\nSee \"" + command + " --help\"."
	}
	return "error: " + strings.Join(frame.ThreeLines(text), "\n")
}

// session is one run of a command that plans, or that reads releases: its
// planner, its client of the cluster, and flags that are not options of those.
type session struct {
	*planning.Planner
	app *app

	requests requestFlags
	judged   policyFlags
	owners   ownerFlags
	via      olmcluster.Via
	pending  *olmcluster.Pending // of --via of an upgrade, once it was looked for
	// templateOf is what -o pod-template is for; empty means the default.
	templateOf string

	client  *k8s.Client  // nil until something is asked of the cluster
	absent  error        // why no cluster answers, once one was asked
	waiting func(string) // receives that the cluster does not answer; nil means standard error
	schemas *k8s.Schemas
}

func (a *app) newSession() *session {
	s := &session{app: a}
	s.Planner = planning.NewPlanner(planning.Environment{
		Version: a.version, Getenv: a.getenv, Config: a.config,
		Namespace: a.kube.Namespace, ContextNamespace: a.kube.ContextNamespace, RequestTimeout: a.kube.RequestTimeout,
		Passphrase: a.passphrase, Schemas: s.typer, Connect: s.reader, Flags: func() []string { return a.given },
	})
	return s
}

func (a *app) newSandboxCommand() *cobra.Command {
	return sandboxcmd.New(sandboxcmd.Options{
		Out: a.streams.Human(), ErrOut: a.streams.HumanErr(), Released: a.controlPlane,
		AddSourceFlags: func(flags *pflag.FlagSet) func() (source.Options, error) {
			var src planning.SourceOptions
			addConfigSourceFlags(flags, &src)
			return func() (source.Options, error) { return planning.Registries(a.sourceSession(src).Planner, a.progress()) }
		},
	})
}

// sourceSession returns the session of a command that only reads catalogs.
func (a *app) sourceSession(o planning.SourceOptions) *session {
	s := a.newSession()
	s.Source = o
	return s
}

// reader connects the planner to the cluster, with a client that cannot write.
func (s *session) reader(ctx context.Context, mode preview.ReadMode) (planning.Cluster, error) {
	client, err := s.dial(ctx, mode)
	if err != nil {
		return nil, err
	}
	s.client = client
	return client, nil
}

// connect returns a client that cannot write to the cluster, which it contacts once.
func (s *session) connect(ctx context.Context) (*k8s.Client, error) {
	_, err := s.Planner.Connect(ctx)
	return s.client, err
}

// writer returns a client that can write to the cluster, for an approved plan. All
// other clients can only read.
func (s *session) writer(ctx context.Context) (*k8s.Client, error) {
	return s.dial(ctx, "")
}

func (s *session) dial(ctx context.Context, readOnly preview.ReadMode) (*k8s.Client, error) {
	client, err := k8s.Connect(ctx, k8s.Options{
		Flags: s.app.kube, UserAgent: "kubectl-operator/" + s.app.version, ReadOnly: readOnly,
		Cache:   diskcache.NewSealed(diskcache.Cache{Dir: s.Source.CacheDir}, k8s.MaxKept),
		Writes:  func() { shutdown.NoteWrite(ctx) },
		Waiting: s.say,
	})
	if reason := preview.ReasonOf(err); err != nil && ctx.Err() == nil && (reason == "" || reason == preview.ReasonUnavailable) {
		s.absent = err
	}
	return client, err
}

// say reports that the cluster does not answer.
func (s *session) say(line string) {
	if s.waiting != nil {
		s.waiting(line)
		return
	}
	s.app.streams.Status(line)
}

// onScreen returns the function that makes a plan on the screen, which shows what would
// go to standard error otherwise.
func (s *session) onScreen(plan planFunc) planFunc {
	return func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
		s.waiting = progress
		return plan(ctx, progress)
	}
}

// withoutCluster adds to the error that no cluster answers the command line that shows
// the review without one, with the arguments what.
func (s *session) withoutCluster(err error, what ...string) error {
	if err == nil || s.absent == nil || !errors.Is(err, s.absent) {
		return err
	}
	command := commandline.Operator(append(append([]string{"preview"}, what...), "--offline")...)
	try := ""
	if preview.ReasonOf(s.absent) == preview.ReasonUnavailable { // without a kubeconfig the error says so itself
		try = ", and \"" + commandline.Operator("sandbox", "up") + "\" starts a cluster to try it on"
	}
	return &commandline.Advised{Err: fmt.Errorf("%w\n\"%s\" shows the review without a cluster%s", err, command, try), Commands: []string{command}, Scope: commandline.All}
}

func (s *session) typer() engine.Schemas {
	if s.schemas == nil {
		s.schemas = k8s.NewSchemas()
	}
	return s.schemas
}

// loadPolicy reads the policy file, before the cluster or a server is contacted.
func (s *session) loadPolicy() error {
	return firstError(s.judged.check(), s.Planner.LoadPolicy())
}
