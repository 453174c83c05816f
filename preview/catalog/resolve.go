package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Query asks for one bundle of a package.
type Query struct {
	Package string
	Version string // Masterminds range; empty means the channel's head
	Channel string // empty means the default channel
	// Installed, when set, makes it an upgrade: only along the edges of the
	// channel, one at a time.
	Installed *Installed
}

// Installed is the bundle that an upgrade starts from.
type Installed struct {
	Bundle  string // bundle name, such as "mongodb-kubernetes.v1.9.0"
	Version string
}

// Choice is the bundle a query led to, and how.
type Choice struct {
	Package string
	Bundle  string
	Version string
	Channel string
	Image   string
	Catalog Origin
	// Why says in a few words what made it the choice.
	Why string
	// Deprecated are the messages of bundle, channel and package, in this
	// order, those that have one. Hostile text.
	Deprecated []string
	// Current is set when the installed bundle is already the best there is.
	Current bool
}

// Via is the choice as a step of a plan.
func (c *Choice) Via() preview.Via {
	return preview.Via{
		Kind: "catalog", Reference: c.Catalog.Reference, Digest: c.Catalog.Digest, Channel: c.Channel,
		Verification: c.Catalog.Verification,
	}
}

// Resolve finds the bundle a query means. A package that two catalogs have is
// an error, never a pick; a catalog that is given twice counts once.
func Resolve(cats []*Catalog, q Query) (*Choice, error) {
	var having []*Catalog
	for _, c := range cats {
		known := slices.ContainsFunc(having, func(h *Catalog) bool { return h.origin.Digest != "" && h.origin.Digest == c.origin.Digest })
		if _, ok := c.packages[q.Package]; ok && !known {
			having = append(having, c)
		}
	}
	switch len(having) {
	case 0:
		return nil, notFound(cats, q.Package)
	case 1:
	default:
		return nil, fmt.Errorf("package %q is in %d catalogs: %s; choose one with --catalog", q.Package, len(having), references(having))
	}
	p, err := having[0].Package(q.Package)
	if err != nil {
		return nil, err
	}
	choice, err := p.resolve(q)
	if err != nil {
		return nil, err
	}
	choice.Catalog = having[0].origin
	return choice, nil
}

func (p *Package) resolve(q Query) (*Choice, error) {
	channel, err := p.queryChannel(q.Channel)
	if err != nil {
		return nil, err
	}
	var wanted versionRange
	if q.Version != "" {
		if wanted, err = parseRange(q.Version); err != nil {
			return nil, err
		}
	}
	switch {
	case q.Installed != nil:
		return p.upgrade(channel, q, wanted)
	case q.Version != "":
		return p.pickVersion(channel, q, wanted)
	}
	why := fmt.Sprintf("head of channel %s", channel.Name)
	if n := len(channel.Heads); n > 1 {
		why = fmt.Sprintf("highest of the %d heads of channel %s", n, channel.Name)
	}
	return p.choose(channel, p.bundles[channel.Heads[0]], why)
}

func (p *Package) queryChannel(name string) (*Channel, error) {
	if name == "" {
		if name = p.DefaultChannel; name == "" {
			return nil, fmt.Errorf("package %q has no default channel; choose one with --channel: %s", p.Name, p.channelNames())
		}
	}
	if c := p.Channel(name); c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("package %q has no channel %q; it has %s", p.Name, name, p.channelNames())
}

func (p *Package) channelNames() string {
	var names []string
	for _, c := range p.Channels {
		names = append(names, c.Name)
	}
	return few(names)
}

func (p *Package) choose(c *Channel, b *Bundle, why string) (*Choice, error) {
	if err := b.checkImage(); err != nil {
		return nil, err
	}
	choice := &Choice{
		Package: p.Name, Bundle: b.Name, Version: b.Version.String(), Channel: c.Name, Image: b.Image, Why: why,
	}
	for _, message := range []string{b.Deprecated, c.Deprecated, p.Deprecated} {
		if message != "" {
			choice.Deprecated = append(choice.Deprecated, message)
		}
	}
	return choice, nil
}

// pickVersion takes the highest version in range; a deprecated one only when
// there is no other, as OLM v1 does.
func (p *Package) pickVersion(c *Channel, q Query, wanted versionRange) (*Choice, error) {
	all := p.Versions(c)
	if b := best(all, wanted); b != nil {
		return p.choose(c, b, fmt.Sprintf("highest version of channel %s in range %q", c.Name, q.Version))
	}
	err := fmt.Sprintf("package %q has no version %q in channel %q", p.Name, q.Version, c.Name)
	for i := range p.Channels {
		other := &p.Channels[i]
		if b := best(p.Versions(other), wanted); b != nil {
			return nil, fmt.Errorf("%s; channel %q has %s: --channel chooses it", err, other.Name, b.Version)
		}
	}
	return nil, fmt.Errorf("%s; it has %s", err, few(versions(all)))
}

// best returns the highest bundle in range from a list in falling order.
func best(list []*Bundle, wanted versionRange) *Bundle {
	var deprecated *Bundle
	for _, b := range list {
		switch {
		case !wanted.contains(b.Version):
		case b.Deprecated == "":
			return b
		case deprecated == nil:
			deprecated = b
		}
	}
	return deprecated
}

// upgrade goes along one edge of the channel: to the highest bundle in range
// that replaces, skips or skip-ranges over the installed one.
func (p *Package) upgrade(c *Channel, q Query, wanted versionRange) (*Choice, error) {
	installed, err := ParseVersion(q.Installed.Version)
	if err != nil {
		return nil, fmt.Errorf("the installed bundle %s: %w", q.Installed.Bundle, err)
	}
	edges := map[string]string{}
	for _, e := range c.Entries {
		if how := e.edgeFrom(q.Installed.Bundle, installed); how != "" {
			edges[e.Name] = how
		}
	}
	var successors []*Bundle
	for _, b := range p.Versions(c) {
		if edges[b.Name] != "" {
			successors = append(successors, b)
		}
	}
	if b := best(successors, wanted); b != nil {
		return p.choose(c, b, fmt.Sprintf("%s %s in channel %s", edges[b.Name], q.Installed.Bundle, c.Name))
	}
	if b := c.entry(p, q.Installed.Bundle); b != nil && wanted.contains(b.Version) {
		choice, err := p.choose(c, b, fmt.Sprintf("installed; channel %s has no upgrade of it", c.Name))
		if err == nil {
			choice.Current = true
		}
		return choice, err
	}
	return nil, p.noUpgrade(c, q, successors)
}

// edgeFrom says how an entry supersedes the installed bundle, empty when it
// does not.
func (e Entry) edgeFrom(bundle string, version Version) string {
	switch {
	case e.Name == bundle:
	case e.Replaces == bundle:
		return "replaces"
	case slices.Contains(e.Skips, bundle):
		return "skips"
	case inSkipRange(e.SkipRange, version):
		return "skips the range of"
	}
	return ""
}

func (c *Channel) entry(p *Package, bundle string) *Bundle {
	for _, e := range c.Entries {
		if e.Name == bundle {
			return p.bundles[bundle]
		}
	}
	return nil
}

func (p *Package) noUpgrade(c *Channel, q Query, successors []*Bundle) error {
	what := fmt.Sprintf("no edge of channel %q leads from %s", c.Name, q.Installed.Bundle)
	switch {
	case len(successors) > 0:
		return fmt.Errorf("%s to a version %q; it leads to %s", what, q.Version, few(versions(successors)))
	case q.Version != "":
		return fmt.Errorf("%s to a version %q; an image or directory as REF needs no edge", what, q.Version)
	}
	return errors.New(what + ", which is not in it either; --channel chooses another, an image or directory as REF needs no edge")
}

func versions(list []*Bundle) []string {
	var out []string
	for _, b := range list {
		out = append(out, b.Version.String())
	}
	return out
}

// few joins the first names of a list.
func few(names []string) string {
	const most = 5
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
