package diskcache

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASealedDocumentComesBackAsItWas(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := Cache{Dir: filepath.Join(t.TempDir(), "cache")}
	NewSealed(c, 10).Keep("a", []byte("0123456789"))
	if data, ok := NewSealed(c, 10).Load("a"); !ok || string(data) != "0123456789" {
		t.Errorf("got %q, %t", data, ok)
	}
	file := filepath.Join(c.Dir, derivedDir, "a")
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

func TestADocumentThatIsNotOursIsNotBelieved(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, file string){
		"nothing is kept":                    func(t *testing.T, file string) { must(t, os.Remove(file)) },
		"a byte is another one":              func(t *testing.T, file string) { edit(t, file, func(b []byte) []byte { b[3] ^= 1; return b }) },
		"its end is missing":                 func(t *testing.T, file string) { edit(t, file, func(b []byte) []byte { return b[:len(b)-1] }) },
		"nothing but a seal":                 func(t *testing.T, file string) { edit(t, file, func(b []byte) []byte { return b[len(b)-32:] }) },
		"it is empty":                        func(t *testing.T, file string) { edit(t, file, func([]byte) []byte { return nil }) },
		"it is larger than documents may be": func(t *testing.T, file string) { edit(t, file, func(b []byte) []byte { return bytes.Repeat(b, 100) }) },
		"it was kept under another name":     func(t *testing.T, file string) { must(t, os.Rename(filepath.Join(filepath.Dir(file), "other"), file)) },
		"a link leads to it": func(t *testing.T, file string) {
			must(t, os.Rename(file, file+"-"))
			must(t, os.Symlink(file+"-", file))
		},
		"a directory has its place":       func(t *testing.T, file string) { must(t, os.Remove(file)); must(t, os.Mkdir(file, 0o700)) },
		"it was written with another key": func(t *testing.T, _ string) { t.Setenv("XDG_STATE_HOME", t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			c := Cache{Dir: t.TempDir()}
			s := NewSealed(c, 100)
			s.Keep("a", []byte("a document"))
			s.Keep("other", []byte("another document"))
			spoil(t, filepath.Join(c.Dir, derivedDir, "a"))
			if data, ok := NewSealed(c, 100).Load("a"); ok {
				t.Errorf("got %q", data)
			}
			s.Keep("a", []byte("kept anew"))
			if data, ok := s.Load("a"); !ok || string(data) != "kept anew" {
				t.Errorf("kept again: %q, %t", data, ok)
			}
		})
	}
}

func TestWithoutAPlaceNothingIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for name, s := range map[string]Sealed{
		"the cache is a file":       NewSealed(Cache{Dir: file}, 100),
		"the document is too large": NewSealed(Cache{Dir: t.TempDir()}, 3),
	} {
		s.Keep("a", []byte("a document"))
		if data, ok := s.Load("a"); ok {
			t.Errorf("%s: got %q", name, data)
		}
	}
	s := NewSealed(Cache{Dir: t.TempDir()}, 100)
	for _, name := range []string{"", "../a", "a/b", ".hidden"} {
		s.Keep(name, []byte("a document"))
		if data, ok := s.Load(name); ok || strings.Contains(string(data), "document") {
			t.Errorf("%q: got %q", name, data)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, file string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, change(data), 0o600))
}
