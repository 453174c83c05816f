// Package streams holds standard input, output and error, what is known about
// the terminal behind them, and the one writer that all text for people goes
// through.
//
// Decisions about colour, prompting and character set are made here and
// nowhere else.
package streams

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// Streams are the three standard streams. Out and Err are for machine-readable
// output, which is written as it is; text for people goes to [Streams.Human]
// and [Streams.HumanErr].
type Streams struct {
	In  *os.File
	Out io.Writer
	Err io.Writer

	terminal terminal
	out, err *sink
	human    humanWriter
	humanErr humanWriter
	settings settings
}

// Options are the global flags about output.
type Options struct {
	Color string // auto, always or never; empty means auto
	ASCII bool   // nothing but ASCII, whatever the terminal can show
	Plain bool   // lines of text and questions instead of screens
}

// New returns the streams of this process. Until Configure is called, the
// environment alone decides about colour and non-ASCII characters.
func New(in, out, err *os.File, getenv func(string) string) *Streams {
	return newStreams(in, out, err, terminal{
		stdin: isTerminal(in), stdout: isTerminal(out), stderr: isTerminal(err),
		width: width(out), getenv: getenv,
	})
}

func newStreams(in *os.File, out, err io.Writer, t terminal) *Streams {
	s := &Streams{In: in, terminal: t, out: &sink{to: out}, err: &sink{to: err}}
	s.Out, s.Err = s.out, s.err
	s.apply(t.decide(Options{}))
	return s
}

// Configure applies the global flags. An unknown colour mode is an error.
func (s *Streams) Configure(o Options) error {
	switch o.Color {
	case "", ColorAuto, ColorAlways, ColorNever:
	default:
		return fmt.Errorf("--color %s: want auto, always or never", o.Color)
	}
	s.apply(s.terminal.decide(o))
	return nil
}

func (s *Streams) apply(decided settings) {
	s.settings = decided
	s.human.set(escaping(s.out, decided.color, decided.asciiOut))
	s.humanErr.set(escaping(s.err, false, decided.asciiErr))
}

func escaping(to io.Writer, color, ascii bool) *textsafe.Writer {
	w := textsafe.NewWriter(to)
	if color {
		w = textsafe.NewColorWriter(to)
	}
	if ascii {
		w = w.ASCII()
	}
	return w
}

// Human returns the writer to standard output for people; it escapes control
// characters.
func (s *Streams) Human() io.Writer { return &s.human }

// HumanErr returns the writer to standard error for people; it escapes control
// characters and never colours.
func (s *Streams) HumanErr() io.Writer { return &s.humanErr }

// Printf prints text for people to standard output. Errors are returned by Flush.
func (s *Streams) Printf(format string, args ...any) { fmt.Fprintf(&s.human, format, args...) }

// Errorf prints text for people to standard error. Errors are returned by Flush.
func (s *Streams) Errorf(format string, args ...any) { fmt.Fprintf(&s.humanErr, format, args...) }

// Status prints a line to standard error that says what the program is doing.
func (s *Streams) Status(line string) { s.Errorf("%s\n", line) }

// Flush writes the bytes of an incomplete last character, and returns the first
// error of all writes to standard output or error.
func (s *Streams) Flush() error {
	return errors.Join(s.human.flush(), s.humanErr.flush(), s.out.failure(), s.err.failure())
}

// TakeInput returns standard input as data for the command, such as a request file.
// From then on, keys are read from the controlling terminal, if there is one.
func (s *Streams) TakeInput() io.Reader {
	in := s.In
	if s.terminal.stdin {
		return in
	}
	if tty, err := os.Open("/dev/tty"); err == nil {
		s.In, s.terminal.stdin = tty, true
	}
	return in
}

// StdinTTY reports whether standard input is a terminal.
func (s *Streams) StdinTTY() bool { return s.terminal.stdin }

// StdoutTTY reports whether standard output is a terminal.
func (s *Streams) StdoutTTY() bool { return s.terminal.stdout }

// ErrTTY reports whether standard error is a terminal.
func (s *Streams) ErrTTY() bool { return s.terminal.stderr }

// Color reports whether standard output may be coloured.
func (s *Streams) Color() bool { return s.settings.color }

// ASCII reports whether standard output may have only ASCII characters.
func (s *Streams) ASCII() bool { return s.settings.asciiOut }

// Width returns the width of standard output in columns, 0 if it is no terminal
// or its width is not known.
func (s *Streams) Width() int { return s.terminal.width }

// CanDraw reports whether screens can be drawn: standard input and output are a
// terminal, which is not a dumb one.
func (s *Streams) CanDraw() bool {
	t := s.terminal
	return t.stdin && t.stdout && t.getenv("TERM") != "dumb"
}

// CanPrompt reports whether the user can be asked on a screen: there is a terminal to
// draw on, and the environment is no CI system's.
func (s *Streams) CanPrompt() bool { return s.CanDraw() && s.terminal.getenv("CI") == "" }

// OnlyCI reports whether the environment of a CI system is all that keeps the user from
// being asked.
func (s *Streams) OnlyCI() bool { return s.CanDraw() && !s.CanPrompt() }

// Lines reports whether output is lines of text instead of screens: because of
// --plain, ACCESSIBLE, or a dumb terminal.
func (s *Streams) Lines() bool {
	t := s.terminal
	return s.settings.plain || truthy(t.getenv("ACCESSIBLE")) || t.getenv("TERM") == "dumb"
}

// CanAsk reports whether the user can be asked, on a screen or in lines. With
// --plain, answers may come from a pipe; otherwise a terminal is required.
func (s *Streams) CanAsk() bool {
	t := s.terminal
	switch {
	case s.settings.plain:
		return true
	case s.Lines():
		return t.stdin && t.stdout && t.getenv("CI") == ""
	}
	return s.CanPrompt()
}

func truthy(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "false", "no":
		return false
	}
	return true
}

// Plain returns a writer for text that goes to neither stream, such as a log
// file: it escapes control characters and does not colour.
func Plain(to io.Writer) io.Writer { return textsafe.NewWriter(to) }

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

func width(f *os.File) int {
	if !isTerminal(f) {
		return 0
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// humanWriter forwards text to a writer that can be replaced: commands get it
// before the flags that decide about the writer are parsed.
type humanWriter struct {
	mu sync.Mutex
	to *textsafe.Writer
}

func (h *humanWriter) set(to *textsafe.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.to = to
}

func (h *humanWriter) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.to.Write(p)
}

func (h *humanWriter) flush() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.to.Flush()
}

// sink is a writer that keeps the first error.
type sink struct {
	mu  sync.Mutex
	to  io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.to.Write(p)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

func (s *sink) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
