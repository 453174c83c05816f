package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is a heading in the help of commands with many flags, and the flags
// that are listed below it, of all commands.
type flagGroup struct{ title, flags string }

// flagGroups returns the headings, in the order that they are printed. Each flag of a
// command is below one of them.
func flagGroups() []flagGroup {
	return []flagGroup{
		{"Content flags:", "in-cluster display-name publisher version channel catalog filename request format path install-mode watch-namespace values set set-string set-json set-file certs cloud-policy kube-version api-versions " +
			"reset-options values-from-defaults pin-images platform config mode location lock update-lock credential-env to include-crds include-namespaces keep against via"},
		{"Review flags:", "with-long-description preview tui offline read-only output for report policy fail-on detailed-exitcode out expires plaintext-secrets plan-recipient revision sample"},
		{"Approval flags:", "yes approve ruleset accept plan plan-identity require-approvals approvers key"},
		{"Apply flags:", "conflicts adopt applied-by strict on-failure rollout-timeout stage-timeout no-wait health-check receipt history-max record-key record-approvers"},
		{"Registry flags:", "registry-config pull-secret plain-http insecure-registry ca-file allow-private-address allow-cross-namespace-secrets cache-dir"},
		{"Signature flags:", "verify verify-key certificate-identity certificate-oidc-issuer trusted-root"},
		{"Other flags:", "all-namespaces watch priority detach port from help"},
	}
}

// manyFlags is how many local flags a command may have under one heading.
const manyFlags = 10

// writeUsage writes the usage of a command: how it is called, examples, its subcommands
// and its flags, wrapped to the width of the terminal. The command options lists the
// flags that all commands have.
func (a *app) writeUsage(c *cobra.Command) error {
	var out strings.Builder
	out.WriteString("Usage:\n")
	if c.Runnable() && c.HasParent() {
		fmt.Fprintf(&out, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&out, "  %s [command]\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(&out, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		out.WriteString("\nAvailable Commands:\n")
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() || below.Name() == "help" {
				fmt.Fprintf(&out, "  %-*s %s\n", c.NamePadding(), below.Name(), below.Short)
			}
		}
	}
	writeFlagGroups(&out, c.LocalNonPersistentFlags(), a.helpWidth())
	if !c.HasParent() {
		out.WriteString(topicList())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&out, "\nUse \"%s COMMAND --help\" for one command.", c.CommandPath())
	}
	if c.Name() != optionsName {
		fmt.Fprintf(&out, "\nUse \"%s %s\" for the flags of every command, such as --context and -n.\n", a.program, optionsName)
	}
	_, err := io.WriteString(c.OutOrStderr(), out.String())
	return err
}

// helpWidth returns the width of help texts: the terminal's, at most 120 columns, or 100
// elsewhere.
func (c console) helpWidth() int {
	if c.streams.StdoutTTY() {
		return min(c.streams.Width(), 120)
	}
	return 100
}

// writeFlagGroups writes the descriptions of flags, below several headings if
// there are many.
func writeFlagGroups(out *strings.Builder, flags *pflag.FlagSet, width int) {
	count := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			count++
		}
	})
	if count <= manyFlags {
		writeFlags(out, "Flags:", flags, width)
		return
	}
	for _, group := range flagGroups() {
		members, names := pflag.NewFlagSet("", pflag.ContinueOnError), strings.Fields(group.flags)
		flags.VisitAll(func(f *pflag.Flag) {
			if slices.Contains(names, f.Name) {
				members.AddFlag(f)
			}
		})
		writeFlags(out, group.title, members, width)
	}
}

func writeFlags(out *strings.Builder, title string, flags *pflag.FlagSet, width int) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(out, "\n%s\n%s", title, flags.FlagUsagesWrapped(width))
	}
}

// optionsName is the name of the command that lists the flags of every command,
// as in kubectl.
const optionsName = "options"

func (a *app) newOptionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   optionsName,
		Short: "List the flags that every command takes",
		Long: `List the flags that every command takes: which cluster, as whom, and how output is
written. Through kubectl, give them behind the name of the plugin: kubectl refuses
flags in front of it.`,
		Example: `  # The list
  kubectl operator options

  # What stands before a pipe is not coloured, and not cut
  kubectl operator options | less`,
		Args: rangeArgs(0, 0, "none"),
		RunE: func(c *cobra.Command, _ []string) error {
			var out strings.Builder
			out.WriteString("Global Flags:\n" + c.InheritedFlags().FlagUsagesWrapped(a.helpWidth()))
			_, err := io.WriteString(c.OutOrStdout(), out.String())
			return err
		},
	}
}
