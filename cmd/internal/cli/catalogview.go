package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// catalogPackage is a package of a catalog. Its texts come from the
// catalog and are escaped before they are printed.
type catalogPackage struct {
	Name           string           `json:"name"`
	Catalog        catalog.Origin   `json:"catalog"`
	Publisher      string           `json:"publisher,omitempty"`
	Description    string           `json:"description,omitempty"`
	Deprecated     string           `json:"deprecated,omitempty"`
	DefaultChannel string           `json:"defaultChannel"`
	Channels       []catalogChannel `json:"channels"`
	Chosen         catalogChoice    `json:"chosen"`
}

// catalogChannel is a channel of a package.
type catalogChannel struct {
	Name       string           `json:"name"`
	Heads      []string         `json:"heads"`
	Deprecated string           `json:"deprecated,omitempty"`
	Versions   []catalogVersion `json:"versions"` // highest first
}

// catalogVersion is a version in a channel, with the edges that lead to it.
type catalogVersion struct {
	Version    string   `json:"version"`
	Bundle     string   `json:"bundle"`
	Image      string   `json:"image"`
	Replaces   string   `json:"replaces,omitempty"`
	Skips      []string `json:"skips,omitempty"`
	SkipRange  string   `json:"skipRange,omitempty"`
	Deprecated string   `json:"deprecated,omitempty"`
}

// catalogChoice is the version that an install would choose, or the problem why it chooses none.
type catalogChoice struct {
	Version    string                      `json:"version,omitempty"`
	Bundle     string                      `json:"bundle,omitempty"`
	Channel    string                      `json:"channel,omitempty"`
	Image      string                      `json:"image,omitempty"`
	Why        string                      `json:"why,omitempty"`
	Rejected   []preview.RejectedCandidate `json:"rejected,omitempty"`
	LookAlikes []string                    `json:"lookAlikes,omitempty"`
	Problem    string                      `json:"problem,omitempty"` // why nothing is
}

func newCatalogChoice(c *catalog.Choice, alike []catalog.LookAlike) catalogChoice {
	out := catalogChoice{Version: c.Version, Bundle: c.Bundle, Channel: c.Channel, Image: c.Image, Why: c.Why, Rejected: c.Rejected}
	for _, l := range alike {
		out.LookAlikes = append(out.LookAlikes, l.String())
	}
	return out
}

// chooseInCatalogs returns what is shown of the package that a query asks for, in the catalog that
// an install would take it from, or in the first that has it when it would take none. A
// package that no catalog has is an error.
func chooseInCatalogs(catalogs []*catalog.Catalog, query catalog.Query) (catalogPackage, error) {
	choice, chooseErr := catalog.Resolve(catalogs, query)
	home := slices.IndexFunc(catalogs, func(c *catalog.Catalog) bool {
		return c.Has(query.Package) && (chooseErr != nil || c.Origin() == choice.Catalog)
	})
	if home < 0 {
		return catalogPackage{}, chooseErr
	}
	p, err := catalogs[home].Package(query.Package)
	if err != nil {
		return catalogPackage{}, err
	}
	shown := describePackage(p, catalogs[home].Origin())
	if chooseErr != nil {
		shown.Chosen.Problem = chooseErr.Error()
	} else {
		shown.Chosen = newCatalogChoice(choice, catalog.LookAlikes(catalogs, choice))
	}
	return shown, nil
}

func describePackage(p *catalog.Package, origin catalog.Origin) catalogPackage {
	out := catalogPackage{
		Name: p.Name, Catalog: origin, Publisher: p.Publisher(), Description: strings.TrimSpace(p.Description),
		Deprecated: p.Deprecated, DefaultChannel: p.DefaultChannel, Channels: []catalogChannel{},
	}
	for i := range p.Channels {
		c := &p.Channels[i]
		channel := catalogChannel{Name: c.Name, Heads: c.Heads, Deprecated: c.Deprecated}
		entries := map[string]catalog.Entry{}
		for _, e := range c.Entries {
			entries[e.Name] = e
		}
		for _, b := range p.Versions(c) {
			e := entries[b.Name]
			channel.Versions = append(channel.Versions, catalogVersion{
				Version: b.Version.String(), Bundle: b.Name, Image: b.Image, Deprecated: b.Deprecated,
				Replaces: e.Replaces, Skips: e.Skips, SkipRange: e.SkipRange,
			})
		}
		out.Channels = append(out.Channels, channel)
	}
	return out
}

// Write writes the package as text for people, with its whole description or only the
// beginning.
func (p catalogPackage) Write(w io.Writer, whole bool) error {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-12s%s\n", name, textsafe.Line(text))
		}
	}
	line("package", p.Name)
	line("publisher", p.Publisher)
	line("catalog", p.Catalog.Reference+"  "+p.Catalog.Digest)
	if !whole {
		line("about", textsafe.Clip(strings.ReplaceAll(p.Description, "\n", " "), 200))
	}
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
	if whole && p.Description != "" {
		fmt.Fprintln(w)
		for text := range strings.Lines(p.Description) {
			fmt.Fprintln(w, textsafe.Line(strings.TrimRight(text, "\r\n")))
		}
	}
	for _, c := range p.Channels {
		name := c.Name
		if name == p.DefaultChannel {
			name += " (the default)"
		}
		fmt.Fprintf(w, "\nchannel %s\n", textsafe.Line(name))
		line("deprecated", c.Deprecated)
		rows := [][]string{{"VERSION", "BUNDLE", "UPGRADES FROM", "NOTE"}}
		for _, v := range c.Versions {
			rows = append(rows, []string{v.Version, v.Bundle, v.upgradesFrom(), v.note(c)})
		}
		if err := streams.Table(w, rows); err != nil {
			return err
		}
	}
	return nil
}

// upgradesFrom returns the versions that can be upgraded to this one, by upgrade edges.
func (v catalogVersion) upgradesFrom() string {
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

func (v catalogVersion) note(c catalogChannel) string {
	var parts []string
	if slices.Contains(c.Heads, v.Bundle) {
		parts = append(parts, "head")
	}
	if v.Deprecated != "" {
		parts = append(parts, "deprecated: "+textsafe.Clip(v.Deprecated, 80))
	}
	return strings.Join(parts, ", ")
}
