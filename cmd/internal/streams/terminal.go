package streams

import (
	"cmp"
	"strings"
)

// The colour modes of --color.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// terminal is what decides about output: the streams, the environment and the
// global flags.
type terminal struct {
	stdin, stdout, stderr bool
	width                 int
	getenv                func(string) string
}

// settings are the decisions about colour and characters.
type settings struct {
	color, asciiOut, asciiErr, plain bool
}

func (t terminal) decide(o Options) settings {
	return settings{
		color:    t.color(o.Color),
		asciiOut: o.ASCII || t.stdout && !t.unicode(),
		asciiErr: o.ASCII || t.stderr && !t.unicode(),
		plain:    o.Plain,
	}
}

// color decides in the order --color, NO_COLOR (any value, https://no-color.org),
// CLICOLOR_FORCE (any but 0), terminal.
func (t terminal) color(mode string) bool {
	switch {
	case mode == ColorAlways:
		return true
	case mode == ColorNever, t.getenv("NO_COLOR") != "":
		return false
	}
	if force := t.getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return t.stdout && t.getenv("TERM") != "dumb"
}

// unicode reports whether the terminal shows more than ASCII: it is neither a
// dumb one nor the Linux console, and the locale (POSIX order: LC_ALL,
// LC_CTYPE, LANG) says UTF-8.
func (t terminal) unicode() bool {
	switch t.getenv("TERM") {
	case "dumb", "linux":
		return false
	}
	locale := strings.ToLower(cmp.Or(t.getenv("LC_ALL"), t.getenv("LC_CTYPE"), t.getenv("LANG")))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}
