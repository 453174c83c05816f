package source_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// A tag resolved and its content opened, from a registry in this process: cold
// downloads, warm reads the cache and hashes what it finds there. The content
// has the size of the largest bundle known, and does not compress.
func BenchmarkOpen(b *testing.B) {
	registry := sourcetest.TLS(b)
	dir := bundleDir()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 8 {
		data := make([]byte, 512<<10)
		for j := range data {
			data[j] = byte(random.Uint32())
		}
		dir["manifests/"+strconv.Itoa(i)+".yaml"] = &fstest.MapFile{Data: data}
	}
	push(b, registry, "big:v1", dir, nil)
	open := func(b *testing.B, o source.Options) {
		if _, _, err := get(b.Context(), o, registry.Host+"/big:v1"); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		b.SetBytes(4 << 20)
		for b.Loop() {
			open(b, registry.Options(b))
		}
	})
	b.Run("warm", func(b *testing.B) {
		b.SetBytes(4 << 20)
		o := registry.Options(b)
		open(b, o)
		for b.Loop() {
			open(b, o)
		}
	})
}

// The largest catalog directory of the corpus pinned, and the same twelve times:
// with the table of what was hashed before, and without it.
func BenchmarkPinCatalog(b *testing.B) {
	corpus := corpustest.Dir(b, "catalogs", "openshift-community-v4.19")
	for _, copies := range []int{1, 12} {
		dir, known := b.TempDir(), b.TempDir()
		for i := range copies {
			if err := os.CopyFS(filepath.Join(dir, strconv.Itoa(i)), os.DirFS(corpus)); err != nil {
				b.Fatal(err)
			}
		}
		pin := func(b *testing.B, cache string) {
			if _, err := source.New(source.Options{CacheDir: cache}).PinCatalog(b.Context(), parse(b, dir)); err != nil {
				b.Fatal(err)
			}
		}
		state(b)
		b.Run(strconv.Itoa(copies)+"/again", func(b *testing.B) {
			pin(b, known)
			for b.Loop() {
				pin(b, known)
			}
		})
		b.Run(strconv.Itoa(copies)+"/anew", func(b *testing.B) {
			for b.Loop() {
				pin(b, b.TempDir())
			}
		})
	}
}
