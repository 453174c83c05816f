package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

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
  kubectl operator catalog show community

  # Every version of one, and what a range would lead to
  kubectl operator catalog show community mongodb --version '>=1.8 <2' --channel candidate`,
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
				return a.completePackages(&planning.Selection{Catalogs: args}, &src)(cmd, nil, prefix)
			}
			return a.completeCatalogs(cmd, args, prefix)
		},
	}
	cmd.Flags().StringVar(&want.Version, "version", "", "version or range to choose, such as 1.10.0 or '>=1.8 <2'")
	cmd.Flags().StringVar(&want.Channel, "channel", "", "channel to choose from (default: the package's default channel)")
	addSourceFlags(cmd.Flags(), &src)
	output.add(cmd)
	return cmd
}

func (a *app) showCatalog(ctx context.Context, want planning.Selection, name string, src planning.SourceOptions, output documentOutput) error {
	if name == "" && (want.Version != "" || want.Channel != "") {
		return usagef("--version and --channel choose within a package; say which")
	}
	r, err := a.sourced(src).Resolver(a.progress())
	if err != nil {
		return err
	}
	opened, err := r.Catalogs(ctx, want.Catalogs)
	if err != nil {
		return err
	}
	if name == "" {
		hits := catalog.Search(opened, "")
		return a.printDocument(output, items[catalog.Hit]{Items: hits}, func() error { return table(a.streams.Human(), hitRows(hits)) })
	}
	reference, err := ref.Parse(name)
	if err != nil || reference.Kind != ref.KindPackage {
		return usagef("package %q: want a name, such as mongodb", name)
	}
	query, err := want.Query(reference)
	if err != nil {
		return err
	}
	choice, err := catalog.Resolve(opened, query)
	if err != nil && !opened[0].Has(query.Package) {
		return err
	}
	p, packageErr := opened[0].Package(query.Package)
	if packageErr != nil {
		return packageErr
	}
	shown := describePackage(p, opened[0].Origin())
	if err != nil {
		shown.Chosen.Problem = err.Error()
	} else {
		shown.Chosen = chosenOf(choice, catalog.LookAlikes(opened, choice))
	}
	return a.printDocument(output, shown, func() error { return a.printPackage(shown) })
}

// hitRows are packages as a table.
func hitRows(hits []catalog.Hit) [][]string {
	rows := [][]string{{"PACKAGE", "CHANNEL", "VERSION", "CATALOG", "DESCRIPTION"}}
	for _, h := range hits {
		rows = append(rows, []string{h.Package, h.DefaultChannel, h.Version, h.Catalog.Reference, clipped(hitNote(h), 80)})
	}
	return rows
}

// hitNote is what a list says of a package: what speaks against it first.
func hitNote(h catalog.Hit) string {
	switch {
	case h.Problem != "":
		return "unusable: " + h.Problem
	case h.Deprecated != "":
		return "deprecated: " + h.Deprecated
	}
	return h.Description
}

// shownPackage is a package as catalog show prints it. Texts are hostile.
type shownPackage struct {
	Name           string         `json:"name"`
	Catalog        catalog.Origin `json:"catalog"`
	Publisher      string         `json:"publisher,omitempty"`
	Description    string         `json:"description,omitempty"`
	Deprecated     string         `json:"deprecated,omitempty"`
	DefaultChannel string         `json:"defaultChannel"`
	Channels       []shownChannel `json:"channels"`
	Chosen         shownChoice    `json:"chosen"`
}

type shownChannel struct {
	Name       string         `json:"name"`
	Heads      []string       `json:"heads"`
	Deprecated string         `json:"deprecated,omitempty"`
	Versions   []shownVersion `json:"versions"` // highest first
}

type shownVersion struct {
	Version    string   `json:"version"`
	Bundle     string   `json:"bundle"`
	Image      string   `json:"image"`
	Replaces   string   `json:"replaces,omitempty"`
	Skips      []string `json:"skips,omitempty"`
	SkipRange  string   `json:"skipRange,omitempty"`
	Deprecated string   `json:"deprecated,omitempty"`
}

type shownChoice struct {
	Version    string             `json:"version,omitempty"`
	Bundle     string             `json:"bundle,omitempty"`
	Channel    string             `json:"channel,omitempty"`
	Image      string             `json:"image,omitempty"`
	Why        string             `json:"why,omitempty"`
	Rejected   []preview.Rejected `json:"rejected,omitempty"`
	LookAlikes []string           `json:"lookAlikes,omitempty"`
	Problem    string             `json:"problem,omitempty"` // why nothing is
}

func chosenOf(c *catalog.Choice, alike []catalog.LookAlike) shownChoice {
	out := shownChoice{Version: c.Version, Bundle: c.Bundle, Channel: c.Channel, Image: c.Image, Why: c.Why, Rejected: c.Rejected}
	for _, l := range alike {
		out.LookAlikes = append(out.LookAlikes, l.String())
	}
	return out
}

func describePackage(p *catalog.Package, origin catalog.Origin) shownPackage {
	out := shownPackage{
		Name: p.Name, Catalog: origin, Publisher: p.Publisher(), Description: strings.TrimSpace(p.Description),
		Deprecated: p.Deprecated, DefaultChannel: p.DefaultChannel, Channels: []shownChannel{},
	}
	for i := range p.Channels {
		c := &p.Channels[i]
		channel := shownChannel{Name: c.Name, Heads: c.Heads, Deprecated: c.Deprecated}
		entries := map[string]catalog.Entry{}
		for _, e := range c.Entries {
			entries[e.Name] = e
		}
		for _, b := range p.Versions(c) {
			e := entries[b.Name]
			channel.Versions = append(channel.Versions, shownVersion{
				Version: b.Version.String(), Bundle: b.Name, Image: b.Image, Deprecated: b.Deprecated,
				Replaces: e.Replaces, Skips: e.Skips, SkipRange: e.SkipRange,
			})
		}
		out.Channels = append(out.Channels, channel)
	}
	return out
}

func (out console) printPackage(p shownPackage) error {
	line := func(name, text string) {
		if text != "" {
			out.streams.Printf("%-12s%s\n", name, textsafe.Line(text))
		}
	}
	line("package", p.Name)
	line("publisher", p.Publisher)
	line("catalog", p.Catalog.Reference+"  "+p.Catalog.Digest)
	line("about", clipped(strings.ReplaceAll(p.Description, "\n", " "), 200))
	line("deprecated", p.Deprecated)
	if p.Chosen.Problem != "" {
		line("chosen", "nothing: "+p.Chosen.Problem)
	} else {
		line("chosen", p.Chosen.Version+" of channel "+p.Chosen.Channel+": "+p.Chosen.Why)
		line("", p.Chosen.Image)
	}
	for _, warning := range p.Chosen.LookAlikes {
		line("note", warning)
	}
	for _, c := range p.Channels {
		name := c.Name
		if name == p.DefaultChannel {
			name += " (the default)"
		}
		out.streams.Printf("\nchannel %s\n", textsafe.Line(name))
		line("deprecated", c.Deprecated)
		rows := [][]string{{"VERSION", "BUNDLE", "UPGRADES FROM", "NOTE"}}
		for _, v := range c.Versions {
			rows = append(rows, []string{v.Version, v.Bundle, v.upgradesFrom(), v.note(c)})
		}
		if err := table(out.streams.Human(), rows); err != nil {
			return err
		}
	}
	return nil
}

// upgradesFrom names the upgrade edges that lead to a version.
func (v shownVersion) upgradesFrom() string {
	var parts []string
	if v.Replaces != "" {
		parts = append(parts, v.Replaces)
	}
	const most = 3
	for i, s := range v.Skips {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more", len(v.Skips)-most))
			break
		}
		parts = append(parts, s)
	}
	if v.SkipRange != "" {
		parts = append(parts, "versions "+v.SkipRange)
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func (v shownVersion) note(c shownChannel) string {
	var parts []string
	if slices.Contains(c.Heads, v.Bundle) {
		parts = append(parts, "head")
	}
	if v.Deprecated != "" {
		parts = append(parts, "deprecated: "+clipped(v.Deprecated, 80))
	}
	return strings.Join(parts, ", ")
}
