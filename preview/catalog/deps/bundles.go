package deps

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// bundles returns the bundles of a package that are in any of its channels, most
// preferred first. A package that cannot be read has none; its error is kept for the
// explanation.
func (u *universe) bundles(ctx context.Context, source int, name string) ([]*candidate, error) {
	key := packageKey{source, name}
	if known, ok := u.packages[key]; ok {
		return known, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var out []*candidate
	p, err := u.problem.Sources[source].Catalog.Package(name)
	if err != nil {
		u.broken[key] = err
	} else {
		out = u.decode(source, p)
	}
	u.packages[key] = out
	return out, nil
}

// decode returns the bundles of a package in order of preference: the default channel's
// first, in each channel the head first and skipped bundles last.
func (u *universe) decode(source int, p *catalog.Package) []*candidate {
	channels := make([]*catalog.Channel, len(p.Channels))
	for i := range p.Channels {
		channels[i] = &p.Channels[i]
	}
	slices.SortStableFunc(channels, func(a, b *catalog.Channel) int {
		return cmp.Or(preview.FalseFirst(a.Name != p.DefaultChannel, b.Name != p.DefaultChannel), strings.Compare(a.Name, b.Name))
	})
	var out []*candidate
	seen := map[string]bool{}
	for _, channel := range channels {
		for i, b := range inOrder(p, channel) {
			if seen[b.Name] {
				continue
			}
			seen[b.Name] = true
			at := preference{index: i}
			if channel.Name != p.DefaultChannel {
				at.other, at.channel = true, channel.Name
			}
			out = append(out, u.candidate(source, p, channel, b, at))
		}
	}
	return out
}

func inOrder(p *catalog.Package, channel *catalog.Channel) []*catalog.Bundle {
	skipped := map[string]bool{}
	for _, e := range channel.Entries {
		for _, name := range e.Skips {
			skipped[name] = true
		}
	}
	out := p.Versions(channel)
	slices.SortStableFunc(out, func(a, b *catalog.Bundle) int {
		return cmp.Or(
			preview.FalseFirst(!slices.Contains(channel.Heads, a.Name), !slices.Contains(channel.Heads, b.Name)),
			preview.FalseFirst(skipped[a.Name], skipped[b.Name]))
	})
	return out
}

func (u *universe) candidate(source int, p *catalog.Package, channel *catalog.Channel, b *catalog.Bundle, at preference) *candidate {
	c := &candidate{bundleFacts: &bundleFacts{pkg: p.Name}, order: b.Version, source: source, place: at, bundle: b}
	c.choice = catalog.Choice{
		Package: p.Name, Bundle: b.Name, Version: b.Version.String(), Channel: channel.Name, Image: b.Image,
		Catalog: u.problem.Sources[source].Catalog.Origin(),
	}
	for _, message := range []string{b.Deprecated, channel.Deprecated, p.Deprecated} {
		if message != "" {
			c.choice.Deprecated = append(c.choice.Deprecated, message)
		}
	}
	_, c.version, _ = parseVersion(b.Version.String())
	return c
}

// excludes reports whether a bundle cannot meet the requirement by its package and
// version alone, without reading its properties.
func (r *requirement) excludes(c *candidate) bool {
	return r.kind == isPackage && (c.pkg != r.pkg || !r.contains(c.version))
}

// fill reads the properties of a bundle, if that was not done yet. A fault in them is
// kept as the bundle's problem; too many bundles are an error.
func (u *universe) fill(c *candidate) error {
	if c.bundle == nil || c.filled {
		return nil
	}
	if u.examined++; u.examined > maxExamined {
		return errTooMany
	}
	c.filled = true
	if err := c.read(u.rules); err != nil {
		c.problem = err.Error()
	}
	return nil
}

// read decodes the bundle's properties. An error means that the bundle cannot be used.
func (c *candidate) read(rules *celRules) error {
	properties, err := c.bundle.Properties()
	if err != nil {
		return err
	}
	f, err := readProperties(properties, rules)
	if err != nil {
		return err
	}
	if f.withdrawn {
		return fmt.Errorf("it is withdrawn (%s)", typeDeprecated)
	}
	f.pkg, f.version = c.pkg, c.version
	c.bundleFacts = f
	_, err = ref.Parse("oci://" + c.bundle.Image)
	return err
}

// providers returns the packages with a bundle that provides an API, sorted. The root
// is always among them.
func (u *universe) providers(api API) ([]string, error) {
	var out []string
	for _, s := range u.problem.Sources {
		names, err := s.Catalog.Providers(api.Group, api.Version, api.Kind)
		if err != nil {
			return nil, err
		}
		out = union(out, names)
	}
	return union(out, []string{u.root.pkg}), nil
}

func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

func intersect(a, b []string) []string {
	var out []string
	for _, name := range a {
		if slices.Contains(b, name) {
			out = append(out, name)
		}
	}
	return out
}
