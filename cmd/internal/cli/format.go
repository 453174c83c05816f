package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/preview/format/external"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

func (a *app) newFormatCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "format",
		Short: "Develop custom formats",
		Long: `A custom format is a program kubectl-operator-format-NAME that turns content
into objects. It reads a ResourceList of the KRM functions protocol from standard
input and writes one to standard output; --format NAME has it run.`,
		Example: `  # Does a program speak the protocol?
  kubectl operator format test ./kubectl-operator-format-env

  # What would it install?
  PATH=$PWD:$PATH
  kubectl operator preview ./settings --format env --offline

  # Try the program that the PATH has, with content that it knows
  kubectl operator format test env --sample ./settings`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.newFormatTestCommand())
	return cmd
}

func (a *app) newFormatTestCommand() *cobra.Command {
	var output itemsOutput
	var sample string
	cmd := &cobra.Command{
		Use:   "test PROGRAM",
		Short: "Test whether a program works as a format",
		Long: `Run a program, a path or the NAME of a kubectl-operator-format-NAME on the PATH,
with requests that it may accept or refuse properly - no files, a few, many, values
of every type, bytes that are no text - and with some that it must refuse. Its
answers must be a ResourceList, depend on nothing but the request, come in time and
leave nothing running. It runs with your permissions and is not sandboxed. Exit code 1
when a check fails.`,
		Example: `  # A program that is being written
  kubectl operator format test ./kubectl-operator-format-env

  # One of the PATH, which must accept this content; for a script
  kubectl operator format test env --sample ./settings -o json`,
		Args:              rangeArgs(1, 1, "a PROGRAM"),
		ValidArgsFunction: a.completer().programs(program.Format),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return a.testProgram(program.Format, args[0], output.format, func(p *program.Program) ([]program.Check, error) {
				return testFormat(cmd.Context(), p, sample)
			})
		},
	}
	cmd.Flags().StringVar(&sample, "sample", "", "directory of content that the program must accept")
	output.add(cmd)
	return cmd
}

// testFormat runs the checks of a format program, with the directory of a sample if one
// is named.
func testFormat(ctx context.Context, p *program.Program, sample string) ([]program.Check, error) {
	if sample == "" {
		return external.Conform(ctx, p, nil)
	}
	root, err := os.OpenRoot(sample)
	if err != nil {
		return nil, fmt.Errorf("reading --sample: %w", err)
	}
	defer func() { _ = root.Close() }()
	return external.Conform(ctx, p, root.FS())
}

// testProgram runs checks of a program, a path or a name, and prints them.
func (a *app) testProgram(kind program.Kind, named, output string, conform func(*program.Program) ([]program.Check, error)) error {
	at, name := named, "test"
	if !strings.ContainsRune(named, os.PathSeparator) {
		var err error
		if at, err = kind.Find(named, a.getenv("PATH")); err != nil {
			return fmt.Errorf("%w; for a file say ./%s", err, named)
		}
		name = named
	}
	p, err := kind.Open(name, at, kind.Limits())
	if err != nil {
		return err
	}
	a.progress()(p.Announcement())
	checks, err := conform(p)
	if err != nil {
		return err
	}
	rows := [][]string{{"CHECK", "RESULT", "TIME", "DETAIL"}}
	failed := 0
	for _, c := range checks {
		result := "ok"
		if !c.OK {
			result = "FAILED"
			failed++
		}
		rows = append(rows, []string{c.Name, result, fmt.Sprintf("%d ms", c.Milliseconds), textsafe.Clip(c.Detail, 120)})
	}
	if err := a.printItems(output, items[program.Check]{Items: checks}, rows); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %d checks failed", p.File, failed, len(checks))
	}
	return nil
}
