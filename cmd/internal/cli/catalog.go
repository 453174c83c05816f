package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

func (a *app) newCatalogCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "Manage the catalogs that packages are found in",
		Long: `Catalogs are file-based catalogs: a directory or an image. Packages are looked up
in those of --catalog, else in those that are configured here, else in those of
the cluster. Of catalogs that have the same package the higher priority decides;
equal priorities are an error.`,
		Example: `  # Use a catalog from now on, before others that have the same packages
  kubectl operator catalog add community registry.example.com/catalogs/community:latest --priority 10

  # What it has of one package, and what would be installed
  kubectl operator catalog show community mongodb`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.newCatalogAddCommand(), a.newCatalogRemoveCommand(), a.newCatalogListCommand(), a.newCatalogShowCommand())
	return cmd
}

func (a *app) newCatalogAddCommand() *cobra.Command {
	var src planning.SourceOptions
	var priority int
	cmd := &cobra.Command{
		Use:   "add NAME REF",
		Short: "Configure a catalog",
		Long: `Read a catalog and add it to the configuration, under a NAME that --catalog takes
too. The rest of the file stays as it is.`,
		Example: `  # An image, whose tag is resolved anew each time
  kubectl operator catalog add community registry.example.com/catalogs/community:latest

  # A directory, which wins where both have a package
  kubectl operator catalog add ours ./catalog --priority 10`,
		Args: rangeArgs(2, 2, "a NAME and REF"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.addCatalog(cmd.Context(), config.Catalog{Name: args[0], Reference: args[1], Priority: priority}, src)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	cmd.Flags().IntVar(&priority, "priority", 0, "decides between catalogs that have the same package; the higher wins")
	addSourceFlags(cmd.Flags(), &src)
	return cmd
}

// addCatalog reads the catalog before it is written down: a misspelt reference
// is found now and not at the next install.
func (a *app) addCatalog(ctx context.Context, added config.Catalog, src planning.SourceOptions) error {
	if !ref.IsName(added.Name) {
		return usagef("catalog name %q: want lower-case letters, digits, \"-\" and \".\"", added.Name)
	}
	var err error
	if added.Reference, err = absolute(added.Reference); err != nil {
		return err
	}
	configured, err := a.config()
	if err != nil {
		return err
	}
	for _, c := range configured.Catalogs {
		if c.Name == added.Name {
			return usagef("catalog %s is configured already, as %s; remove it first", c.Name, c.Reference)
		}
	}
	r, err := a.sourced(src).Resolver(a.progress())
	if err != nil {
		return err
	}
	opened, err := r.OpenNamed(ctx, planning.CatalogRef{Reference: added.Reference, Priority: added.Priority})
	if err != nil {
		return err
	}
	path, err := config.AddCatalog(a.getenv, added)
	if err != nil {
		return err
	}
	a.streams.Printf("added %s to %s: %d packages, %s\n", added.Name, path, len(opened.Names()), opened.Origin().Digest)
	return nil
}

// absolute makes a path of the command line mean the same from everywhere.
func absolute(text string) (string, error) {
	if _, ok, err := catalog.ParseServed(text); ok {
		return text, err
	}
	reference, err := ref.Parse(text)
	if err != nil {
		return "", usagef("%s", err)
	}
	switch reference.Kind {
	case ref.KindPackage:
		return "", usagef("catalog reference %q: want a directory (./DIR), an image (HOST/REPO:TAG), clustercatalog:NAME or catalogsource:NAMESPACE/NAME", text)
	case ref.KindDirectory, ref.KindLayout, ref.KindArchive:
		if reference.Path == "" {
			return text, nil
		}
		path, err := filepath.Abs(reference.Path)
		if err != nil {
			return "", err
		}
		return strings.Replace(text, reference.Path, path, 1), nil
	}
	return text, nil
}

func (a *app) newCatalogRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a catalog from the configuration",
		Long:  `Remove a catalog from the configuration. What was installed from it stays.`,
		Example: `  # It is not looked in any more
  kubectl operator catalog remove community

  # Replace one
  kubectl operator catalog remove ours
  kubectl operator catalog add ours ./catalog-v2`,
		Args: rangeArgs(1, 1, "the NAME of a catalog"),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := config.RemoveCatalog(a.getenv, args[0])
			if err != nil {
				return err
			}
			a.streams.Printf("removed %s from %s\n", args[0], path)
			return nil
		},
		ValidArgsFunction: a.completeCatalogs,
	}
}

// completeCatalogs offers the names of configured catalogs.
func (a *app) completeCatalogs(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	configured, err := a.config()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, c := range configured.Catalogs {
		names = append(names, c.Name)
	}
	return safeNames(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

// catalogItem is one catalog in lists.
type catalogItem struct {
	Name      string `json:"name"`
	From      string `json:"from"` // configuration, or the kind of object in the cluster
	Reference string `json:"reference"`
	Priority  int    `json:"priority"`
	Problem   string `json:"problem,omitempty"` // why it cannot be used
}

func (a *app) newCatalogListCommand() *cobra.Command {
	var output documentOutput
	var offline bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the catalogs that are configured, and those of the cluster",
		Long: `List the configured catalogs, and the ClusterCatalogs and CatalogSources of the
cluster, which are looked in when none is configured or named. The NAME of each
is what --catalog takes.`,
		Example: `  # All of them, and which cannot be used
  kubectl operator catalog list

  # Only the configured ones, for a script
  kubectl operator catalog list --offline -o json`,
		Args: rangeArgs(0, 0, "none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return a.listCatalogs(cmd.Context(), offline, output)
		},
	}
	cmd.Flags().BoolVar(&offline, "offline", false, "list the configured catalogs alone; contact no cluster")
	output.add(cmd)
	return cmd
}

func (a *app) listCatalogs(ctx context.Context, offline bool, output documentOutput) error {
	configured, err := a.config()
	if err != nil {
		return err
	}
	list := items[catalogItem]{Items: []catalogItem{}}
	for _, c := range configured.Catalogs {
		list.Items = append(list.Items, catalogItem{Name: c.Name, From: "configuration", Reference: c.Reference, Priority: c.Priority})
	}
	if !offline {
		p := a.newSession()
		for _, kind := range planning.ServedKinds() {
			found, err := p.ServedCatalogs(ctx, kind)
			if err != nil {
				a.streams.Errorf("note: %s\n", err)
				if _, connectErr := p.connect(ctx); connectErr != nil {
					break // it would only be said again
				}
			}
			for _, s := range found {
				list.Items = append(list.Items, catalogItem{Name: s.Reference(), From: s.Kind, Reference: s.Image, Priority: s.Priority, Problem: s.Problem})
			}
		}
	}
	rows := [][]string{{"NAME", "FROM", "PRIORITY", "REFERENCE"}}
	for _, c := range list.Items {
		reference := c.Reference
		if c.Problem != "" {
			reference = "unusable: " + c.Problem
		}
		rows = append(rows, []string{c.Name, c.From, fmt.Sprint(c.Priority), reference})
	}
	return a.printDocument(output, list, func() error { return table(a.streams.Human(), rows) })
}
