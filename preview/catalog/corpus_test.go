package catalog

import (
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// corpus returns a catalog of the shared corpus, or skips the test.
func corpus(t testing.TB, name string) fs.FS {
	t.Helper()
	dir := corpustest.Dir(t, "catalogs", name)
	if name != "community-operators-derived" {
		return os.DirFS(dir)
	}
	f, err := os.Open(filepath.Join(dir, "catalog.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"catalog.jsonl": {Data: data}}
}

func loadCorpus(t testing.TB, name string) *Catalog {
	t.Helper()
	c, err := Load(corpus(t, name), Origin{Reference: name})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSlowEveryPackageOfTheRealCatalogsResolvesOrSaysWhyNot(t *testing.T) {
	slowtest.Skip(t, "the catalogs of the corpus")
	tests := []struct {
		catalog  string
		packages int
		refused  map[string]string
	}{
		{"openshift-community-v4.19", 37, nil},
		{"aws-load-balancer-operator-v4.14", 1, nil},
		{"aws-load-balancer-operator-v4.19", 1, nil},
		{"external-dns-operator-v4.19", 1, nil},
		{"registry-fbc-dir", 1, nil},
		{"community-operators-derived", 332, map[string]string{
			"kubernaut-operator": "two bundles are named",
			"slurm-operator":     "two bundles are named",
		}},
	}
	for _, test := range tests {
		t.Run(test.catalog, func(t *testing.T) {
			c := loadCorpus(t, test.catalog)
			if len(c.Names()) != test.packages {
				t.Errorf("%d packages", len(c.Names()))
			}
			found := map[string]Hit{}
			for _, hit := range Search([]*Catalog{c}, "") {
				found[hit.Package] = hit
			}
			for _, name := range c.Names() {
				choice, err := Resolve([]*Catalog{c}, Query{Package: name})
				if want := test.refused[name]; want != "" {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: got %v, want %q", name, err, want)
					}
					continue
				}
				if err != nil {
					t.Error(err)
					continue
				}
				if hit := found[name]; hit.Version != choice.Version || hit.DefaultChannel != choice.Channel || hit.Problem != "" {
					t.Errorf("%s: search says %+v, resolve %+v", name, hit, choice)
				}
			}
		})
	}
}

func TestAConfigTemplateIsNoCatalog(t *testing.T) {
	_, err := Load(corpus(t, "external-dns-operator-template"), Origin{Reference: "x"})
	if err == nil || !strings.Contains(err.Error(), "holds no packages") {
		t.Error(err)
	}
}

func TestUpgradesInARealCatalog(t *testing.T) {
	c := loadCorpus(t, "external-dns-operator-v4.19")
	choice, err := Resolve([]*Catalog{c}, Query{
		Package:   "external-dns-operator",
		Installed: &Installed{Bundle: "external-dns-operator.v1.1.0", Version: "1.1.0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	head, err := Resolve([]*Catalog{c}, Query{Package: "external-dns-operator"})
	if err != nil {
		t.Fatal(err)
	}
	// Every entry has a skipRange below itself, so one step leads to the top.
	if choice.Bundle != head.Bundle || choice.Current {
		t.Errorf("got %s, want the head %s", choice.Bundle, head.Bundle)
	}
}

func BenchmarkLoad(b *testing.B) {
	fsys := corpus(b, "community-operators-derived")
	for b.Loop() {
		if _, err := Load(fsys, Origin{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	c := []*Catalog{loadCorpus(b, "openshift-community-v4.19")}
	for b.Loop() {
		if _, err := Resolve(c, Query{Package: "dell-csm-operator"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	c := []*Catalog{loadCorpus(b, "community-operators-derived")}
	for b.Loop() {
		Search(c, "")
	}
}

func BenchmarkProviders(b *testing.B) {
	for _, name := range []string{"community-operators-derived", "openshift-community-v4.19"} {
		b.Run(name, func(b *testing.B) {
			c := loadCorpus(b, name)
			for b.Loop() {
				if _, err := c.makeTable(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The cost of asking for one package, the most expensive one.
func BenchmarkPackage(b *testing.B) {
	c := loadCorpus(b, "community-operators-derived")
	worst, most := "", 0
	for _, name := range c.Names() {
		docs, err := c.documents(name)
		if err != nil {
			b.Fatal(err)
		}
		size := 0
		for _, d := range docs.bundles {
			size += len(d.raw)
		}
		if size > most {
			worst, most = name, size
		}
	}
	for b.Loop() {
		if _, err := c.Package(worst); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(most), "B/package")
}
