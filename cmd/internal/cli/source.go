package cli

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/source/byprogram"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

func (a *app) newSourceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "source",
		Short: "Develop custom sources",
		Long: `A custom source is a program kubectl-operator-source-NAME that fetches content. It
reads one request with an address, as JSON, from standard input and writes a tar of
the files to standard output; a reference source+NAME:ADDRESS has it run.`,
		Example: `  # Does a program speak the protocol?
  kubectl operator source test ./kubectl-operator-source-sums

  # What would it install?
  PATH=$PWD:$PATH
  kubectl operator preview source+sums:https://files.example.com/mongodb/SHA256SUMS --offline

  # Try the program that the PATH has, with an address that it has
  kubectl operator source test sums --sample https://files.example.com/mongodb/SHA256SUMS`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.newSourceTestCommand())
	return cmd
}

func (a *app) newSourceTestCommand() *cobra.Command {
	var output itemsOutput
	var sample string
	cmd := &cobra.Command{
		Use:   "test PROGRAM",
		Short: "Test whether a program works as a source",
		Long: `Run a program, a path or the NAME of a kubectl-operator-source-NAME on the PATH,
with requests that it must refuse, with an address that nothing has, and with
--sample. Its answer must be a tar within the limits of any archive, the same twice,
come in time and leave nothing running. It runs with your permissions and is not
sandboxed. Exit code 1 when a check fails.`,
		Example: `  # A program that is being written
  kubectl operator source test ./kubectl-operator-source-sums

  # One of the PATH, which must have this address; for a script
  kubectl operator source test sums --sample https://files.example.com/mongodb/SHA256SUMS -o json`,
		Args:              rangeArgs(1, 1, "a PROGRAM"),
		ValidArgsFunction: a.completer().programs(program.Source),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return a.testProgram(program.Source, args[0], output.format, func(p *program.Program) ([]program.Check, error) {
				return byprogram.Conform(cmd.Context(), p, sample, filetree.DefaultLimits())
			})
		},
	}
	cmd.Flags().StringVar(&sample, "sample", "", "address that the program must have, as after source+NAME:")
	output.add(cmd)
	return cmd
}
