package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// scope is the part of a package where a query looks: one or more of its channels.
type scope struct {
	*Package
	channels []*Channel
}

func (p *Package) resolve(q Query) (*Choice, error) {
	s, err := p.scope(q.Channels)
	if err != nil {
		return nil, err
	}
	wanted, err := parseRange(q.Version)
	if err != nil {
		return nil, err
	}
	if q.Installed == nil {
		return s.fresh(q, wanted)
	}
	installed, err := ParseVersion(q.Installed.Version)
	if err != nil {
		return nil, fmt.Errorf("the installed bundle %s: %w", q.Installed.Bundle, err)
	}
	from := upgradeStart{q.Installed.Bundle, installed}
	var choice *Choice
	switch q.Policy {
	case "", CatalogProvided:
		choice, err = s.upgrade(q, from, wanted)
	case SelfCertified:
		if choice, err = s.fresh(q, wanted); err == nil {
			choice.Current = choice.Bundle == q.Installed.Bundle
		}
	default:
		return nil, fmt.Errorf("upgrade policy %q: want %s or %s", q.Policy, CatalogProvided, SelfCertified)
	}
	if err != nil {
		return nil, err
	}
	if q.Version == "" && choice.bundle.Version.Compare(installed) < 0 {
		return nil, &DowngradeError{From: q.Installed.Version, To: choice.Version, Where: s.what()}
	}
	return choice, nil
}

// DowngradeError is the error for a query without a version whose answer is older than
// what is installed.
type DowngradeError struct {
	From, To string
	Where    string // such as "channel stable"
}

func (e *DowngradeError) Error() string {
	return fmt.Sprintf("%s leads from %s down to %s; a downgrade is planned only when its version is asked for: PACKAGE@%s", e.Where, e.From, e.To, e.To)
}

// scope returns the channels with the given names; without names, the default channel.
// An unknown channel is an error.
func (p *Package) scope(names []string) (scope, error) {
	s := scope{Package: p}
	if len(names) == 0 {
		if p.DefaultChannel == "" {
			return s, fmt.Errorf("package %q has no default channel; choose one with --channel: %s", p.Name, p.channelNames())
		}
		names = []string{p.DefaultChannel}
	}
	if slices.Contains(names, EveryChannel) {
		for i := range p.Channels {
			s.channels = append(s.channels, &p.Channels[i])
		}
		return s, nil
	}
	for _, name := range names {
		c := p.Channel(name)
		if c == nil {
			return s, fmt.Errorf("package %q has no channel %q; it has %s", p.Name, name, p.channelNames())
		}
		if !slices.Contains(s.channels, c) {
			s.channels = append(s.channels, c)
		}
	}
	return s, nil
}

func (p *Package) channelNames() string {
	var names []string
	for _, c := range p.Channels {
		names = append(names, c.Name)
	}
	return Few(names)
}

// what names the channels in words, for messages.
func (s scope) what() string {
	if len(s.channels) == 1 {
		return "channel " + s.channels[0].Name
	}
	var names []string
	for _, c := range s.channels {
		names = append(names, c.Name)
	}
	return "channels " + Few(names)
}

// bundles returns the bundles of the channels, highest version first.
func (s scope) bundles() []*Bundle {
	if len(s.channels) == 1 {
		return s.Versions(s.channels[0])
	}
	seen := map[string]bool{}
	var out []*Bundle
	for _, c := range s.channels {
		for _, b := range s.Versions(c) {
			if !seen[b.Name] {
				seen[b.Name] = true
				out = append(out, b)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *Bundle) int { return b.Version.Compare(a.Version) })
	return out
}

// channelOf returns the first channel that contains a bundle, nil if none does.
func (s scope) channelOf(bundle string) *Channel {
	for _, c := range s.channels {
		if slices.ContainsFunc(c.Entries, func(e Entry) bool { return e.Name == bundle }) {
			return c
		}
	}
	return nil
}

// fresh chooses a bundle for a new installation: the head of the channel or, with a
// version range, the highest version in it. A deprecated bundle is chosen only if there
// is no other, as in OLM v1.
func (s scope) fresh(q Query, wanted versionRange) (*Choice, error) {
	if q.Version == "" && len(s.channels) == 1 {
		c := s.channels[0]
		why := "head of " + s.what()
		if n := len(c.Heads); n > 1 {
			why = fmt.Sprintf("highest of the %d heads of %s: %s", n, s.what(), Few(c.Heads))
		}
		return s.choose(s.Bundle(c.Heads[0]), why)
	}
	all := s.bundles()
	b := highest(all, wanted)
	switch {
	case b == nil:
		return nil, s.noVersion(q, wanted, all)
	case q.Version == "":
		return s.choose(b, "highest version of "+s.what())
	}
	return s.choose(b, fmt.Sprintf("highest version of %s in range %q", s.what(), q.Version))
}

func (s scope) choose(b *Bundle, why string) (*Choice, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	channel := s.channelOf(b.Name)
	choice := &Choice{
		Package: s.Name, Bundle: b.Name, Version: b.Version.String(), Channel: channel.Name, Image: b.Image,
		DefaultChannel: s.DefaultChannel, Why: why, bundle: b, versions: len(s.Package.bundles),
	}
	for _, message := range []string{b.Deprecated, channel.Deprecated, s.Deprecated} {
		if message != "" {
			choice.Deprecated = append(choice.Deprecated, message)
		}
	}
	return choice, nil
}

func (s scope) noVersion(q Query, wanted versionRange, all []*Bundle) error {
	err := fmt.Sprintf("package %q has no version %q in %s", s.Name, q.Version, s.what())
	for i := range s.Channels {
		other := &s.Channels[i]
		if b := highest(s.Versions(other), wanted); b != nil {
			return fmt.Errorf("%s; channel %q has %s: --channel chooses it", err, other.Name, b.Version)
		}
	}
	return fmt.Errorf("%s; it has %s%s", err, Few(versions(all)), preReleaseHint(all, q.Version))
}

// preReleaseHint returns text for the error that no version matches a range: if there
// are only pre-releases and the range names none, they do not match. It is empty
// otherwise.
func preReleaseHint(all []*Bundle, wanted string) string {
	if len(all) == 0 || strings.Contains(wanted, "-") {
		return ""
	}
	for _, b := range all {
		if len(b.Version.number.Pre) == 0 {
			return ""
		}
	}
	return `; they are pre-releases, which a range means only when it names one, such as ">=0-0"`
}

// highest returns the highest bundle in range from a list sorted by descending version,
// nil if none is. A deprecated one is returned only if there is no other.
func highest(list []*Bundle, wanted versionRange) *Bundle {
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

func versions(list []*Bundle) []string {
	var out []string
	for _, b := range list {
		out = append(out, b.Version.String())
	}
	return out
}

// Few returns the first five names as text, and the number of the others.
func Few(names []string) string {
	const most = 5
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
