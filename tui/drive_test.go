package tui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

var update = flag.Bool("update", false, "write golden files")

// clock is a clock that moves only when told to.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 11, 20, 14, 2, 11, 0, time.UTC)} }

func (c *clock) Now() time.Time          { return c.now }
func (c *clock) forward(d time.Duration) { c.now = c.now.Add(d) }

// sizes are the windows every screen is drawn in.
var sizes = [][2]int{{120, 36}, {80, 24}, {40, 12}}

func sizeName(size [2]int) string { return fmt.Sprintf("%dx%d", size[0], size[1]) }

// recheckSame answers that nothing moved.
func recheckSame(p *preview.Plan) func(context.Context, *preview.Plan, func(string)) (*preview.Plan, error) {
	return func(context.Context, *preview.Plan, func(string)) (*preview.Plan, error) { return p, nil }
}

// acceptedBefore knows the receipt of revision 2.
func acceptedBefore(_ context.Context, _ preview.Release, revision int) (Accepted, bool) {
	return Accepted{By: "sam@example.com", At: newClock().now.AddDate(0, -1, 0), Version: "1.8.1"}, revision == 2
}

// openGate refuses plans with blocked objects only.
func openGate(p *preview.Plan, _ install.Approval) error {
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Action == preview.ActionBlocked {
			return errors.New("checking the approval of mongodb: " + o.ID + " belongs to Helm release other/mongodb; uninstall that first")
		}
	}
	return nil
}

// reviewOf opens REVIEW of a plan in a window.
func reviewOf(t testing.TB, p *preview.Plan, width, height int) (*review, *clock) {
	t.Helper()
	c := newClock()
	m := newReview(t.Context(), ReviewOptions{
		Plan: p, Recheck: recheckSame(p), Gate: openGate, Now: c.Now, Title: "install mongodb", Earlier: acceptedBefore,
	})
	drive(m, c, tea.WindowSizeMsg{Width: width, Height: height})
	return m, c
}

// drive sends keys by name, or messages, with time to breathe between them,
// and runs the commands they return. Quit commands are not followed.
func drive(m tea.Model, c *clock, steps ...any) {
	for _, step := range steps {
		c.forward(time.Second)
		msg, ok := step.(tea.Msg)
		if name, isKey := step.(string); isKey {
			msg, ok = press(name), true
		}
		if !ok {
			panic("not a step")
		}
		_, cmd := m.Update(msg)
		pump(m, cmd)
	}
}

// pump runs a command and what follows from it.
func pump(m tea.Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil, tea.QuitMsg, tea.SuspendMsg:
	case tea.BatchMsg:
		for _, c := range msg {
			pump(m, c)
		}
	default:
		_, next := m.Update(msg)
		pump(m, next)
	}
}

// typed are the keys of a text.
func typed(text string) []any {
	var out []any
	for _, r := range text {
		out = append(out, string(r))
	}
	return out
}

// press is the message of a named key.
func press(name string) tea.KeyPressMsg {
	special := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "space": {Code: tea.KeySpace, Text: " "},
		"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "backspace": {Code: tea.KeyBackspace},
		"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
		"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown},
		"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl},
		"ctrl+y": {Code: 'y', Mod: tea.ModCtrl}, "ctrl+z": {Code: 'z', Mod: tea.ModCtrl},
	}
	if msg, ok := special[name]; ok {
		return msg
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// screenOf is what a model shows, without attributes.
func screenOf(m tea.Model) []string {
	return strings.Split(ansi.Strip(m.View().Content), "\n")
}

// checkFrame asserts that a frame has exactly the window's size.
func checkFrame(t *testing.T, m tea.Model, width, height int) {
	t.Helper()
	lines := screenOf(m)
	if len(lines) != height {
		t.Errorf("frame has %d lines, want %d:\n%s", len(lines), height, strings.Join(lines, "\n"))
	}
	for i, l := range lines {
		if w := ansi.StringWidth(l); w > width {
			t.Errorf("line %d is %d cells wide, want at most %d: %q", i, w, width, l)
		}
	}
}

// golden compares a frame with testdata/golden/NAME.golden: its text, the text
// of an ASCII terminal (.ascii.golden), and what a terminal with colours gets
// (.color.golden, with ␛ for escape).
func golden(t *testing.T, name string, m tea.Model, width, height int) {
	t.Helper()
	checkFrame(t, m, width, height)
	plain := frameIn(m, theme.Options{})
	if colours.MatchString(plain) {
		t.Errorf("%s: there is a colour without colours: %q", name, colours.FindString(plain))
	}
	compare(t, name, ansi.Strip(plain))
	coloured := frameIn(m, theme.Options{Color: true})
	if ansi.Strip(coloured) != ansi.Strip(plain) {
		t.Errorf("%s: colours change the text, so they say something by themselves", name)
	}
	for _, set := range attributes.FindAllStringSubmatch(coloured, -1) {
		if !of16.MatchString(set[1]) {
			t.Errorf("%s: %q is none of the 16 colours, bold, underlined or reversed", name, set[0])
		}
	}
	compare(t, name+".color", strings.ReplaceAll(coloured, "\x1b", "␛"))
	ascii := ansi.Strip(frameIn(m, theme.Options{ASCII: true}))
	if at := strings.IndexFunc(ascii, func(r rune) bool { return r > unicode.MaxASCII }); at >= 0 {
		t.Errorf("%s: there is more than ASCII: %q", name, ascii[at:min(len(ascii), at+40)])
	}
	compare(t, name+".ascii", ascii)
}

// colours are the escape codes of foregrounds and backgrounds.
var colours = regexp.MustCompile(`\x1b\[(?:\d+;)*(?:[34]\d|9\d|10\d)[;m]`)

// attributes are all that is set, and of16 those that any terminal's own theme
// makes readable: no background and nothing faint.
var (
	attributes = regexp.MustCompile(`\x1b\[([\d;:]*)m`)
	of16       = regexp.MustCompile(`^(?:(?:0?|1|4|7|3[0-7]|9[0-7])(?:;|$))*$`)
)

// frameIn is what a model shows in a theme, without blanks at the ends of lines.
func frameIn(m tea.Model, opts theme.Options) string {
	lines := strings.Split(contentIn(m, opts), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// contentIn is what a model shows in a theme.
func contentIn(m tea.Model, opts theme.Options) string {
	switch m := m.(type) {
	case *review:
		defer func(before theme.Theme) { m.theme = before }(m.theme)
		m.theme = theme.New(opts)
	case *pick:
		defer func(before theme.Theme) { m.theme = before }(m.theme)
		m.theme = theme.New(opts)
	case *follow:
		defer func(before theme.Theme) { m.theme = before }(m.theme)
		m.theme = theme.New(opts)
	}
	return m.View().Content
}

// compare holds a text against a golden file.
func compare(t *testing.T, name, got string) {
	t.Helper()
	lines := strings.Split(got, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got = strings.Join(lines, "\n")
	path := filepath.Join("testdata", "golden", filepath.FromSlash(name)+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s is missing: run the test with -update", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; run with -update if this is meant.\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}
