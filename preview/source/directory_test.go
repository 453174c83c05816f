package source_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

func write(t testing.TB, root string, files map[string]string) string {
	t.Helper()
	for name, body := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestADirectoryIsPinnedToItsPathsAndBytesAlone(t *testing.T) {
	content := map[string]string{"manifests/a.yaml": "a", "manifests/b.yaml": "b", "a.b/c": ""}
	digestOf := func(dir string) string {
		t.Helper()
		pin, _, err := get(t.Context(), source.Options{}, dir)
		if err != nil {
			t.Fatal(err)
		}
		return pin.Source.Digest
	}
	want := digestOf(write(t, t.TempDir(), content))
	// The format of the hash is a promise: saved plans hold it.
	if golden := "sha256:0e8f837268a7b2362f39d0bb411325db3d47610f9a6ca77759a66cbb0985ec8e"; want != golden {
		t.Errorf("got %s, want %s", want, golden)
	}
	other := write(t, t.TempDir(), content)
	if err := os.Chmod(filepath.Join(other, "manifests/a.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(other, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, other, map[string]string{".git/HEAD": "ref", "sub/.git": "gitdir: x"})
	if got := digestOf(other); got != want {
		t.Errorf("another place, a mode, an empty directory or .git changed the digest to %s", got)
	}
	for name, change := range map[string]map[string]string{
		"a byte":        {"manifests/a.yaml": "A"},
		"one more file": {"z": ""},
	} {
		dir := write(t, write(t, t.TempDir(), content), change)
		if digestOf(dir) == want {
			t.Errorf("%s did not change the digest", name)
		}
	}
}

func TestWhatOpensIsWhatWasHashed(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"manifests/a.yaml": "reviewed"})
	r, err := ref.Parse(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := source.New(source.Options{})
	pin, err := f.Pin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"manifests/a.yaml": "swapped"})
	content, err := f.Open(t.Context(), pin)
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := fs.ReadFile(content.FS, "manifests/a.yaml"); string(data) != "reviewed" {
		t.Errorf("got %q", data)
	}
	// A pin from a saved plan has no content: it must hash the same again.
	saved := source.Pin{Source: pin.Source, Reference: pin.Reference}
	if _, err := f.Open(t.Context(), saved); !errors.Is(err, source.ErrDigestMismatch) {
		t.Errorf("got %v, want a digest mismatch", err)
	}
}

func TestDirectoriesThatAreRefused(t *testing.T) {
	tests := []struct {
		name, want string
		prepare    func(t *testing.T, dir string)
	}{
		{"an empty one", "holds no files", func(*testing.T, string) {}},
		{"a link out of it", `"manifests/x" is a symbolic link`, func(t *testing.T, dir string) {
			must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "manifests/x")))
		}},
		{"a link to a directory", "is a symbolic link", func(t *testing.T, dir string) {
			must(t, os.Symlink("/etc", filepath.Join(dir, "more")))
		}},
		{"a pipe", "is a pipe", func(t *testing.T, dir string) {
			must(t, syscall.Mkfifo(filepath.Join(dir, "manifests/x"), 0o600))
		}},
		{"one that nests without end", "levels are read", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{strings.Repeat("d/", 40) + "x": ""})
		}},
		{"a file over the cap", "may have 32 MiB", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"manifests/x": ""})
			must(t, os.Truncate(filepath.Join(dir, "manifests/x"), 33<<20))
		}},
		{"files over the cap together", "more than 64 MiB in all", func(t *testing.T, dir string) {
			for _, name := range []string{"a", "b", "c"} {
				write(t, dir, map[string]string{"manifests/" + name: ""})
				must(t, os.Truncate(filepath.Join(dir, "manifests", name), 30<<20))
			}
		}},
		{"a name that is not text", "not UTF-8", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"manifests/\xff": ""})
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.Mkdir(filepath.Join(dir, "manifests"), 0o755))
			test.prepare(t, dir)
			_, _, err := get(t.Context(), source.Options{}, dir)
			mustFail(t, err, test.want)
		})
	}
	t.Run("one that is missing", func(t *testing.T) {
		_, _, err := get(t.Context(), source.Options{}, "./missing")
		mustFail(t, err, "reading directory ./missing: no such file or directory")
	})
	t.Run("a file", func(t *testing.T) {
		_, _, err := get(t.Context(), source.Options{}, "./directory_test.go")
		mustFail(t, err, "not a directory")
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
