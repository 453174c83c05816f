package external

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
)

const oneObject = `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [` +
	`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}]}`

// script is a program that runs these lines.
func script(t *testing.T, limits program.Limits, lines ...string) *program.Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), program.Format.Prefix()+"test")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := program.Format.Open("test", path, limits)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// answers prints a text as it is.
func answers(text string) string { return "cat <<'END'\n" + text + "\nEND" }

func input() format.Input {
	return format.Input{
		Content: fstest.MapFS{"a.txt": {Data: []byte("a")}, "b/c.bin": {Data: []byte{0, 255}}},
		Info:    format.Info{Package: "demo"}, Release: preview.Release{Name: "demo", Namespace: "demo-ns"},
	}
}

func short() program.Limits { l := program.Format.Limits(); l.Time = 200 * time.Millisecond; return l }

func TestProgramsThatMisbehaveAreOneSentence(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limits program.Limits
		lines  []string
		want   string
	}{
		{"hangs", short(), []string{"exec sleep 1000"}, "it did not end within 200ms"},
		{"hangs with its output closed", short(), []string{"exec >&- 2>&-", "exec sleep 1000"}, "it did not end within 200ms"},
		{"ignores signals that can be ignored", short(), []string{"trap '' TERM INT HUP", "sleep 1000", "sleep 1000"}, "it did not end within 200ms"},
		{"prints 1 GB", program.Format.Limits(), []string{"exec head -c 1000000000 /dev/zero"}, "it printed too much: more than 32 MiB"},
		{"prints errors without end", program.Format.Limits(), []string{"head -c 20000000 /dev/zero | tr '\\0' 'x' >&2", "exit 1"}, "exit code 1: ...xxx"},
		{"exits 1", program.Format.Limits(), []string{"exit 1"}, "exit code 1"},
		{"exits 1 and says why", program.Format.Limits(), []string{"echo 'no such file' >&2; echo 'really' >&2; exit 1"}, "exit code 1: no such file; really"},
		{"exits 1 after a good answer", program.Format.Limits(), []string{answers(oneObject), "exit 1"}, "exit code 1"},
		{"draws on the terminal", program.Format.Limits(), []string{`printf '\033[2Jgone' >&2; exit 3`}, `exit code 3: \x1b[2Jgone`},
		{"ends itself", program.Format.Limits(), []string{"kill -SEGV $$"}, "ended by signal segmentation fault"},
		{"prints nothing", program.Format.Limits(), []string{"exit 0"}, "its answer is 0 documents; want one ResourceList of config.kubernetes.io/v1"},
		{"prints garbage", program.Format.Limits(), []string{"head -c 100 /dev/zero"}, "its answer is not YAML"},
		{"prints something else", program.Format.Limits(), []string{answers("kind: List\napiVersion: v1\nitems: []")}, "its answer is no ResourceList of config.kubernetes.io/v1"},
		{"prints two answers", program.Format.Limits(), []string{answers(oneObject), answers("---\n" + oneObject)}, "its answer is 2 documents"},
		{"makes no objects", program.Format.Limits(), []string{answers("kind: ResourceList\napiVersion: config.kubernetes.io/v1")}, "it made no objects"},
		{"reports an error", program.Format.Limits(), []string{answers("kind: ResourceList\napiVersion: config.kubernetes.io/v1\n" +
			"results: [{severity: error, message: no host, file: {path: a.txt}}]")}, "a.txt: no host"},
		{"reports an error and exits 1", program.Format.Limits(), []string{answers("kind: ResourceList\napiVersion: config.kubernetes.io/v1\n" +
			"results: [{message: no severity is an error}]"), "exit 1"}, "no severity is an error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(script(t, tt.limits, tt.lines...)).Render(t.Context(), input())
			if err == nil || !strings.HasPrefix(err.Error(), "running kubectl-operator-format-test: "+tt.want) {
				t.Fatalf("err = %v\nwant %s", err, tt.want)
			}
			if strings.Contains(err.Error(), "\n") || len(err.Error()) > 700 {
				t.Errorf("not one sentence: %q", err)
			}
		})
	}
}

func TestAProgramNeedNotReadItsInput(t *testing.T) {
	in := input()
	in.Content = fstest.MapFS{"big": {Data: make([]byte, 4<<20)}}
	if _, err := New(script(t, program.Format.Limits(), answers(oneObject))).Render(t.Context(), in); err != nil {
		t.Error(err)
	}
}

func TestContentThatDoesNotFitIsNotSent(t *testing.T) {
	l := program.Format.Limits()
	l.Input = 1 << 20
	in := input()
	in.Content = fstest.MapFS{"big": {Data: make([]byte, 1<<20)}}
	_, err := New(script(t, l, answers(oneObject))).Render(t.Context(), in)
	if err == nil || !strings.Contains(err.Error(), "more than the 1 MiB that a program is given") {
		t.Errorf("err = %v", err)
	}
}

// Its own shell sets variables; only env tells what it was given.
func TestAProgramRunsInAnEmptyDirectoryWithoutAnEnvironment(t *testing.T) {
	t.Setenv("SECRET", "of the user")
	p := script(t, program.Format.Limits(), "ls -A >&2", "tr '\\0' ' ' </proc/$$/environ >&2", "exit 1")
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("skipped: this system has no /proc")
	}
	_, err := New(p).Render(t.Context(), input())
	if err == nil || !strings.HasSuffix(err.Error(), ": exit code 1: LANG=C") {
		t.Errorf("err = %v", err)
	}
}

func TestAProgramHasNoTerminal(t *testing.T) {
	p := script(t, program.Format.Limits(), "if (: </dev/tty) 2>/dev/null; then echo terminal >&2; else echo none >&2; fi", "exit 1")
	_, err := New(p).Render(t.Context(), input())
	if err == nil || !strings.HasSuffix(err.Error(), ": none") {
		t.Errorf("err = %v", err)
	}
}

func TestACancelledRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := New(script(t, program.Format.Limits(), "exec sleep 1000")).Render(ctx, input())
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestNothingIsLeftOfARun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p := script(t, program.Format.Limits(), "mkdir -p deep/er && echo x > deep/er/file", answers(oneObject))
	if _, err := New(p).Render(t.Context(), input()); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), program.Format.Prefix()+"*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestWhatCannotRunIsOneSentence(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"neither program nor script": {"echo hello", "it is neither a program for this machine nor a script that starts with #!"},
		"an interpreter is missing":  {"#!/no/such/interpreter\n", "the interpreter that its first line names does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), program.Format.Prefix()+"test")
			if err := os.WriteFile(path, []byte(tt.text), 0o700); err != nil {
				t.Fatal(err)
			}
			p, err := program.Format.Open("test", path, program.Format.Limits())
			if err != nil {
				t.Fatal(err)
			}
			if _, err = New(p).Render(t.Context(), input()); err == nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("err = %v, want %s", err, tt.want)
			}
		})
	}
}
