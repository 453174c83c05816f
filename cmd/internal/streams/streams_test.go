package streams

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestColor(t *testing.T) {
	for _, tt := range []struct {
		name string
		mode string
		tty  bool
		env  []string
		want bool
	}{
		{"a terminal is coloured", "auto", true, nil, true},
		{"a pipe is not", "auto", false, nil, false},
		{"no mode is auto", "", true, nil, true},
		{"--color=always wins over NO_COLOR", "always", false, []string{"NO_COLOR=1"}, true},
		{"--color=never wins over CLICOLOR_FORCE", "never", true, []string{"CLICOLOR_FORCE=1"}, false},
		{"NO_COLOR wins over CLICOLOR_FORCE", "auto", true, []string{"NO_COLOR=1", "CLICOLOR_FORCE=1"}, false},
		{"any value of NO_COLOR counts", "auto", true, []string{"NO_COLOR=false"}, false},
		{"an empty NO_COLOR does not", "auto", true, []string{"NO_COLOR="}, true},
		{"CLICOLOR_FORCE colours a pipe", "auto", false, []string{"CLICOLOR_FORCE=1"}, true},
		{"CLICOLOR_FORCE=0 forces nothing", "auto", false, []string{"CLICOLOR_FORCE=0"}, false},
		{"a dumb terminal is not coloured", "auto", true, []string{"TERM=dumb"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStreams(nil, &strings.Builder{}, &strings.Builder{}, terminal{stdout: tt.tty, getenv: env(tt.env...)})
			if err := s.Configure(Options{Color: tt.mode}); err != nil {
				t.Fatal(err)
			}
			if got := s.Color(); got != tt.want {
				t.Errorf("Color = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestConfigureRefusesOtherColorModes(t *testing.T) {
	s := newStreams(nil, nil, nil, terminal{getenv: env()})
	if err := s.Configure(Options{Color: "yes"}); err == nil || !strings.Contains(err.Error(), "auto, always or never") {
		t.Errorf("err = %v", err)
	}
}

func TestASCII(t *testing.T) {
	for _, tt := range []struct {
		name string
		flag bool
		tty  bool
		env  []string
		want bool
	}{
		{"a UTF-8 terminal shows everything", false, true, []string{"LANG=en_US.UTF-8"}, false},
		{"the spelling does not matter", false, true, []string{"LC_CTYPE=C.utf8"}, false},
		{"LC_ALL wins over LANG", false, true, []string{"LC_ALL=C", "LANG=en_US.UTF-8"}, true},
		{"no locale is the C locale", false, true, nil, true},
		{"the Linux console is ASCII", false, true, []string{"LANG=en_US.UTF-8", "TERM=linux"}, true},
		{"a pipe takes UTF-8 in any locale", false, false, []string{"LC_ALL=C"}, false},
		{"unless --ascii says otherwise", true, false, []string{"LANG=en_US.UTF-8"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			s := newStreams(nil, &out, &strings.Builder{}, terminal{stdout: tt.tty, getenv: env(tt.env...)})
			if err := s.Configure(Options{ASCII: tt.flag}); err != nil {
				t.Fatal(err)
			}
			s.Printf("%s", "größe…")
			want := "größe…"
			if tt.want {
				want = "gr<U+00F6><U+00DF>e..."
			}
			if s.ASCII() != tt.want || out.String() != want {
				t.Errorf("ASCII = %v, wrote %q", s.ASCII(), out.String())
			}
		})
	}
}

func TestCanPrompt(t *testing.T) {
	for _, tt := range []struct {
		name      string
		in, out   bool
		env       []string
		canPrompt bool
		onlyCI    bool
	}{
		{"a terminal at both ends", true, true, nil, true, false},
		{"input from a pipe", false, true, nil, false, false},
		{"output into a file", true, false, nil, false, false},
		{"a CI system with a terminal", true, true, []string{"CI=true"}, false, true},
		{"a terminal that cannot be drawn on", true, true, []string{"TERM=dumb"}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStreams(nil, nil, nil, terminal{stdin: tt.in, stdout: tt.out, getenv: env(tt.env...)})
			if got := s.CanPrompt(); got != tt.canPrompt {
				t.Errorf("CanPrompt = %v, want %v", got, tt.canPrompt)
			}
			if got := s.OnlyCI(); got != tt.onlyCI {
				t.Errorf("OnlyCI = %v, want %v", got, tt.onlyCI)
			}
		})
	}
}

func TestWhoIsAskedInLines(t *testing.T) {
	for _, tt := range []struct {
		name       string
		flag, tty  bool
		env        []string
		lines, ask bool
	}{
		{"a terminal has screens", false, true, nil, false, true},
		{"--plain has lines", true, true, nil, true, true},
		{"--plain takes answers from a pipe", true, false, nil, true, true},
		{"--plain is asked in CI too", true, false, []string{"CI=true"}, true, true},
		{"ACCESSIBLE has lines", false, true, []string{"ACCESSIBLE=1"}, true, true},
		{"ACCESSIBLE=no does not", false, true, []string{"ACCESSIBLE=no"}, false, true},
		{"ACCESSIBLE=False does not", false, true, []string{"ACCESSIBLE=False"}, false, true},
		{"ACCESSIBLE asks no pipe", false, false, []string{"ACCESSIBLE=1"}, true, false},
		{"ACCESSIBLE asks nobody in CI", false, true, []string{"ACCESSIBLE=1", "CI=true"}, true, false},
		{"a dumb terminal has lines", false, true, []string{"TERM=dumb"}, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStreams(nil, nil, nil, terminal{stdin: tt.tty, stdout: tt.tty, getenv: env(tt.env...)})
			if err := s.Configure(Options{Plain: tt.flag}); err != nil {
				t.Fatal(err)
			}
			if s.Lines() != tt.lines || s.CanAsk() != tt.ask {
				t.Errorf("Lines = %v, CanAsk = %v", s.Lines(), s.CanAsk())
			}
		})
	}
}

func TestHumanTextIsEscapedAndMachineOutputIsNot(t *testing.T) {
	var out, errs strings.Builder
	s := newStreams(nil, &out, &errs, terminal{stdout: true, stderr: true, getenv: env("LANG=C.UTF-8", "TERM=xterm")})
	human := s.Human() // as commands get it, before flags are read
	if err := s.Configure(Options{Color: ColorNever}); err != nil {
		t.Fatal(err)
	}
	s.Printf("a\x1b[31m %s\n", "\u202Eb")
	if _, err := human.Write([]byte("c\x1b[1m\n")); err != nil {
		t.Fatal(err)
	}
	s.Errorf("d\x1b[31m\n")
	s.Status("pulling\rx")
	if _, err := s.Out.Write([]byte("{\"raw\":\"\u202E\"}\n")); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "a\\x1b[31m <U+202E>b\nc\\x1b[1m\n{\"raw\":\"\u202E\"}\n"; out.String() != want {
		t.Errorf("stdout %q, want %q", out.String(), want)
	}
	if want := "d\\x1b[31m\npulling\\rx\n"; errs.String() != want {
		t.Errorf("stderr %q, want %q", errs.String(), want)
	}
}

type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFlushReportsLostOutput(t *testing.T) {
	s := newStreams(nil, full{}, &strings.Builder{}, terminal{getenv: env()})
	s.Printf("lost\n")
	if err := s.Flush(); !errors.Is(err, errFull) {
		t.Errorf("Flush = %v, want %v", err, errFull)
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := New(f, f, f, env())
	if s.StdinTTY() || s.StdoutTTY() || s.ErrTTY() || s.Width() != 0 || s.CanPrompt() {
		t.Errorf("a file counts as a terminal: %+v", s.terminal)
	}
}
