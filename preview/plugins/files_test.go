package plugins

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// fetched reads a config whose plugins lie in dir.
func fetched(t *testing.T, dir, config string, q Request) (*Set, []FetchedPlugin, error) {
	t.Helper()
	set, err := Parse([]byte(config), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if q.Platform == "" {
		q.Platform = "linux/amd64"
	}
	q.Sources = source.New(source.Options{CacheDir: t.TempDir(), Artifacts: true, Platform: q.Platform})
	got, err := Fetch(t.Context(), set, q)
	return set, got, err
}

func own(plugins ...string) string {
	return "apiVersion: kubectl-operator/v1alpha1\nkind: PluginSet\nmetadata: {name: host}\nspec: {plugins: [" + strings.Join(plugins, ", ") + "]}"
}

// packed writes a tar archive of NAME or NAME MODE, each file holding its name.
func packed(t *testing.T, path string, members ...tar.Header) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		if m.Size = int64(len(m.Name)); m.Typeflag == tar.TypeSymlink {
			m.Size = 0
		}
		if err := w.WriteHeader(&m); err != nil {
			t.Fatal(err)
		}
		if m.Size > 0 {
			if _, err := w.Write([]byte(m.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, path, b.String())
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreLaidOutAsTheConfigSays(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "script"), "#!/bin/sh\n")
	put(t, filepath.Join(dir, "notes"), "some text\n")
	packed(t, filepath.Join(dir, "one.tar"), tar.Header{Name: "x-1/neo", Mode: 0o700})
	packed(t, filepath.Join(dir, "many.tar"), tar.Header{Name: "x-1/bin/neo", Mode: 0o644}, tar.Header{Name: "x-1/LICENSE", Mode: 0o644})
	for _, test := range []struct{ name, plugin, want string }{
		{"a plain file is the output", `{output: a/b, reference: ./notes}`, "0644 a/b"},
		{"a plain file that the host runs becomes executable", `{output: a, reference: ./notes, program: true}`, "0755 a"},
		{"an archive of one file is the output, with its mode", `{output: a, reference: ./one.tar}`, "0700 a"},
		{"an archive of several goes below the output", `{output: a, reference: ./many.tar}`, "0644 a/x-1/LICENSE, 0644 a/x-1/bin/neo"},
		{"one file of an archive may be picked", `{output: a, reference: ./many.tar, path: x-1/bin/neo}`, "0644 a"},
		{"a folder of an archive may be picked", `{output: a, reference: ./many.tar, path: x-1/bin}`, "0644 a"},
		{"files are moved, the others left out", `{output: a, reference: ./many.tar, files: [{from: "*/bin", to: .}]}`, "0644 a/bin/neo"},
		{"the program is a command too", `{output: a, reference: ./many.tar, bin: x-1/bin/neo, command: bin/kubectl-neo}`,
			"0644 a/x-1/LICENSE, 0755 a/x-1/bin/neo, 0755 bin/kubectl-neo"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, got, err := fetched(t, dir, own(test.plugin), Request{})
			if err != nil {
				t.Fatal(err)
			}
			files, err := Files(got)
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, f := range files {
				list = append(list, f.Mode+" "+f.Path)
			}
			if text := strings.Join(list, ", "); text != test.want {
				t.Errorf("files are %s, want %s", text, test.want)
			}
		})
	}
}

func TestWhatCannotBeLaidOutIsRefused(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "notes"), "some text\n")
	packed(t, filepath.Join(dir, "many.tar"), tar.Header{Name: "neo", Mode: 0o644}, tar.Header{Name: "b/c", Mode: 0o644})
	packed(t, filepath.Join(dir, "link.tar"), tar.Header{Typeflag: tar.TypeSymlink, Name: "neo", Linkname: "/etc/passwd"})
	packed(t, filepath.Join(dir, "out.tar"), tar.Header{Name: "../../neo", Mode: 0o644})
	sum := strings.Repeat("0a", 32)
	for _, test := range []struct {
		name, want string
		plugins    []string
	}{
		{"a link out of the location", "is a symbolic link", []string{`{output: a, reference: ./link.tar}`}},
		{"a path out of the location", `a path with ".."`, []string{`{output: a, reference: ./out.tar}`}},
		{"a wrong checksum", "and the config wants sha256:0a0a", []string{`{output: a, reference: ./notes, sha256: ` + sum + `}`}},
		{"a file that is not there", "no such file or directory", []string{`{output: a, reference: ./none}`}},
		{"a pick that is not there", "holds no x", []string{`{output: a, reference: ./many.tar, path: x}`}},
		{"a pattern that nothing fits", "no file of the artifact fits *.exe", []string{`{output: a, reference: ./many.tar, files: [{from: "*.exe", to: .}]}`}},
		{"a program that is not there", "its program x is not among its files", []string{`{output: a, reference: ./many.tar, bin: x}`}},
		{"several files where the host runs one", "the host runs one file, and the artifact brings 2", []string{`{output: a, reference: ./many.tar, program: true}`}},
		{"no artifact for the platform", "it has no artifact for linux/amd64", []string{`{output: a, platforms: [{platform: darwin/arm64, reference: ./notes}]}`}},
		{"two plugins that bring one file", "both bring a/neo", []string{`{output: a, reference: ./many.tar}`, `{output: a/neo, reference: ./notes}`}},
		{"a file where another needs a directory", "needs a directory there", []string{`{output: a, reference: ./notes}`, `{output: a/b, reference: ./notes}`}},
		{"a credential that is not set", "environment variable NONE, which is not set", []string{`{output: a, reference: ./notes, auth: {bearer: {env: NONE}}}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, got, err := fetched(t, dir, own(test.plugins...), Request{Getenv: func(string) string { return "" }})
			if err == nil {
				_, err = Files(got)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// A large file is held once: laying it out copies none of its bytes.
func TestALargeFileIsHeldOnce(t *testing.T) {
	dir := t.TempDir()
	const size = 32 << 20
	put(t, filepath.Join(dir, "large"), strings.Repeat("large\n", size/6))
	_, got, err := fetched(t, dir, own(`{output: a, reference: ./large}`), Request{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	files, err := Files(got)
	runtime.ReadMemStats(&after)
	if err != nil || len(files) != 1 || len(files[0].Data) < size-6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > size/2 {
		t.Errorf("laying out %d bytes takes %d more", size, n)
	}
}
