package flyte

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed builtin.tsv
var builtInTable string

// builtIn is a plugin that Flyte's engines are built with.
type builtIn struct {
	taskPlugin
	v1, v2 string // "yes", "-" for never, or the last release that has it
}

// release is a table of the plugins of two releases of Flyte, one of each generation.
type release struct {
	v1, v2  string
	plugins []builtIn
}

// upstream returns the table that is compiled in.
var upstream = sync.OnceValue(func() release {
	var out release
	for line := range strings.Lines(builtInTable) {
		line = strings.TrimSuffix(line, "\n")
		f := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "# v1."):
			out.v1, out.v2 = strings.TrimPrefix(f[0], "# "), f[1]
		case !strings.HasPrefix(line, "#"):
			b := builtIn{v1: f[1], v2: f[2]}
			b.id, b.account = f[0], strings.TrimPrefix(f[4], "-")
			b.resource, b.group, _ = strings.Cut(strings.TrimPrefix(f[3], "-"), ".")
			out.plugins = append(out.plugins, b)
		}
	}
	return out
})

// taskPlugins returns Flyte's own plugins that need an operator.
func taskPlugins() []taskPlugin {
	var out []taskPlugin
	for _, b := range upstream().plugins {
		if b.resource != "" {
			out = append(out, b.taskPlugin)
		}
	}
	return out
}

// builtInOf returns the plugin of Flyte's own that has an id.
func builtInOf(id string) (builtIn, bool) {
	all := upstream().plugins
	i := slices.IndexFunc(all, func(b builtIn) bool { return b.id == id })
	if i < 0 {
		return builtIn{}, false
	}
	return all[i], true
}

// lacking says, as the rest of a sentence, that engines of a generation do not have the
// plugin; it is empty where they have it, or where the generation is not known.
func (b builtIn) lacking(generation string) string {
	has, newest := b.v1, upstream().v1
	switch generation {
	case generationV1:
	case generationV2:
		has, newest = b.v2, upstream().v2
	default:
		return ""
	}
	switch has {
	case "yes":
		return ""
	case "-":
		return ", which engines of " + generation + " do not have (as of " + newest + ")"
	}
	return ", which engines of " + generation + " have only up to " + has
}
