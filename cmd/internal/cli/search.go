package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

func (a *app) newSearchCommand() *cobra.Command {
	var output itemsOutput
	var src planning.SourceOptions
	var catalogs []string
	cmd := &cobra.Command{
		Use:   "search [TERM]",
		Short: "Find packages in catalogs",
		Long: `List the packages of the catalogs whose name, description, provider or keywords
hold TERM, with the default channel and the version at its head.`,
		Example: `  # Everything in a catalog
  kubectl operator search --catalog registry.example.com/catalogs/community:latest

  # What speaks of databases, in two catalogs
  kubectl operator search database --catalog ./ours --catalog ./theirs`,
		Args: rangeArgs(0, 1, "TERM or nothing"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return a.search(cmd.Context(), argument(args, 0), catalogs, src, output.format)
		},
	}
	addCatalogFlag(cmd.Flags(), &catalogs)
	addSourceFlags(cmd.Flags(), &src)
	output.add(cmd)
	return cmd
}

func (a *app) search(ctx context.Context, term string, names []string, src planning.SourceOptions, output string) error {
	p := a.sourced(src)
	r, err := p.Resolver(a.progress())
	if err != nil {
		return err
	}
	loaded, err := r.Catalogs(ctx, names)
	if err != nil {
		return err
	}
	hits := catalog.Search(loaded, term)
	return a.printItems(output, items[catalog.Hit]{Items: hits}, hitRows(hits))
}
