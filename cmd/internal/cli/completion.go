package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// completionPatience is how long shell completion waits for a cluster or a catalog.
const completionPatience = 3 * time.Second

func newCompletionCommand(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Long: `Print the completion script of a shell for kubectl-operator. For completion of
"kubectl operator", put an executable named kubectl_complete-operator on the PATH
that runs: kubectl-operator __complete "$@"`,
		Example: `  # In the running bash
  source <(kubectl-operator completion bash)

  # In every new zsh
  kubectl-operator completion zsh > "${fpath[1]}/_kubectl-operator"

  # Completion of "kubectl operator ..."
  printf '#!/bin/sh\nkubectl-operator __complete "$@"\n' > ~/bin/kubectl_complete-operator
  chmod +x ~/bin/kubectl_complete-operator`,
		Args:      rangeArgs(1, 1, "a shell: bash, zsh, fish or powershell"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return usagef("completion %s: want bash, zsh, fish or powershell", args[0])
		},
	}
}

// completer completes names in a shell: of catalogs, packages, releases, revisions and
// what the kubeconfig has. It never waits longer than [completionPatience].
type completer struct {
	session func(planning.SourceOptions) *session
	config  func() (config.Config, error)
	kube    *k8s.Flags
	getenv  func(string) string
}

func (a *app) completer() completer {
	return completer{session: a.sourceSession, config: a.config, kube: a.kube, getenv: a.getenv}
}

// packages completes the packages of the catalogs that the command line names.
func (c completer) packages(resolve *planning.Selection, src *planning.SourceOptions) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 && strings.HasPrefix(prefix, ref.ProgramScheme) {
			return c.sourcePrograms(prefix), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
		if len(args) > 0 || strings.ContainsAny(prefix, "./:") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
		defer cancel()
		// Without a cluster the cache answers first, which is quick.
		offline := c.session(*src)
		offline.Read.Offline = true
		r, err := offline.Resolver(nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		catalogs, err := r.Catalogs(ctx, resolve.Catalogs)
		if _, wrong := errors.AsType[*planning.UsageError](err); wrong {
			return nil, cobra.ShellCompDirectiveDefault // no catalog: files
		}
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, found := range catalogs {
			names = append(names, found.Names()...)
		}
		return safeNames(names, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// sourcePrograms completes the beginnings of references that programs of the PATH read.
func (c completer) sourcePrograms(prefix string) []string {
	var out []string
	for _, name := range program.Source.Names(c.getenv("PATH")) {
		if text := ref.ProgramScheme + name + ":"; strings.HasPrefix(text, prefix) {
			out = append(out, text)
		}
	}
	return out
}

// programs completes the names of the programs of a kind on the PATH; a path is one of
// files.
func (c completer) programs(kind program.Kind) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.DeleteFunc(kind.Names(c.getenv("PATH")), func(name string) bool { return !strings.HasPrefix(name, prefix) }), cobra.ShellCompDirectiveDefault
	}
}

// releases completes the names of the cluster's releases.
func (c completer) releases(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names, err := c.releaseNames(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return safeNames(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

// releaseNames returns the names of the cluster's releases, within
// [completionPatience].
func (c completer) releaseNames(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	cluster, err := c.session(planning.SourceOptions{}).connect(ctx)
	if err != nil {
		return nil, err
	}
	records, err := history.List(ctx, cluster, c.kube.Namespace())
	if _, ok := history.Unreadable(err); !ok {
		return nil, err
	}
	var names []string
	for _, r := range records {
		names = append(names, r.Release.Name)
	}
	return names, nil
}

// releaseArgs checks that the arguments are the NAME of a release and at most
// most in all. If there is none, the error names the releases that exist.
func (c completer) releaseArgs(most int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			if names, err := c.releaseNames(cmd.Context()); err == nil && len(names) > 0 {
				return usagef("which release? %s", strings.Join(safeNames(names, ""), ", "))
			}
		}
		return rangeArgs(1, most, want)(cmd, args)
	}
}

// addCluster completes the values of the flags that choose cluster, user
// and namespace.
func (c completer) addCluster(root *cobra.Command) {
	offers := map[string]func(context.Context) ([]string, error){
		"namespace": c.namespaces,
		"context":   func(context.Context) ([]string, error) { return c.kube.Contexts() },
		"cluster":   func(context.Context) ([]string, error) { return c.kube.Clusters() },
		"user":      func(context.Context) ([]string, error) { return c.kube.Users() },
	}
	for flag, names := range offers {
		_ = root.RegisterFlagCompletionFunc(flag, namesOnly(names)) // the flags exist
	}
}

// namesOnly completes names, none where they cannot be read.
func namesOnly(names func(context.Context) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		found, err := names(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.DeleteFunc(found, func(name string) bool { return !strings.HasPrefix(name, prefix) || !isPlainWord(name) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// addChoices registers completion for the values of flags, for a command and its
// subcommands: of those that take one of a few, and of namespaces, catalogs and files.
func (c completer) addChoices(cmd *cobra.Command) {
	choices := map[string][]string{
		"install-mode": {"AllNamespaces", "OwnNamespace", "SingleNamespace", "MultiNamespace"},
		"certs":        {preview.CertsCertManager, preview.CertsServiceCA, preview.CertsGenerated, preview.CertsNone},
		"format":       planning.Formats(),
		"fail-on":      {string(preview.Critical), string(preview.Warning), string(preview.NotKnown)},
		"color-scheme": theme.Schemes(),
		"for":          report.TemplatesOf(),
	}
	flags := cmd.NonInheritedFlags()
	for name, values := range choices {
		if flags.Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
		}
	}
	if flags.Lookup("watch-namespace") != nil {
		_ = cmd.RegisterFlagCompletionFunc("watch-namespace", namesOnly(c.namespaces)) // the flag exists
	}
	if flags.Lookup("catalog") != nil {
		_ = cmd.RegisterFlagCompletionFunc("catalog", func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) { // the flag exists
			names, _ := c.catalogs(nil, nil, prefix)
			return names, cobra.ShellCompDirectiveDefault // or a directory
		})
	}
	for _, below := range cmd.Commands() {
		c.addChoices(below)
	}
}

// namespaces returns the names of the cluster's namespaces, within
// [completionPatience].
func (c completer) namespaces(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	cluster, err := c.session(planning.SourceOptions{}).connect(ctx)
	if err != nil {
		return nil, err
	}
	bodies, err := cluster.List(ctx, "v1", "Namespace", "", "", "metadata.name")
	var names []string
	for _, body := range bodies {
		names = append(names, preview.String(body, "metadata", "name"))
	}
	return names, err
}

// isPlainWord reports whether a name has no character that a shell would
// interpret. Names in a kubeconfig may have any.
func isPlainWord(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@/:+=") == ""
}

// addRevisions completes the recorded revisions of the release that the
// command line names.
func (c completer) addRevisions(cmd *cobra.Command, flag string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
		defer cancel()
		record, err := c.session(planning.SourceOptions{}).Recall(ctx, args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var numbers []string
		for _, n := range record.Numbers() {
			if text := strconv.Itoa(n); strings.HasPrefix(text, prefix) {
				numbers = append(numbers, text)
			}
		}
		return numbers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	})
}

// safeNames returns the names that begin with prefix and are DNS-1123 names, which a
// shell does not interpret.
func safeNames(names []string, prefix string) []string {
	var out []string
	for _, name := range names {
		if ref.IsName(name) && strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	return out
}

// catalogs completes the names of configured catalogs.
func (c completer) catalogs(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	configured, err := c.config()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, known := range configured.Catalogs {
		names = append(names, known.Name)
	}
	return safeNames(names, prefix), cobra.ShellCompDirectiveNoFileComp
}
