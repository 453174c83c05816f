package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func (a *app) newVersionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program and of its risk rules",
		Example: `  # For a person
  kubectl operator version

  # For a script
  kubectl operator version -o json`,
		Args: rangeArgs(0, 0, "none"),
		RunE: func(*cobra.Command, []string) error {
			switch output {
			case "text":
				a.streams.Printf("kubectl-operator %s (ruleset %d, %s %s/%s)\n", a.version, preview.Ruleset, runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return nil
			case "json":
				return a.printJSON(map[string]any{
					"version": a.version, "ruleset": preview.Ruleset, "go": runtime.Version(),
					"platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			return usagef("-o %s: want text or json", output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "output format: text or json")
	offer(cmd.Flags(), "text", "json")
	return cmd
}
