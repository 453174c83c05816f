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

// terminal is what the decisions about output depend on: which streams are
// terminals, the width, and the environment.
type terminal struct {
	stdin, stdout, stderr bool
	width                 int
	getenv                func(string) string
}

// settings are the decisions about output: colour, ASCII only, and plain lines.
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

// color decides whether output is coloured. The first of these that is set
// decides: --color, NO_COLOR (any value, https://no-color.org), CLICOLOR_FORCE
// (any but 0); else whether standard output is a terminal.
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
