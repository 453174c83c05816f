package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/preview/risk/pages"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

func (a *app) newExplainCommand() *cobra.Command {
	var output itemsOutput
	cmd := &cobra.Command{
		Use:   "explain [RULE]",
		Short: "Explain a rule of the review: what it looks at, why, and how to reduce it",
		Long: `Print the page of a rule: what it looks at, why that matters, how severe it is and
when, how to reduce it, where it comes from, and a finding as an example. RULE is
a rule such as rbac-secrets-read, its reference such as RBAC-10,
or the id of a finding. Without RULE every rule is listed.`,
		Example: `  # Why reading Secrets is critical, and when it is less
  kubectl operator explain rbac-secrets-read

  # Every rule, for a script
  kubectl operator explain -o json`,
		Args: rangeArgs(0, 1, "RULE or nothing"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if len(args) == 0 {
				return a.listRules(output.format)
			}
			return a.explain(args[0], output.format)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, page := range pages.All() {
				names = append(names, page.Rule)
			}
			return safeNames(names, prefix), cobra.ShellCompDirectiveNoFileComp
		},
	}
	output.add(cmd)
	return cmd
}

func (c console) listRules(format string) error {
	all := pages.All()
	rows := [][]string{{"RULE", "REF", "AT MOST", "FINDS"}}
	for _, page := range all {
		rows = append(rows, []string{page.Rule, page.Ref, string(page.Severity), page.Title})
	}
	return c.printItems(format, items[pages.Page]{Items: all}, rows)
}

// explain prints the page of a rule, or of the few rules that share a reference
// such as RBAC-10.
func (c console) explain(word, format string) error {
	book := pages.New()
	found := book.Find(word)
	if len(found) == 0 {
		return unknownRule(word)
	}
	switch {
	case format == "json" && len(found) == 1:
		return c.printJSON(found[0])
	case format == "json":
		return c.printJSON(items[pages.Page]{Items: found})
	}
	for i, page := range found {
		if i > 0 {
			c.streams.Printf("\n")
		}
		if err := pages.WriteText(c.streams.Human(), page, c.streams.Width()); err != nil {
			return err
		}
	}
	return nil
}

func unknownRule(word string) error {
	word = textsafe.Clip(word, 80)
	if near := rules.Near(word); len(near) > 0 {
		return usagef("there is no rule %s; near are %s", word, strings.Join(near, ", "))
	}
	return usagef("there is no rule %s; explain without RULE lists them", word)
}
