package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// maxEdgeChecks is how many comparisons of channel entries a search for upgrades makes
// before it gives up. The largest real channels have some hundred entries.
const maxEdgeChecks = 2_000_000

// upgradeStart is the installed bundle that an upgrade starts from. The catalog
// need not contain it.
type upgradeStart struct {
	bundle  string
	version Version
}

// edges is the upgrade graph of some channels.
type edges struct {
	scope
	entries []edge
	checks  int
}

// edge is an entry of a channel with the bundle that it upgrades to.
type edge struct {
	Entry
	to       *Bundle
	channel  *Channel
	skipOver skipRange
}

// edges returns the upgrade graph of the channels. A skipRange that cannot be parsed is
// ignored, as in OLM.
func (s scope) edges() *edges {
	out := &edges{scope: s}
	for _, c := range s.channels {
		for _, e := range c.Entries {
			skipOver, _ := parseSkipRange(e.SkipRange)
			out.entries = append(out.entries, edge{e, s.Bundle(e.Name), c, skipOver})
		}
	}
	// The highest first: among equals a search takes what it meets first.
	slices.SortStableFunc(out.entries, func(a, b edge) int { return b.to.Version.Compare(a.to.Version) })
	return out
}

// how returns the words for how the entry upgrades from a bundle ("replaces", "skips",
// "skips the range of"), empty if it does not.
func (e *edge) how(from upgradeStart) string {
	switch {
	case e.Name == from.bundle:
	case e.Replaces == from.bundle:
		return "replaces"
	case slices.Contains(e.Skips, from.bundle):
		return "skips"
	case e.skipOver.contains(from.version):
		return "skips the range of"
	}
	return ""
}

// next returns the entries that upgrade from a bundle, highest version first.
func (g *edges) next(from upgradeStart) []*edge {
	var out []*edge
	for i := range g.entries {
		e := &g.entries[i]
		g.checks += 1 + len(e.Skips)
		if e.how(from) != "" {
			out = append(out, e)
		}
	}
	return out
}

// upgrade chooses the highest bundle in range that is one upgrade edge away, as OLM v1
// does. If only several edges lead to the requested version or, without one, to the
// head of the channel, it chooses the first step of a shortest path there.
func (s scope) upgrade(q Query, from upgradeStart, wanted versionRange) (*Choice, error) {
	graph := s.edges()
	successors := graph.next(from)
	direct, current := highest(targets(successors), wanted), s.installed(from)
	switch {
	case direct != nil:
		if q.Version == "" {
			if way := graph.way(from, s.headAbove(direct)); len(way) > 1 {
				return s.step(graph, from, way)
			}
		}
		return s.step(graph, from, []*Bundle{direct})
	case current != nil && wanted.contains(current.Version):
		choice, err := s.choose(current, fmt.Sprintf("installed; %s has no upgrade of it", s.what()))
		if err == nil {
			choice.Current = true
		}
		return choice, err
	case q.Version != "":
		way := graph.way(from, func(b *Bundle) bool { return wanted.contains(b.Version) })
		if len(way) > 0 {
			return s.step(graph, from, way)
		}
	}
	return nil, s.noUpgrade(q, from, wanted, graph)
}

// installed returns the bundle that the upgrade starts from, nil if the channels do not
// contain it.
func (s scope) installed(from upgradeStart) *Bundle {
	if s.channelOf(from.bundle) == nil {
		return nil
	}
	return s.Bundle(from.bundle)
}

// headAbove returns a function that reports whether a bundle is the head of a channel
// and higher than direct. A deprecated head counts only if direct is deprecated too.
func (s scope) headAbove(direct *Bundle) func(*Bundle) bool {
	return func(b *Bundle) bool {
		isHead := func(c *Channel) bool { return slices.Contains(c.Heads, b.Name) }
		return b.Version.Compare(direct.Version) > 0 && (b.Deprecated == "" || direct.Deprecated != "") &&
			slices.ContainsFunc(s.channels, isHead)
	}
}

// way returns a shortest path of upgrades to a bundle that satisfies goal, empty if
// there is none. Among several it prefers goals that are not deprecated, then the
// highest versions. No step leads to an older version.
func (g *edges) way(from upgradeStart, goal func(*Bundle) bool) []*Bundle {
	before := map[*Bundle]*Bundle{}
	level := []*Bundle{nil} // nil stands for where the way begins
	for len(level) > 0 && g.checks < maxEdgeChecks {
		var reached []*Bundle
		for _, b := range level {
			at := from
			if b != nil {
				at = upgradeStart{b.Name, b.Version}
			}
			for _, e := range g.next(at) {
				if _, known := before[e.to]; known || e.to.Version.Compare(at.version) <= 0 {
					continue
				}
				before[e.to] = b
				reached = append(reached, e.to)
			}
			if g.checks >= maxEdgeChecks {
				return nil
			}
		}
		slices.SortStableFunc(reached, preferred)
		if i := slices.IndexFunc(reached, goal); i >= 0 {
			var way []*Bundle
			for b := reached[i]; b != nil; b = before[b] {
				way = append(way, b)
			}
			slices.Reverse(way)
			return way
		}
		level = reached
	}
	return nil
}

// preferred compares bundles for a search: those that are not deprecated come first,
// then higher versions.
func preferred(a, b *Bundle) int {
	switch {
	case a.Deprecated == "" && b.Deprecated != "":
		return -1
	case a.Deprecated != "" && b.Deprecated == "":
		return 1
	}
	return b.Version.Compare(a.Version)
}

// step returns the choice of the first bundle of an upgrade path.
func (s scope) step(g *edges, from upgradeStart, way []*Bundle) (*Choice, error) {
	var taken *edge
	for _, e := range g.next(from) {
		if e.to == way[0] {
			taken = e
			break
		}
	}
	why := fmt.Sprintf("%s %s in channel %s", taken.how(from), from.bundle, taken.channel.Name)
	if len(way) > 1 {
		why += ", the first step to " + way[len(way)-1].Version.String()
	}
	choice, err := s.choose(way[0], why)
	if err != nil {
		return nil, err
	}
	choice.Channel = taken.channel.Name
	choice.Next = versions(way[1:])
	return choice, nil
}

func targets(list []*edge) []*Bundle {
	var out []*Bundle
	for _, e := range list {
		out = append(out, e.to)
	}
	return out
}

func (s scope) noUpgrade(q Query, from upgradeStart, wanted versionRange, g *edges) error {
	what := fmt.Sprintf("no edge of %s leads from %s", s.what(), from.bundle)
	if q.Version != "" {
		what += fmt.Sprintf(" to a version %q", q.Version)
	}
	successors := targets(g.next(from))
	older := highest(s.bundles(), wanted)
	switch {
	case g.checks >= maxEdgeChecks:
		what += ", as far as was searched: it has too many"
	case q.Version != "" && older != nil && older.Version.Compare(from.version) < 0:
		return fmt.Errorf("%s, which is older; with REF %s@%s a downgrade is planned", what, s.Name, older.Version)
	case len(successors) > 0:
		what += "; it leads to " + Few(versions(successors))
	case q.Version == "":
		return fmt.Errorf("%s, which is not in it either; --channel chooses another, an image or directory as REF needs no edge%s", what, s.badRanges())
	}
	return fmt.Errorf("%s; REF %s@VERSION, an image or a directory needs no edge%s", what, s.Name, s.badRanges())
}

// badRanges returns text about the first invalid skipRange in the channels, empty if
// there is none: it may be why no upgrade was found.
func (s scope) badRanges() string {
	for _, c := range s.channels {
		for _, e := range c.Entries {
			if _, err := parseSkipRange(e.SkipRange); err != nil {
				return fmt.Sprintf("; entry %q skips over nothing: its %v", e.Name, err)
			}
		}
	}
	return ""
}

// Path describes an upgrade that takes several steps: "1.8.1 → 1.9.0 (this plan) →
// 1.10.0". It is empty if one step suffices.
func (c *Choice) Path(from string) string {
	if len(c.Next) == 0 {
		return ""
	}
	return fmt.Sprintf("%s → %s (this plan) → %s; run upgrade again afterwards", from, c.Version, strings.Join(c.Next, " → "))
}
