package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/olmcluster"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/olmplugin"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
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
  kubectl operator catalog add operatorhub quay.io/operatorhubio/catalog:latest --priority 10

  # What it has of one package, and what would be installed
  kubectl operator catalog show operatorhub argocd-operator`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.newCatalogAddCommand(), a.newCatalogRemoveCommand(), a.newCatalogListCommand(), a.newCatalogShowCommand())
	return cmd
}

func (a *app) newCatalogAddCommand() *cobra.Command {
	var src planning.SourceOptions
	var priority int
	var target olmcluster.CatalogFlags
	var output documentOutput
	cmd := &cobra.Command{
		Use:   "add NAME REF",
		Short: "Configure a catalog",
		Long: `Read a catalog and add it to the configuration, under a NAME that --catalog takes
too. The rest of the file stays as it is.

With --in-cluster it is added to the cluster, for its OLM: a CatalogSource (olmv0) in
the namespace of -n, or a ClusterCatalog (olmv1), of the digest that the image has
now. The object is shown first; --yes creates it without asking.`,
		Example: `  # An image, whose tag is resolved anew each time
  kubectl operator catalog add operatorhub quay.io/operatorhubio/catalog:latest

  # A directory, which wins where both have a package
  kubectl operator catalog add ours ./catalog --priority 10

  # For the OLM of the cluster
  kubectl operator catalog add operatorhub quay.io/operatorhubio/catalog:latest --in-cluster olmv0 -n olm`,
		Args: rangeArgs(2, 2, "a NAME and REF"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := firstError(output.check(), target.Check(func(flag string) string { return olmplugin.Flag("catalog add", flag) })); err != nil {
				return err
			}
			if target.In != "" {
				return a.sourceSession(src).addClusterCatalog(cmd.Context(), &target, olmcluster.Catalog{Name: args[0], Image: args[1], Priority: priority}, output)
			}
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
	target.Add(cmd.Flags())
	target.AddTexts(cmd.Flags())
	addSourceFlags(cmd.Flags(), &src)
	output.add(cmd)
	return cmd
}

// olm returns the session of a command that writes objects of OLM.
func (p *session) olm() olmcluster.Session {
	a := p.app
	return olmcluster.Session{
		Reader:    func(ctx context.Context) (olmcluster.Reader, error) { return p.connect(ctx) },
		Writer:    func(ctx context.Context) (olmcluster.Writer, error) { return p.writer(ctx) },
		Namespace: cmp.Or(a.kube.Namespace(), a.kube.ContextNamespace()), In: a.streams.In, Out: a.streams.Human(),
		CanAsk: func() error { return a.checkCanPrompt("text", false, "--preview, then --yes") },
	}
}

// addClusterCatalog adds a catalog to the cluster, by the digest that its image has now.
// It reads the catalog first, as addCatalog does.
func (p *session) addClusterCatalog(ctx context.Context, target *olmcluster.CatalogFlags, added olmcluster.Catalog, output documentOutput) error {
	target.Silent = output.format != "text"
	a := p.app
	r, err := p.Resolver(a.progress())
	if err != nil {
		return err
	}
	opened, err := r.OpenNamed(ctx, planning.CatalogRef{Reference: added.Image})
	if err != nil {
		return err
	}
	if added.Image, err = olmcluster.PinnedImage(added.Image, opened.Origin().Digest); err != nil {
		return err
	}
	object, created, err := target.AddCatalog(ctx, p.olm(), added)
	if err != nil {
		return a.declined(err)
	}
	return a.printDocument(output, object, func() error {
		if created {
			a.streams.Printf("created %s: %d packages, %s\n", preview.RefOf(object).ID(), len(opened.Names()), opened.Origin().Digest)
		}
		return nil
	})
}

// declined returns the error of a question that was answered with no: a text and an exit
// code, as after a review.
func (c console) declined(err error) error {
	if errors.Is(err, olmcluster.ErrDeclined) {
		c.streams.Printf("Nothing was written.\n")
		return &silentExit{exitDeclined}
	}
	return err
}

// addCatalog adds a catalog to the configuration. It reads the catalog first,
// so that a misspelt reference fails now and not at the next install.
func (a *app) addCatalog(ctx context.Context, added config.Catalog, src planning.SourceOptions) error {
	if !ref.IsName(added.Name) {
		return usagef("catalog name %q: want lower-case letters, digits, \"-\" and \".\"", added.Name)
	}
	var err error
	if added.Reference, err = absolutePath(added.Reference); err != nil {
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
	r, err := a.sourceSession(src).Resolver(a.progress())
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

// absolutePath makes a path from the command line absolute, so that the
// configuration can be used from any working directory.
func absolutePath(text string) (string, error) {
	if _, ok, err := catalog.ParseServed(text); ok {
		return text, err
	}
	reference, err := ref.Parse(text)
	if err != nil {
		return "", usagef("%s", err)
	}
	if reference.Kind == ref.KindPackage {
		return "", usagef("catalog reference %q: want a directory (./DIR), an image (HOST/REPO:TAG), clustercatalog:NAME or catalogsource:NAMESPACE/NAME", text)
	}
	if reference.Path == "" {
		return text, nil
	}
	path, err := filepath.Abs(reference.Path)
	if err != nil {
		return "", err
	}
	return strings.Replace(text, reference.Path, path, 1), nil
}

func (a *app) newCatalogRemoveCommand() *cobra.Command {
	var target olmcluster.CatalogFlags
	var output documentOutput
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a catalog from the configuration",
		Long: `Remove a catalog from the configuration. What was installed from it stays.

With --in-cluster the CatalogSource (olmv0) or ClusterCatalog (olmv1) of that name is
shown, and deleted from the cluster.`,
		Example: `  # Stop using a catalog
  kubectl operator catalog remove operatorhub

  # Replace one
  kubectl operator catalog remove ours
  kubectl operator catalog add ours ./catalog-v2

  # From the cluster
  kubectl operator catalog remove operatorhub --in-cluster olmv0 -n olm`,
		Args: rangeArgs(1, 1, "the NAME of a catalog"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := firstError(output.check(), target.Check(func(string) string { return "" })); err != nil {
				return err
			}
			if target.In != "" {
				target.Silent = output.format != "text"
				object, deleted, err := target.RemoveCatalog(cmd.Context(), a.newSession().olm(), args[0])
				if err != nil {
					return a.declined(err)
				}
				return a.printDocument(output, object, func() error {
					if deleted {
						a.streams.Printf("deleted %s\n", preview.RefOf(object).ID())
					}
					return nil
				})
			}
			path, err := config.RemoveCatalog(a.getenv, args[0])
			if err != nil {
				return err
			}
			a.streams.Printf("removed %s from %s\n", args[0], path)
			return nil
		},
		ValidArgsFunction: a.completer().catalogs,
	}
	target.Add(cmd.Flags())
	output.add(cmd)
	return cmd
}

// catalogItem is one catalog in the output of the commands that list catalogs.
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
		Short: "List the configured catalogs and the catalogs of the cluster",
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
	cmd.Flags().BoolP("all-namespaces", "A", false, "list the CatalogSources of all namespaces, which is the default")
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
	return a.printDocument(output, list, func() error { return streams.Table(a.streams.Human(), rows) })
}

func (a *app) newCatalogShowCommand() *cobra.Command {
	var output documentOutput
	var src planning.SourceOptions
	var want planning.Selection
	cmd := &cobra.Command{
		Use:   "show NAME [PACKAGE]",
		Short: "Show what a catalog has, and what would be chosen of a package",
		Long: `List the packages of a catalog: a configured NAME, or whatever --catalog takes.
With PACKAGE show its channels, versions, upgrade edges and deprecations, and
which version an install would choose and why.`,
		Example: `  # Its packages
  kubectl operator catalog show operatorhub

  # Every version of one, and what a range would lead to
  kubectl operator catalog show operatorhub argocd-operator --version '>=0.8 <1' --channel alpha`,
		Args: rangeArgs(1, 2, "the NAME of a catalog and, if you like, PACKAGE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			want.Catalogs = args[:1]
			return a.showCatalog(cmd.Context(), want, argument(args, 1), src, output)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return a.completer().packages(&planning.Selection{Catalogs: args}, &src)(cmd, nil, prefix)
			}
			return a.completer().catalogs(cmd, args, prefix)
		},
	}
	cmd.Flags().StringVarP(&want.Version, "version", "v", "", "version or range to choose, such as 1.10.0 or '>=1.8 <2'")
	cmd.Flags().StringVarP(&want.Channel, "channel", "c", "", "channel to choose from (default: the package's default channel)")
	addSourceFlags(cmd.Flags(), &src)
	output.add(cmd)
	return cmd
}

func (a *app) showCatalog(ctx context.Context, want planning.Selection, name string, src planning.SourceOptions, output documentOutput) error {
	if name != "" {
		return a.showPackage(ctx, want, name, src, output, false)
	}
	if want.Version != "" || want.Channel != "" {
		return usagef("--version and --channel choose within a package; say which")
	}
	opened, err := a.openCatalogs(ctx, want.Catalogs, src)
	if err != nil {
		return err
	}
	hits := catalog.Search(opened, "")
	return a.printDocument(output, items[catalog.Hit]{Items: hits}, func() error { return streams.Table(a.streams.Human(), hitRows(hits, len(opened))) })
}

func (a *app) openCatalogs(ctx context.Context, names []string, src planning.SourceOptions) ([]*catalog.Catalog, error) {
	r, err := a.sourceSession(src).Resolver(a.progress())
	if err != nil {
		return nil, err
	}
	return r.Catalogs(ctx, names)
}

// showPackage prints a package of the catalogs that are wanted; whole prints all of its
// description.
func (a *app) showPackage(ctx context.Context, want planning.Selection, name string, src planning.SourceOptions, output documentOutput, whole bool) error {
	reference, err := ref.Parse(name)
	if err != nil || reference.Kind != ref.KindPackage {
		return usagef("package %q: want a name, such as mongodb", name)
	}
	query, err := want.Query(reference)
	if err != nil {
		return err
	}
	opened, err := a.openCatalogs(ctx, want.Catalogs, src)
	if err != nil {
		return err
	}
	shown, err := chooseInCatalogs(opened, query)
	if err != nil {
		return err
	}
	return a.printDocument(output, shown, func() error { return shown.Write(a.streams.Human(), whole) })
}

// hitRows returns packages as rows of a table, with their catalogs if there are several.
func hitRows(hits []catalog.Hit, catalogs int) [][]string {
	rows := [][]string{{"PACKAGE", "CHANNEL", "VERSION", "CATALOG", "DESCRIPTION"}}
	for _, h := range hits {
		rows = append(rows, []string{h.Package, h.DefaultChannel, h.Version, h.Catalog.Reference, textsafe.Clip(h.Remark(), 80)})
	}
	for i := range rows {
		if catalogs == 1 {
			rows[i] = slices.Delete(rows[i], 3, 4)
		}
	}
	return rows
}

func (a *app) newDescribeCommand() *cobra.Command {
	var output documentOutput
	var src planning.SourceOptions
	var want planning.Selection
	var whole bool
	cmd := &cobra.Command{
		Use:   "describe PACKAGE",
		Short: "Show a package of the catalogs: channels, versions, and what would be chosen",
		Long: `Show the channels, versions, upgrade edges and deprecations of a package, and which
version an install would choose and why, in the catalog that it would choose it from.
It is "catalog show" without the name of a catalog. How a release is, is shown by status.`,
		Example: `  # Of the catalogs that are configured, or those of the cluster
  kubectl operator describe argocd-operator

  # Of one catalog and channel, with the whole text of the publisher
  kubectl operator describe argocd-operator -c quay.io/operatorhubio/catalog:latest -C alpha -L`,
		Args: rangeArgs(1, 1, "a PACKAGE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			want.Catalogs = olmplugin.Catalogs(want.Catalogs)
			return a.showPackage(cmd.Context(), want, args[0], src, output, whole)
		},
		ValidArgsFunction: a.completer().packages(&want, &src),
	}
	addCatalogFlag(cmd.Flags(), &want.Catalogs, "c")
	cmd.Flags().StringVarP(&want.Channel, "channel", "C", "", "channel to choose from (default: the package's default channel)")
	cmd.Flags().StringVarP(&want.Version, "version", "v", "", "version or range to choose, such as 1.10.0 or '>=1.8 <2'")
	cmd.Flags().BoolVarP(&whole, "with-long-description", "L", false, "print the whole description, not only its beginning")
	addSourceFlags(cmd.Flags(), &src)
	output.add(cmd)
	return cmd
}

func (a *app) newSearchCommand() *cobra.Command {
	var output itemsOutput
	var src planning.SourceOptions
	var catalogs []string
	cmd := &cobra.Command{
		Use:     "search [TERM]",
		Aliases: []string{"list-available"},
		Short:   "Find packages in catalogs",
		Long: `List the packages of the catalogs whose name, description, provider or keywords
hold TERM, with the default channel and the version at its head.`,
		Example: `  # Everything in a catalog
  kubectl operator search --catalog quay.io/operatorhubio/catalog:latest

  # Packages about databases, in two catalogs
  kubectl operator search database --catalog ./ours --catalog ./theirs`,
		Args: rangeArgs(0, 1, "TERM or nothing"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return a.search(cmd.Context(), argument(args, 0), olmplugin.Catalogs(catalogs), src, output.format)
		},
	}
	addCatalogFlag(cmd.Flags(), &catalogs, "c")
	addSourceFlags(cmd.Flags(), &src)
	output.add(cmd)
	return cmd
}

func (a *app) search(ctx context.Context, term string, names []string, src planning.SourceOptions, output string) error {
	loaded, err := a.openCatalogs(ctx, names, src)
	if err != nil {
		return err
	}
	hits := catalog.Search(loaded, term)
	return a.printItems(output, items[catalog.Hit]{Items: hits}, hitRows(hits, len(loaded)))
}
