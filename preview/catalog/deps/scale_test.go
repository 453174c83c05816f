package deps

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
)

// tree is a problem of many packages; each has the given number of versions and needs
// ten others: the first needs all of them.
func tree(t testing.TB, packages, versions int) Problem {
	t.Helper()
	name := func(i int) string { return fmt.Sprintf("p%05d", i) }
	var list []bundle
	for i := range packages {
		for v := range versions {
			b := bundle{pkg: name(i), version: fmt.Sprintf("1.%d.0", v)}
			for needed := 10*i + 1; needed <= 10*i+10 && needed < packages; needed++ {
				b.properties = append(b.properties, needsPackage(name(needed), ">=1.0.0"))
			}
			list = append(list, b)
		}
	}
	return Problem{Root: root(needsPackage(name(0), ">=1.0.0")), Sources: sources(published(t, "cat", list...))}
}

// A solution of 5,000 packages allocates as many bytes per package as one of 500: it is
// the same on each machine.
func TestThousandsOfPackagesAreSolvedInLinearWork(t *testing.T) {
	each := func(packages int) float64 {
		p := tree(t, packages, 1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := mustSolve(t, p)
		runtime.ReadMemStats(&after)
		if len(s.Packages) != packages+1 { // with the root
			t.Fatalf("%d packages of %d", len(s.Packages), packages)
		}
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(packages)
	}
	few, many := each(500), each(5_000)
	t.Logf("%.0f bytes for each of 500, %.0f for each of 5,000", few, many)
	if many > 1.5*few {
		t.Errorf("each of 5,000 packages costs %.0f bytes, each of 500 costs %.0f", many, few)
	}
}

// How many bundles are looked at has a bound, and the error for more names what to do.
func TestSlowMoreBundlesThanAreSolvedAreRefused(t *testing.T) {
	slowtest.Skip(t, "a problem of more than 20,000 bundles")
	_, err := Solve(context.Background(), tree(t, 7_000, 3))
	if err == nil || !strings.Contains(err.Error(), "more than 20000 bundles could be part of it; narrow the catalogs with --catalog") {
		t.Errorf("got %v", err)
	}
}
