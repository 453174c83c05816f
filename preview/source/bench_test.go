package source_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/fstest"

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
