package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Package is one package of a catalog, decoded and valid.
type Package struct {
	Name           string
	DefaultChannel string
	Description    string    // as published; hostile text
	Deprecated     string    // message, empty when it is not
	Channels       []Channel // by name

	bundles map[string]*Bundle
}

// Channel is one channel of a package.
type Channel struct {
	Name       string
	Deprecated string
	Entries    []Entry // as published
	// Heads are the entries that no other one replaces or skips, highest
	// version first. A channel made by the rules has one.
	Heads []string
}

// Entry is an entry of a channel: a bundle, and the bundles that can be upgraded to it.
type Entry struct {
	Name      string
	Replaces  string
	Skips     []string
	SkipRange string // blang/semver range
}

// Channel returns the channel with a name, nil if there is none.
func (p *Package) Channel(name string) *Channel {
	for i := range p.Channels {
		if p.Channels[i].Name == name {
			return &p.Channels[i]
		}
	}
	return nil
}

// Bundle returns the bundle with a name, nil if there is none.
func (p *Package) Bundle(name string) *Bundle { return p.bundles[name] }

// Versions returns the bundles of the channel, highest version first.
func (p *Package) Versions(c *Channel) []*Bundle {
	var out []*Bundle
	for _, e := range c.Entries {
		out = append(out, p.bundles[e.Name])
	}
	slices.SortStableFunc(out, func(a, b *Bundle) int { return b.Version.Compare(a.Version) })
	return out
}

func decodePackage(name string, docs *documents) (*Package, error) {
	p := &Package{Name: name, bundles: map[string]*Bundle{}}
	if err := p.decodeHead(docs.pkg); err != nil {
		return nil, err
	}
	for _, d := range docs.bundles {
		b, err := readBundle(d)
		if err != nil {
			return nil, fmt.Errorf("bundle %q: %w", d.name, err)
		}
		if p.bundles[b.Name] != nil {
			return nil, fmt.Errorf("two bundles are named %q", b.Name)
		}
		p.bundles[b.Name] = b
	}
	for _, d := range docs.channels {
		c, err := decodeChannel(d)
		if err == nil {
			err = p.join(c)
		}
		if err != nil {
			return nil, fmt.Errorf("channel %q: %w", d.name, err)
		}
		if p.Channel(c.Name) != nil {
			return nil, fmt.Errorf("two channels are named %q", c.Name)
		}
		p.Channels = append(p.Channels, *c)
	}
	slices.SortFunc(p.Channels, func(a, b Channel) int { return strings.Compare(a.Name, b.Name) })
	if len(p.Channels) == 0 {
		return nil, errors.New("it has no channels")
	}
	if p.DefaultChannel != "" && p.Channel(p.DefaultChannel) == nil {
		return nil, fmt.Errorf("its default channel %q does not exist", p.DefaultChannel)
	}
	return p, p.decodeDeprecations(docs.deprecations)
}

func (p *Package) decodeHead(docs []document) error {
	if len(docs) != 1 {
		return fmt.Errorf("it has %d olm.package documents instead of one", len(docs))
	}
	fields, err := decodeDocument(docs[0])
	if err != nil {
		return err
	}
	p.Description = preview.String(fields, "description")
	p.DefaultChannel, err = text(fields, "defaultChannel")
	return err
}

// decodeDocument decodes a document, and returns an error unless its fields schema,
// package and name are those that the fast reading found.
func decodeDocument(d document) (map[string]any, error) {
	fields, err := decodeFields(d.raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.file, err)
	}
	for key, want := range map[string]string{"schema": d.schema, "package": d.pkg, "name": d.name} {
		got, err := text(fields, key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.file, err)
		}
		if got != want {
			return nil, fmt.Errorf("%s: field %s reads as %q and as %q; write it on one line", d.file, key, want, got)
		}
	}
	return fields, nil
}

// decodeChannel decodes a channel, without looking at its bundles. Its Heads are in the
// order of the entries, not yet by version.
func decodeChannel(d document) (*Channel, error) {
	fields, err := decodeDocument(d)
	if err != nil {
		return nil, err
	}
	if d.name == "" {
		return nil, errors.New("it has no name")
	}
	c := &Channel{Name: d.name}
	list, _ := fields["entries"].([]any)
	if len(list) == 0 {
		return nil, errors.New("it has no entries")
	}
	seen, superseded := map[string]bool{}, map[string]bool{}
	for _, item := range list {
		e, err := decodeEntry(item)
		if err != nil {
			return nil, err
		}
		if seen[e.Name] {
			return nil, fmt.Errorf("it has two entries %q", e.Name)
		}
		seen[e.Name] = true
		superseded[e.Replaces] = true
		for _, name := range e.Skips {
			superseded[name] = true
		}
		c.Entries = append(c.Entries, e)
	}
	for _, e := range c.Entries {
		if !superseded[e.Name] {
			c.Heads = append(c.Heads, e.Name)
		}
	}
	return c, c.checkCircles()
}

// checkCircles returns an error if entries of the channel replace each other in a
// circle, so that no version is the newest.
func (c *Channel) checkCircles() error {
	replaces := map[string]string{}
	for _, e := range c.Entries {
		replaces[e.Name] = e.Replaces
	}
	const walking, done = 1, 2
	state := map[string]int{}
	for _, e := range c.Entries {
		var walk []string
		name, known := e.Name, true
		for ; known && state[name] == 0; _, known = replaces[name] {
			state[name] = walking
			walk = append(walk, name)
			name = replaces[name]
		}
		if known && state[name] == walking {
			circle := walk[slices.Index(walk, name):]
			slices.Sort(circle)
			return fmt.Errorf("its entries %s replace each other in a circle", Few(circle))
		}
		for _, name := range walk {
			state[name] = done
		}
	}
	if len(c.Heads) == 0 {
		return errors.New("it has no head: its entries supersede each other in a circle")
	}
	return nil
}

// join returns an error unless the package has a bundle for each entry of a channel,
// and sorts the channel's heads, highest version first.
func (p *Package) join(c *Channel) error {
	for _, e := range c.Entries {
		if p.bundles[e.Name] == nil {
			return fmt.Errorf("its entry %q has no bundle", e.Name)
		}
	}
	slices.SortStableFunc(c.Heads, func(a, b string) int {
		return p.bundles[b].Version.Compare(p.bundles[a].Version)
	})
	return nil
}

func decodeEntry(item any) (Entry, error) {
	fields, ok := item.(map[string]any)
	if !ok {
		return Entry{}, errors.New("an entry that is no mapping")
	}
	var e Entry
	for key, to := range map[string]*string{"name": &e.Name, "replaces": &e.Replaces, "skipRange": &e.SkipRange} {
		value, err := text(fields, key)
		if err != nil {
			return Entry{}, fmt.Errorf("an entry: %w", err)
		}
		*to = value
	}
	if e.Name == "" {
		return Entry{}, errors.New("an entry has no name")
	}
	skips, _ := fields["skips"].([]any)
	for _, item := range skips {
		name, ok := item.(string)
		if !ok {
			return Entry{}, fmt.Errorf("entry %q: skips holds something else than names", e.Name)
		}
		e.Skips = append(e.Skips, name)
	}
	return e, nil
}

func (p *Package) decodeDeprecations(docs []document) error {
	if len(docs) > 1 {
		return fmt.Errorf("it has %d olm.deprecations documents; one is allowed", len(docs))
	}
	for _, d := range docs {
		fields, err := decodeDocument(d)
		if err != nil {
			return err
		}
		list, _ := fields["entries"].([]any)
		for _, item := range list {
			if err := p.deprecate(item); err != nil {
				return fmt.Errorf("deprecations: %w", err)
			}
		}
	}
	return nil
}

func (p *Package) deprecate(item any) error {
	entry, _ := item.(map[string]any)
	schema, name := preview.String(entry, "reference", "schema"), preview.String(entry, "reference", "name")
	var to *string
	switch schema {
	case schemaPackage:
		to = &p.Deprecated
	case schemaChannel:
		if c := p.Channel(name); c != nil {
			to = &c.Deprecated
		}
	case schemaBundle:
		if b := p.bundles[name]; b != nil {
			to = &b.Deprecated
		}
	}
	if to == nil {
		return fmt.Errorf("%s %q does not exist", schema, name)
	}
	message := preview.String(entry, "message")
	if message == "" || *to != "" {
		return fmt.Errorf("%s %q needs one message", schema, name)
	}
	*to = message
	return nil
}

// text returns a field that must be text; empty if it is missing.
func text(fields map[string]any, key string) (string, error) {
	switch value := fields[key].(type) {
	case nil:
		return "", nil
	case string:
		return value, nil
	}
	return "", fmt.Errorf("field %s is not text", key)
}
