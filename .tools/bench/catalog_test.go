// Package bench compares with what others wrote, in its own module so that theirs stays
// out of ours.
package bench

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// wanted is how many times faster the first read of a catalog must be.
const wanted = 5

// The real catalog of 332 packages, from its bytes to an index on disk and one
// package out of it, next to operator-registry reading the same bytes. The two
// take turns, so that whatever else the machine does slows both.
func BenchmarkColdIndex(b *testing.B) {
	data := community(b)
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	walk := func(visit func(string, io.Reader) error) error { return visit("catalog.jsonl", bytes.NewReader(data)) }
	var ours, theirs []time.Duration
	measure := func() {
		store := source.New(source.Options{CacheDir: b.TempDir()}).Store()
		start := time.Now()
		opened, err := catalog.Open(store, "benchmark", catalog.Origin{Reference: "community"}, walk)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := opened.Package("mongodb-operator"); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
		start = time.Now()
		config, err := declcfg.LoadReader(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(start))
		if names := opened.Names(); len(config.Packages) != len(names) {
			b.Fatalf("%d packages, and %d", len(names), len(config.Packages))
		}
	}
	for b.Loop() {
		measure()
	}
	for len(ours) < 5 {
		measure()
	}
	ratio := median(theirs).Seconds() / median(ours).Seconds()
	b.ReportMetric(median(ours).Seconds()*1000, "ms/ours")
	b.ReportMetric(median(theirs).Seconds()*1000, "ms/declcfg")
	b.ReportMetric(ratio, "times-faster")
	if ratio < wanted {
		b.Errorf("%.1f times faster than declcfg, want at least %d", ratio, wanted)
	}
}

func median(samples []time.Duration) time.Duration {
	samples = slices.Sorted(slices.Values(samples))
	return samples[len(samples)/2]
}

// community is the catalog, or skips the benchmark.
func community(b *testing.B) []byte {
	b.Helper()
	root := os.Getenv("CORPUS")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	file, err := os.Open(filepath.Join(root, "catalogs", "community-operators-derived", "catalog.jsonl.gz"))
	if err != nil {
		if os.Getenv("CI") != "" {
			b.Fatalf("the corpus is missing: %v", err)
		}
		b.Skip("skipped: no corpus (set CORPUS)")
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		b.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	return data
}
