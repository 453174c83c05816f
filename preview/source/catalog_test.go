package source_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// state keeps the key of a test away from the user's.
func state(t testing.TB) { t.Setenv("XDG_STATE_HOME", t.TempDir()) }

func parse(t testing.TB, text string) ref.Reference {
	t.Helper()
	r, err := ref.Parse(text)
	must(t, err)
	return r
}

// walkCatalog reads a catalog as a stream.
func walkCatalog(ctx context.Context, f *source.Fetcher, r ref.Reference) (source.Pin, map[string]string, error) {
	pin, err := f.PinCatalog(ctx, r)
	if err != nil {
		return pin, nil, err
	}
	out := map[string]string{}
	return pin, out, f.WalkCatalog(ctx, pin, func(name string, r io.Reader) error {
		data, err := io.ReadAll(r)
		out[name] = string(data)
		return err
	})
}

var catalogLabels = map[string]string{source.LabelConfigs: "/configs"}

func pushCatalog(t testing.TB, r sourcetest.Registry) string {
	t.Helper()
	digest, err := source.PushLayers(t.Context(), r.Host+"/c:v1", catalogLabels, r.Options(t),
		sourcetest.Tar(t, sourcetest.File("bin/opm", "base"), sourcetest.File("configs/old.yaml", "1"), sourcetest.File("configs/a.yaml", "1")),
		sourcetest.Tar(t, sourcetest.File("configs/.wh.old.yaml", ""), sourcetest.File("configs/a.yaml", "2"), sourcetest.File("configs/sub/b.yaml", "2")))
	must(t, err)
	return digest
}

func TestACatalogReadAsAStreamIsTheOneThatOpens(t *testing.T) {
	state(t)
	registry := sourcetest.Plain(t)
	pushCatalog(t, registry)
	image := pull(t, registry, "c:v1")
	dir := write(t, t.TempDir(), map[string]string{"a.yaml": "1", "sub/b.yaml": "2", ".git/config": "x", "sub/.git": "x"})
	archive := tempFile(t, sourcetest.Tar(t, sourcetest.File("a.yaml", "1"), sourcetest.File("b/c.yaml", "2")))
	for _, text := range []string{
		registry.Host + "/c:v1",
		"oci-layout:" + layoutOf(t, map[string]v1.Image{"v1": image}),
		dir,
		archive,
	} {
		o := registry.Options(t)
		wantPin, content, err := get(t.Context(), o, text)
		must(t, err)
		f := source.New(o)
		pin, got, err := walkCatalog(t.Context(), f, parse(t, text))
		must(t, err)
		if want := files(t, content.FS); !maps.Equal(got, want) || pin.Source != wantPin.Source {
			t.Errorf("%s: got %q as %+v, want %q as %+v", text, got, pin.Source, want, wantPin.Source)
		}
		if id := f.Identity(pin); !strings.Contains(id, pin.Source.Digest) {
			t.Errorf("identity %s", id)
		}
	}
}

func TestAnotherPlatformIsAnotherCatalog(t *testing.T) {
	registry := sourcetest.TLS(t)
	digest := pushCatalog(t, registry)
	o := registry.Options(t)
	r := parse(t, registry.Host+"/c@"+digest)
	one := source.New(o)
	pin, err := one.PinCatalog(t.Context(), r)
	must(t, err)
	o.Platform = "linux/arm64"
	if two := source.New(o); one.Identity(pin) == two.Identity(pin) {
		t.Error("one identity")
	}
}

func TestAnImageThatIsNoCatalogIsRefused(t *testing.T) {
	registry := sourcetest.TLS(t)
	push(t, registry, "b:v1", bundleDir(), nil)
	_, _, err := walkCatalog(t.Context(), source.New(registry.Options(t)), parse(t, registry.Host+"/b:v1"))
	mustFail(t, err, "not a catalog image: it has no label operators.operatorframework.io.index.configs.v1")
	push(t, registry, "c:v1", bundleDir(), catalogLabels)
	_, _, err = walkCatalog(t.Context(), source.New(registry.Options(t)), parse(t, registry.Host+"/c:v1"))
	mustFail(t, err, `names "configs", which the image does not have`)
}

func TestADamagedLayerIsFetchedAgainBeforeAnyOfItIsVisited(t *testing.T) {
	registry := sourcetest.TLS(t)
	pushCatalog(t, registry)
	o := registry.Options(t)
	r := parse(t, registry.Host+"/c:v1")
	_, want, err := walkCatalog(t.Context(), source.New(o), r)
	must(t, err)
	damaged := 0
	must(t, filepath.WalkDir(filepath.Join(o.CacheDir, "blobs"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err == nil {
			data[len(data)/2] ^= 1
			damaged++
			err = os.WriteFile(name, data, 0o600)
		}
		return err
	}))
	_, got, err := walkCatalog(t.Context(), source.New(o), r)
	if err != nil || !maps.Equal(got, want) || damaged < 4 {
		t.Errorf("got %q, %v after %d blobs were damaged", got, err, damaged)
	}
	o.Offline = true
	if _, got, err := walkCatalog(t.Context(), source.New(o), r); err != nil || !maps.Equal(got, want) {
		t.Errorf("offline: got %q, %v", got, err)
	}
}

func TestWhatAVisitorRefusesIsSaid(t *testing.T) {
	registry := sourcetest.TLS(t)
	pushCatalog(t, registry)
	f := source.New(registry.Options(t))
	dir := write(t, t.TempDir(), map[string]string{"a.yaml": "1"})
	for _, text := range []string{registry.Host + "/c:v1", dir} {
		pin, err := f.PinCatalog(t.Context(), parse(t, text))
		must(t, err)
		enough := errors.New("enough")
		if err := f.WalkCatalog(t.Context(), pin, func(string, io.Reader) error { return enough }); !errors.Is(err, enough) {
			t.Errorf("%s: %v", text, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := f.WalkCatalog(ctx, pin, func(string, io.Reader) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// treeOf is the pin of a directory, which both ways of pinning agree on.
func treeOf(t *testing.T, o source.Options, dir string) string {
	t.Helper()
	streamed, err := source.New(o).PinCatalog(t.Context(), parse(t, dir))
	must(t, err)
	whole, err := source.New(o).Pin(t.Context(), parse(t, dir))
	must(t, err)
	if streamed.Source != whole.Source {
		t.Fatalf("pinned to %+v and to %+v", streamed.Source, whole.Source)
	}
	return streamed.Source.Digest
}

func TestADirectoryThatChangedIsPinnedAnew(t *testing.T) {
	state(t)
	o := source.Options{CacheDir: t.TempDir()}
	dir := write(t, t.TempDir(), map[string]string{"a": "1", "sub/b": "2", "c": "3"})
	file := filepath.Join(dir, "a")
	seen := map[string]string{treeOf(t, o, dir): "at first"}
	for _, change := range []struct {
		name string
		how  func() error
	}{
		{"the same size, at once", func() error { return os.WriteFile(file, []byte("7"), 0o600) }},
		{"the same size and time", func() error {
			info, err := os.Stat(file)
			return errors.Join(err, os.WriteFile(file, []byte("8"), 0o600), os.Chtimes(file, info.ModTime(), info.ModTime()))
		}},
		{"another file under its name", func() error {
			return errors.Join(os.WriteFile(file+".new", []byte("9"), 0o600), os.Rename(file+".new", file))
		}},
		{"a new file", func() error { return os.WriteFile(filepath.Join(dir, "sub", "new"), nil, 0o600) }},
		{"one file less", func() error { return os.Remove(filepath.Join(dir, "c")) }},
		{"one moved", func() error { return os.Rename(filepath.Join(dir, "sub", "b"), filepath.Join(dir, "b")) }},
	} {
		must(t, change.how())
		got := treeOf(t, o, dir)
		if before, same := seen[got]; same {
			t.Errorf("%s: the digest of %q", change.name, before)
		}
		seen[got] = change.name
		if again := treeOf(t, o, dir); again != got {
			t.Errorf("%s: %s, then %s", change.name, got, again)
		}
	}
}

func TestATableOfSomebodyElseIsNotBelieved(t *testing.T) {
	state(t)
	o := source.Options{CacheDir: t.TempDir()}
	dir := write(t, t.TempDir(), map[string]string{"a": "1"})
	want := treeOf(t, o, dir)
	tables, err := filepath.Glob(filepath.Join(o.CacheDir, "derived", "*.stats-1"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("%q, %v", tables, err)
	}
	whole, err := os.ReadFile(tables[0])
	must(t, err)
	for at := range whole {
		poisoned := []byte(string(whole))
		poisoned[at] ^= 1
		must(t, os.WriteFile(tables[0], poisoned, 0o600))
		if got := treeOf(t, o, dir); got != want {
			t.Fatalf("byte %d: %s", at, got)
		}
	}
	state(t) // another user's key
	must(t, os.WriteFile(tables[0], whole, 0o600))
	if got := treeOf(t, o, dir); got != want {
		t.Errorf("got %s", got)
	}
}

func TestADirectoryThatChangesBetweenPinAndWalkIsNoCatalog(t *testing.T) {
	state(t)
	f := source.New(source.Options{CacheDir: t.TempDir()})
	dir := write(t, t.TempDir(), map[string]string{"a": "1", "b": "2"})
	pin, err := f.PinCatalog(t.Context(), parse(t, dir))
	must(t, err)
	write(t, dir, map[string]string{"b": "3"})
	err = f.WalkCatalog(t.Context(), pin, func(_ string, _ io.Reader) error { return nil })
	if !errors.Is(err, source.ErrDigestMismatch) {
		t.Errorf("got %v", err)
	}
}

func TestDirectoriesThatAreNoCatalogsAreRefused(t *testing.T) {
	state(t)
	f := source.New(source.Options{CacheDir: t.TempDir()})
	linked := t.TempDir()
	must(t, os.Symlink("/etc/passwd", filepath.Join(linked, "x")))
	for dir, want := range map[string]string{
		t.TempDir():                            "it holds no files",
		linked:                                 "is a symbolic link",
		filepath.Join(linked, "nowhere") + "/": "no such file",
	} {
		_, err := f.PinCatalog(t.Context(), parse(t, dir))
		mustFail(t, err, want)
	}
}

func TestTheStoreKeepsFilesWholeOrNotAtAll(t *testing.T) {
	state(t)
	o := source.Options{CacheDir: t.TempDir()}
	store := source.New(o).Store()
	if _, err := store.Open("x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	yields := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, _ = io.WriteString(w, text)
			return err
		}
	}
	must(t, store.Create("x", yields("one", nil)))
	broke := errors.New("broke")
	if err := store.Create("x", yields("half", broke)); !errors.Is(err, broke) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"", ".hidden", "../x", "a/b", `a\b`} {
		if err := store.Create(name, yields("", nil)); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
	held := files(t, os.DirFS(filepath.Join(o.CacheDir, "derived")))
	if want := fmt.Sprint(map[string]string{"x": "one"}); fmt.Sprint(held) != want {
		t.Errorf("got %v, want %s", held, want)
	}
}

func TestTheKeyIsTheUsersAndNotInTheCache(t *testing.T) {
	state(t)
	o := source.Options{CacheDir: t.TempDir()}
	key := source.New(o).Store().Key()
	if again := source.New(o).Store().Key(); len(key) != 32 || string(again) != string(key) {
		t.Error("another key the second time")
	}
	info, err := os.Stat(filepath.Join(os.Getenv("XDG_STATE_HOME"), "kubectl-operator", "cache-key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	store := source.New(o).Store()
	if one, two := store.Key(), store.Key(); len(one) != 32 || string(one) != string(two) || string(one) == string(key) {
		t.Error("without a home, the key is not one of this process")
	}
}
