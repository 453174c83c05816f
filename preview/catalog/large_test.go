package catalog_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/catalogtest"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// A catalog's memory is what its index of packages has, and no part of its bundles: by
// what a small one takes for each bundle, one of 70,000 is far below its limit.
func TestACatalogTakesLittleForEachBundle(t *testing.T) {
	const (
		bundleBytes = 10_000
		held        = 50    // bytes for each bundle, in an open catalog
		made        = 1_000 // bytes for each bundle that are allocated by the first reading
	)
	few, fewMade := opening(t, catalogtest.Size{Packages: 50, Bundles: 20, BundleBytes: bundleBytes})
	many, manyMade := opening(t, catalogtest.Size{Packages: 200, Bundles: 20, BundleBytes: bundleBytes})
	heldEach, madeEach := (many-few)/3_000, (manyMade-fewMade)/3_000
	t.Logf("each of 3,000 more bundles of %d bytes: %.0f bytes are held, %.0f were allocated", bundleBytes, heldEach, madeEach)
	if heldEach > held || madeEach > made {
		t.Errorf("for each of 3,000 more bundles %.0f bytes are held, at most %d, and %.0f allocated, at most %d", heldEach, held, madeEach, made)
	}
}

// opening returns how many bytes an open catalog holds, and how many were allocated to
// read it for the first time.
func opening(t *testing.T, size catalogtest.Size) (held, made float64) {
	t.Helper()
	dir := t.TempDir()
	catalogtest.Generate(t, dir, size)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	store := source.New(source.Options{CacheDir: t.TempDir()}).Store()
	before := heap()
	opened, err := catalog.Open(store, "generated", catalog.Origin{Reference: dir}, func(visit func(string, io.Reader) error) error {
		return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			return errors.Join(visit(path, file), file.Close())
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	after := heap()
	if p, err := opened.Package(catalogtest.PackageName(size.Packages - 1)); err != nil || len(p.Channels[0].Entries) != size.Bundles {
		t.Fatalf("got %+v, %v", p, err)
	}
	return float64(after.HeapAlloc) - float64(before.HeapAlloc), float64(after.TotalAlloc - before.TotalAlloc)
}

// heap returns what is in use and what was allocated, after a collection.
func heap() runtime.MemStats {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one finalized
	runtime.ReadMemStats(&s)
	return s
}
