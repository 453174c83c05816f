package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli/help"
	"github.com/kubectl-operator/kubectl-operator/preview/spelling"
)

// newHelpCommand returns the command that prints the help of a command, or a
// topic of the manual.
func (a *app) newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Help about a command, or a topic of the manual",
		Long:  "Help about a command, or a topic of the manual. On a terminal a topic is shown by the\nprogram that PAGER names, if any.",
		Example: `  # What may be installed, and how references are pinned
  kubectl operator help sources

  # All flags of one command
  kubectl operator help plugin install`,
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if found, rest, err := root.Find(args); err == nil && len(rest) == 0 {
				found.InitDefaultHelpFlag()
				return found.Help()
			}
			if topic, isTopic := help.Find(strings.Join(args, " ")); isTopic {
				return a.page(topic.Write)
			}
			return usagef("there is no command or topic %q%s", strings.Join(args, " "), nearTopic(args))
		},
	}
}

// nearTopic returns the topic whose name is most like a misspelt one.
func nearTopic(args []string) string {
	for _, t := range help.Topics() {
		if len(args) == 1 && spelling.Distance(args[0], t.Name, 3) <= 2 {
			return "; there is the topic " + t.Name
		}
	}
	return "; kubectl operator help lists them"
}

func completeHelp(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	found, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, c := range found.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
	}
	if len(args) == 0 {
		for _, t := range help.Topics() {
			out = append(out, cobra.CompletionWithDesc(t.Name, t.Summary))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// topicList returns the list of topics at the end of the program's help.
func topicList() string {
	var out strings.Builder
	out.WriteString("\nTopics, by kubectl operator help TOPIC:\n")
	for _, t := range help.Topics() {
		fmt.Fprintf(&out, "  %-14s %s\n", t.Name, t.Summary)
	}
	return out.String()
}

// page prints a text, on a terminal through the user's pager (PAGER). If the
// pager cannot be started, it prints the text directly.
func (a *app) page(write func(to io.Writer, width int) error) error {
	words := strings.Fields(a.getenv("PAGER"))
	if !a.streams.StdoutTTY() || len(words) == 0 || words[0] == "cat" {
		return write(a.streams.Human(), a.streams.Width())
	}
	pager := exec.Command(words[0], words[1:]...)
	pager.Stdout, pager.Stderr = os.Stdout, os.Stderr
	text, err := pager.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting the pager of PAGER: %w", err)
	}
	if err := pager.Start(); err != nil {
		return write(a.streams.Human(), a.streams.Width())
	}
	if err := write(text, a.streams.Width()); err != nil {
		a.log.Debug("the pager was left", "error", err) // it ended before it had read all
	}
	_ = text.Close()
	if err := pager.Wait(); err != nil {
		return fmt.Errorf("running the pager %s of PAGER: %w", words[0], err)
	}
	return nil
}
