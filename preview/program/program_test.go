package program

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script is a program that runs these lines.
func script(t *testing.T, limits Limits, lines ...string) *Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), Format.Prefix()+"test")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := Format.Open("test", path, limits)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	put := func(dir, format string, perm, dirPerm os.FileMode) string {
		t.Helper()
		at := filepath.Join(root, dir)
		path := filepath.Join(at, Format.Prefix()+format)
		for _, err := range []error{os.MkdirAll(at, 0o700), os.WriteFile(path, []byte("#!"), 0o600), os.Chmod(path, perm), os.Chmod(at, dirPerm)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return at
	}
	good, later := put("good", "x", 0o755, 0o755), put("later", "x", 0o755, 0o755)
	openDir, openFile := put("open-dir", "x", 0o755, 0o1777), put("open-file", "x", 0o757, 0o755)
	plain := put("plain", "x", 0o644, 0o755)
	t.Chdir(root)
	for _, tt := range []struct {
		name, format, path string
		want               string // directory, or part of the error
	}{
		{"the first on the PATH", "x", good + ":" + later, good},
		{"a file that is not executable is passed", "x", plain + ":" + good, good},
		{"what every user can write to is passed", "x", openDir + ":" + openFile + ":" + later, later},
		{"a relative entry is passed", "x", "good:" + later, later},
		{"an empty entry is passed", "x", ":" + later, later},
		{"nowhere", "y", good, `no program kubectl-operator-format-y is on the PATH`},
		{"no PATH", "x", "", `no program kubectl-operator-format-x is on the PATH`},
		{"only in a directory that every user can write to", "x", openDir, "every user can write to its directory"},
		{"only a file that every user can write to", "x", openFile, "every user can write to it"},
		{"only in a relative entry", "x", "good", `the relative entry "good" of PATH`},
		{"a name that is a path", "../x", good, "want at most 42 of a-z, 0-9 and -"},
		{"a name that ends oddly", "x-", good, "want at most 42"},
		{"a name that is too long", strings.Repeat("x", 43), good, "want at most 42"},
		{"no name", "", good, "want at most 42"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Format.Find(tt.format, tt.path)
			if filepath.IsAbs(tt.want) {
				if want := filepath.Join(tt.want, Format.Prefix()+"x"); err != nil || got != want {
					t.Errorf("found %q, %v; want %q", got, err, want)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("found %q, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestOpenRefusesWhatIsNoProgram(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                           "it is not a file",
		plain:                         "it is not executable; chmod +x makes it so",
		filepath.Join(dir, "nothing"): "no such file or directory",
	} {
		if _, err := Format.Open("x", path, Format.Limits()); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: err = %v, want %s", path, err, want)
		}
	}
}

func TestHold(t *testing.T) {
	p := script(t, Format.Limits(), "exit 0")
	digits := strings.TrimPrefix(p.Digest, "sha256:")
	for _, digest := range []string{p.Digest, digits} {
		if err := p.Hold(digest); err != nil {
			t.Error(err)
		}
	}
	other := strings.Repeat("0", 64)
	if err := p.Hold(other); err == nil || !strings.Contains(err.Error(), p.Digest) || !strings.Contains(err.Error(), other) {
		t.Errorf("err = %v", err)
	}
}

// The process that holds the pipe open for writing still runs. The pipe also says when
// the program has begun: a program that hangs is cancelled then, and not by a time limit
// that a busy machine may use up before.
func TestWhatAProgramStartsDoesNotOutliveIt(t *testing.T) {
	for name, end := range map[string]string{"after it answered": "echo done", "after it hung": "exec sleep 1000"} {
		t.Run(name, func(t *testing.T) {
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			limits := Format.Limits()
			limits.Time = time.Hour
			// The grandchild keeps standard output open, too.
			p := script(t, limits, "exec 3>"+pipe, "echo started >&3", "sleep 1000 &", end)
			ended := make(chan error, 1)
			go func() { _, err := p.Run(ctx, nil); ended <- err }()
			held, err := os.Open(pipe) // once the program has opened it
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			said := bufio.NewReader(held)
			if line, err := said.ReadString('\n'); err != nil || line != "started\n" {
				t.Errorf("read %q, %v", line, err)
			}
			if name == "after it hung" {
				cancel()
			}
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
			if rest, err := io.ReadAll(said); err != nil || len(rest) > 0 { // waits for the end of all that hold it
				t.Errorf("read %q, %v", rest, err)
			}
		})
	}
}

func TestAProgramThatChangesAfterItWasHashedDoesNotRun(t *testing.T) {
	p := script(t, Format.Limits(), "echo done")
	if err := os.WriteFile(p.path, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := p.Run(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "it changed while it was used") {
		t.Errorf("err = %v", err)
	}
}
