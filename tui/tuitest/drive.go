package tuitest

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

var update = flag.Bool("update", false, "write golden files")

// Clock is a clock that moves only when it is set.
type Clock struct{ T time.Time }

// NewClock returns a clock that shows the same fixed moment until it is set.
func NewClock() *Clock { return &Clock{time.Date(2026, 11, 20, 14, 2, 11, 0, time.UTC)} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time { return c.T }

// Forward moves the clock.
func (c *Clock) Forward(d time.Duration) { c.T = c.T.Add(d) }

// Sizes are the window sizes, in columns and rows, for drawing every screen.
var Sizes = [][2]int{{120, 36}, {80, 24}, {40, 12}}

// SizeName returns a size as text, for the name of a test or file.
func SizeName(size [2]int) string { return fmt.Sprintf("%dx%d", size[0], size[1]) }

// Drive sends steps to a model: messages, or the names of keys. It advances the
// clock by a second before each, and runs the commands that follow from it, but
// no quit command.
func Drive(m tea.Model, c *Clock, steps ...any) {
	for _, step := range steps {
		c.Forward(time.Second)
		msg, ok := step.(tea.Msg)
		if name, isKey := step.(string); isKey {
			msg, ok = Press(name), true
		}
		if !ok {
			panic("not a step")
		}
		_, cmd := m.Update(msg)
		Pump(m, cmd)
	}
}

// Pump runs a command, sends its message to the model, and so on with the
// commands that follow.
func Pump(m tea.Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil, tea.QuitMsg, tea.SuspendMsg:
	case tea.BatchMsg:
		for _, c := range msg {
			Pump(m, c)
		}
	default:
		_, next := m.Update(msg)
		Pump(m, next)
	}
}

// Typed returns the keys that type a text, as steps of [Drive].
func Typed(text string) []any {
	var out []any
	for _, r := range text {
		out = append(out, string(r))
	}
	return out
}

// Press returns the message of a key, by the key's name.
func Press(name string) tea.KeyPressMsg {
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

// ScreenOf returns the lines that a model shows, without colours and attributes.
func ScreenOf(m tea.Model) []string {
	return strings.Split(ansi.Strip(m.View().Content), "\n")
}

// CheckFrame fails the test unless a frame has as many lines as the window has
// rows, and none is wider than the window.
func CheckFrame(t *testing.T, m tea.Model, width, height int) {
	t.Helper()
	lines := ScreenOf(m)
	if len(lines) != height {
		t.Errorf("frame has %d lines, want %d:\n%s", len(lines), height, strings.Join(lines, "\n"))
	}
	for i, l := range lines {
		if w := ansi.StringWidth(l); w > width {
			t.Errorf("line %d is %d cells wide, want at most %d: %q", i, w, width, l)
		}
	}
}

// Golden compares a frame with testdata/golden/NAME.golden: the frame as text,
// as an ASCII terminal shows it (.ascii.golden), and as a terminal with colours
// gets it (.color.golden, with ␛ for escape).
func Golden(t *testing.T, name string, m tea.Model, content func(theme.Options) string, width, height int) {
	t.Helper()
	CheckFrame(t, m, width, height)
	frameIn := func(opts theme.Options) string { return withoutTrailingBlanks(content(opts)) }
	plain := frameIn(theme.Options{})
	if colours.MatchString(plain) {
		t.Errorf("%s: there is a colour without colours: %q", name, colours.FindString(plain))
	}
	Compare(t, name, ansi.Strip(plain))
	coloured := frameIn(theme.Options{Color: true})
	if ansi.Strip(coloured) != ansi.Strip(plain) {
		t.Errorf("%s: colours change the text, so they say something by themselves", name)
	}
	for _, set := range attributes.FindAllStringSubmatch(coloured, -1) {
		if !of16.MatchString(set[1]) {
			t.Errorf("%s: %q is none of the 16 colours, bold, underlined or reversed", name, set[0])
		}
	}
	Compare(t, name+".color", strings.ReplaceAll(coloured, "\x1b", "␛"))
	ascii := ansi.Strip(frameIn(theme.Options{ASCII: true}))
	if at := strings.IndexFunc(ascii, func(r rune) bool { return r > unicode.MaxASCII }); at >= 0 {
		t.Errorf("%s: there is more than ASCII: %q", name, ascii[at:min(len(ascii), at+40)])
	}
	Compare(t, name+".ascii", ascii)
}

// colours matches the escape codes of foreground and background colours.
var colours = regexp.MustCompile(`\x1b\[(?:\d+;)*(?:[34]\d|9\d|10\d)[;m]`)

// attributes lists every attribute that is used, and of16 those that any
// terminal's own theme makes readable: no background and nothing faint.
var (
	attributes = regexp.MustCompile(`\x1b\[([\d;:]*)m`)
	of16       = regexp.MustCompile(`^(?:(?:0?|1|4|7|3[0-7]|9[0-7])(?:;|$))*$`)
)

// ContentIn returns a function that draws a model in a theme of some options.
// at is the model's theme, which is restored afterwards.
func ContentIn(m tea.Model, at *theme.Theme) func(theme.Options) string {
	return func(opts theme.Options) string {
		defer func(before theme.Theme) { *at = before }(*at)
		*at = theme.New(opts)
		return m.View().Content
	}
}

// withoutTrailingBlanks removes the blanks at the ends of lines.
func withoutTrailingBlanks(content string) string {
	lines := strings.Split(content, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// Compare compares a text with a golden file, or writes the file with -update.
func Compare(t *testing.T, name, got string) {
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

// OnSelectedRow fails the test unless the terminal's cursor is on the mark of
// the selected row, because screen readers announce that line.
func OnSelectedRow(t *testing.T, where string, m tea.Model) {
	t.Helper()
	cursor, lines := m.View().Cursor, ScreenOf(m)
	if cursor == nil || cursor.Y >= len(lines) || cursor.X >= len([]rune(lines[cursor.Y])) {
		t.Fatalf("%s: no cursor on the screen:\n%s", where, strings.Join(lines, "\n"))
	}
	if mark := []rune(lines[cursor.Y])[cursor.X]; mark != '>' {
		t.Errorf("%s: the cursor is at %d,%d, on %q:\n%s", where, cursor.X, cursor.Y, mark, strings.Join(lines, "\n"))
	}
}

// EveryKey returns the names of all keys of a small keyboard.
func EveryKey() []string {
	names := []string{"enter", "esc", "tab", "shift+tab", "backspace", "space", "up", "down", "left", "right", "home", "end", "pgup", "pgdown"}
	for r := '!'; r <= '~'; r++ {
		names = append(names, string(r))
	}
	for r := 'a'; r <= 'z'; r++ {
		names = append(names, "ctrl+"+string(r))
	}
	return names
}

// Shows reports whether a text is on screen.
func Shows(m tea.Model, text string) bool {
	return strings.Contains(strings.Join(ScreenOf(m), "\n"), text)
}

// DigestOf returns the digest of a text, as a made-up digest for tests.
func DigestOf(s string) string { return preview.HashBytes([]byte(s)) }

// StepClock is a clock that advances a second each time it is read, so that no
// two keys come in quick succession, which a screen would ignore.
type StepClock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns a moment one second after the last one.
func (c *StepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

// TestTerminal returns a terminal for tests, which reads keys from in and
// writes frames to a buffer.
func TestTerminal(in io.Reader) frame.Terminal {
	return frame.Terminal{Input: in, Output: &bytes.Buffer{}, Environ: []string{"TERM=xterm"}, NoMotion: true, Width: 80, Height: 24}
}

// Keyboard returns a reader that repeats the keys of first until enough is closed, and
// then the keys of then until the reader is closed.
func Keyboard(first string, enough <-chan struct{}, then string) *io.PipeReader {
	r, w := io.Pipe()
	go func() {
		keys := first
		for {
			select {
			case <-enough:
				keys = then
			default:
			}
			if _, err := io.WriteString(w, keys); err != nil {
				return
			}
		}
	}()
	return r
}

// Deadline returns a context with a time limit, for a test of a program that
// might hang.
func Deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Hostile is a text with escape codes, bidi overrides, invalid bytes and
// combining marks, which must not reach the terminal as they are.
const Hostile = "a\x1b[2Jb\x1b]52;c;aGk=\x07c\rd\u202ee\u200bf\x9bg\tx\u0301\u0301\u0301\u0301\u0301\u0301界\nnext"

//go:embed testdata/hostile.txt
var hostileList string

// HostileTexts returns the texts of hostile.txt, and a long one made of all of them.
func HostileTexts(t testing.TB) []string {
	t.Helper()
	var texts []string
	for _, line := range strings.Split(strings.TrimSpace(hostileList), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, quoted, _ := strings.Cut(line, ": ")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("hostile.txt: %s: %v", name, err)
		}
		texts = append(texts, text)
	}
	long := strings.Join(texts, "")
	return append(texts, strings.Repeat(long, 10_000/len(long)+1))
}

// Harmless fails the test unless, in every theme, each line of a frame is as
// wide as the window, and the frame has no control byte but line breaks and our
// own attributes, and no invisible character.
func Harmless(t *testing.T, where string, m tea.Model, in func(theme.Options) string, size [2]int) {
	t.Helper()
	v := m.View()
	CheckFrame(t, m, size[0], size[1])
	if textsafe.Hostile(v.WindowTitle) {
		t.Fatalf("%s: hostile window title %q", where, v.WindowTitle)
	}
	for _, opts := range []theme.Options{{}, {Color: true}, {ASCII: true}} {
		content := in(opts)
		for _, line := range strings.Split(ansi.Strip(content), "\n") {
			if textsafe.Hostile(line) || strings.ContainsFunc(line, func(r rune) bool { return r < 0x20 }) {
				t.Fatalf("%s: hostile text on screen: %q", where, line)
			}
			if w := ansi.StringWidth(line); w != size[0] {
				t.Fatalf("%s: a line of %d cells, want %d: %q", where, w, size[0], line)
			}
		}
		for _, sequence := range strings.Split(content, "\x1b")[1:] {
			if end := strings.IndexByte(sequence, 'm'); end < 0 || !strings.HasPrefix(sequence, "[") || strings.Trim(sequence[1:end], "0123456789;") != "" {
				t.Fatalf("%s: an escape sequence that is not ours: %.20q", where, sequence)
			}
		}
	}
}

// Frames presses keys in turn, draws a frame after each, and returns the
// allocations and bytes per frame.
func Frames(m tea.Model, keys []string) (allocs, bytes uint64) {
	const n = 64
	var before, after runtime.MemStats
	for i := range 2 * n {
		if i == n { // the first round fills what is kept
			runtime.ReadMemStats(&before)
		}
		_, cmd := m.Update(Press(keys[i%len(keys)]))
		_ = m.View()
		Pump(m, cmd)
	}
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / n, (after.TotalAlloc - before.TotalAlloc) / n
}

// SameOnEveryBackground fails the test if a frame changes with the background that the
// terminal reports. Colours are the 16 of the terminal, whose own theme decides how
// they look on a light or dark one, so the first frame is right without the report.
func SameOnEveryBackground(t *testing.T, name string, m tea.Model) {
	t.Helper()
	before := m.View().Content
	for _, background := range []color.Color{color.White, color.Black} {
		if _, cmd := m.Update(tea.BackgroundColorMsg{Color: background}); cmd != nil {
			Pump(m, cmd)
		}
		if m.View().Content != before {
			t.Errorf("%s looks otherwise on %v", name, background)
		}
	}
}
