package byprogram

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// script is a program that runs these lines.
func script(t *testing.T, limits program.Limits, lines ...string) *program.Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), program.Source.Prefix()+"test")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := program.Source.Open("test", path, limits)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// archive returns a tar with these members, and a file of the name "a" at its end.
func archive(t *testing.T, members ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, m := range append(members, tar.Header{Name: "a", Typeflag: tar.TypeReg, Mode: 0o644, Size: 1}) {
		if err := w.WriteHeader(&m); err != nil {
			t.Fatal(err)
		}
		if m.Typeflag == tar.TypeReg {
			if _, err := w.Write(make([]byte, m.Size)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// bomb returns a tar with a file of zeros, compressed.
func bomb(t *testing.T, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(archive(t, tar.Header{Name: "zeros", Typeflag: tar.TypeReg, Mode: 0o644, Size: size})); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The request is contract: programs of others read it.
func TestRequest(t *testing.T) {
	got, err := Request("sums", "https://example.com/a?b=c&d")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"apiVersion":"kubectl-operator/v1alpha1","kind":"SourceRequest","metadata":{"name":"sums"},"spec":{"address":"https://example.com/a?b=c\u0026d"}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAProgramPrintsIsTheContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "content.tar")
	if err := os.WriteFile(path, archive(t, tar.Header{Name: "b/c", Typeflag: tar.TypeReg, Mode: 0o755, Size: 2}), 0o600); err != nil {
		t.Fatal(err)
	}
	// An address is no part of a command line: nothing of it is run.
	files, err := Fetch(t.Context(), script(t, program.Source.Limits(), `grep -q '"address":"$(touch x); .*"' || exit 1`, "cat "+path), "$(touch x); `id` '", filetree.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	err = fs.WalkDir(files.Freeze(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if diff := cmp.Diff([]string{"a", "b/c"}, names); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestProgramsThatMisbehaveAreOneSentence(t *testing.T) {
	limits := program.Source.Limits()
	short := limits
	short.Time = 200 * time.Millisecond
	member := func(name string, kind byte, link string) []byte {
		return archive(t, tar.Header{Name: name, Typeflag: kind, Linkname: link, Mode: 0o644})
	}
	little := limits
	little.Memory = 64 << 20
	for _, tt := range []struct {
		name   string
		limits program.Limits
		lines  []string
		answer []byte // the file $ANSWER
		want   string
	}{
		{"hangs", short, []string{"exec sleep 1000"}, nil, "it did not end within 200ms"},
		{"prints 10 GB", limits, []string{"exec head -c 10000000000 /dev/zero"}, nil, "it printed too much: more than 128 MiB"},
		{"takes memory without end", little, []string{`awk 'BEGIN { s = "x"; while (1) s = s s }'`, "echo no memory >&2; exit 1"}, nil, "exit code 1: "},
		{"exits 3 and draws on the terminal", limits, []string{`printf '\033[2Jgone\r\nreally\007' >&2; exit 3`}, nil, `exit code 3: \x1b[2Jgone; really\x07`},
		{"exits 1 after a good answer", limits, []string{"cat $ANSWER", "exit 1"}, archive(t), "exit code 1"},
		{"prints nothing", limits, []string{"exit 0"}, nil, "it printed nothing; want a tar of the files on standard output"},
		{"prints garbage", limits, []string{"head -c 3000 /dev/zero | tr '\\0' x"}, nil, "its answer: it is neither a tar archive"},
		{"prints half a tar", limits, []string{"head -c 700 $ANSWER"}, archive(t, tar.Header{Name: "b", Typeflag: tar.TypeReg, Size: 1000}), "its answer: the archive ends too early"},
		{"prints no files", limits, []string{"head -c 1024 /dev/zero"}, nil, "its answer: it holds no files"},
		{"prints a bomb", limits, []string{"cat $ANSWER"}, bomb(t, 30<<20), "its answer: \"zeros\": it inflates to more than 200 times its size"},
		{"writes above its root", limits, []string{"cat $ANSWER"}, member("../../etc/passwd", tar.TypeReg, ""), "its answer: \"../../etc/passwd\": a path with"},
		{"writes to the root of the machine", limits, []string{"cat $ANSWER"}, member("/etc/passwd", tar.TypeReg, ""), "its answer: \"/etc/passwd\": an absolute path"},
		{"makes a link that leads out", limits, []string{"cat $ANSWER"}, member("out", tar.TypeSymlink, "/etc"), "its answer: \"out\" is a symbolic link"},
		{"makes a hard link", limits, []string{"cat $ANSWER"}, member("out", tar.TypeLink, "../x"), "its answer: \"out\" is a hard link"},
		{"makes a device", limits, []string{"cat $ANSWER"}, member("null", tar.TypeChar, ""), "its answer: \"null\" is a device"},
		{"makes a pipe", limits, []string{"cat $ANSWER"}, member("pipe", tar.TypeFifo, ""), "its answer: \"pipe\" is a pipe"},
		{"has a file twice", limits, []string{"cat $ANSWER"}, member("a", tar.TypeReg, ""), "its answer: \"a\" is in it twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.limits.Memory == little.Memory && runtime.GOOS != "linux" {
				t.Skip("skipped: no other system limits memory")
			}
			answer := filepath.Join(t.TempDir(), "answer")
			if err := os.WriteFile(answer, tt.answer, 0o600); err != nil {
				t.Fatal(err)
			}
			files, err := Fetch(t.Context(), script(t, tt.limits, append([]string{"ANSWER=" + answer}, tt.lines...)...), "x", filetree.DefaultLimits())
			if err == nil || files != nil || !strings.HasPrefix(err.Error(), "running kubectl-operator-source-test: "+tt.want) {
				t.Fatalf("files %v, err = %v\nwant %s", files, err, tt.want)
			}
			t.Log(err)
			if strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 700 {
				t.Errorf("not one sentence: %q", err)
			}
		})
	}
}

// Tools and credentials of the user's are found, and nothing else of the environment is.
func TestAProgramHasAFewVariables(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("skipped: this system has no /proc")
	}
	t.Setenv("SECRET", "of the user")
	t.Setenv("HOME", "/home/of-the-user")
	t.Setenv("HTTPS_PROXY", "http://proxy.invalid")
	p := script(t, program.Source.Limits(), "ls -A >&2", "tr '\\0' ' ' </proc/$$/environ >&2", "exit 1")
	_, err := Fetch(t.Context(), p, "x", filetree.DefaultLimits())
	if err == nil {
		t.Fatal("it passed")
	}
	for _, want := range []string{"LANG=C ", "HOME=/home/of-the-user", "HTTPS_PROXY=http://proxy.invalid", "PATH="} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is missing: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "SECRET") {
		t.Errorf("it has more: %v", err)
	}
}
