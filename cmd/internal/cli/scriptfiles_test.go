package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// printable [-color] FILE asserts that a file is UTF-8 without a character that
// a terminal would obey or hide. With -color our own colours may be in it.
func printableCommand(ts *testscript.TestScript, _ bool, args []string) {
	color := args[0] == "-color"
	text := ts.ReadFile(args[len(args)-1])
	if text == "" {
		ts.Fatalf("%s is empty", args[len(args)-1])
	}
	if color {
		text = withoutColor(text)
	}
	for i, r := range text {
		if r == utf8.RuneError || r != '\n' && !textsafe.Printable(r) {
			ts.Fatalf("%s holds %U after %q", args[len(args)-1], r, text[max(0, i-40):i])
		}
	}
}

// withoutColor removes sequences that only set colours and weight.
func withoutColor(text string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "\x1b[")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		rest := strings.TrimLeft(after, "0123456789;")
		if !strings.HasPrefix(rest, "m") {
			out.WriteString("\x1b[")
			text = after
			continue
		}
		text = rest[1:]
	}
}

// fill FILE MIB makes a file of zeros that takes no room.
func fillCommand(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	file, err := os.Create(path)
	ts.Check(err)
	ts.Check(file.Truncate(size << 20))
	ts.Check(file.Close())
}
