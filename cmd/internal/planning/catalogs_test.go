package planning_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func TestAPackageIsChosenInACatalog(t *testing.T) {
	registry := sourcetest.Plain(t)
	dir := catalogOf(t, registry, published{name: "mongodb", version: "1.9.0"}, published{name: "mongodb", version: "1.10.0"}, published{name: "mongodb", version: "1.11.0"})
	for name, tt := range map[string]struct{ reference, version, want string }{
		"the head of the channel":   {"mongodb", "", "mongodb 1.11.0"},
		"a version":                 {"mongodb@1.9.0", "", "mongodb 1.9.0"},
		"the highest of a range":    {"mongodb", "<1.11", "mongodb 1.10.0"},
		"the same version twice":    {"mongodb@1.10.0", "1.10.0", "mongodb 1.10.0"},
		"two versions of one":       {"mongodb@1.10.0", "1.9.0", "ask for two versions"},
		"a version that is not one": {"mongodb", ">=2", "no version"},
	} {
		t.Run(name, func(t *testing.T) {
			p := offline(t, config.Config{})
			p.Source.PlainHTTP, p.Selection.Catalogs, p.Selection.Version = true, []string{dir}, tt.version
			plan, err := planOf(t, p, tt.reference, "")
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error = %v, want %s", err, tt.want)
				}
				return
			}
			if names(plan) != tt.want || plan.Packages[0].Via[0].Channel != "stable" {
				t.Errorf("the plan is of %s, by %+v; want %s", names(plan), plan.Packages[0].Via, tt.want)
			}
		})
	}
}

func TestTheCatalogOfTheHigherPriorityDecides(t *testing.T) {
	registry := sourcetest.Plain(t)
	old, current := catalogOf(t, registry, published{name: "mongodb", version: "1.9.0"}), catalogOf(t, registry, published{name: "mongodb", version: "1.11.0"})
	configured := config.Config{Catalogs: []config.Catalog{{Name: "current", Reference: current}, {Name: "old", Reference: old, Priority: 1}}}
	p := offline(t, configured)
	p.Source.PlainHTTP = true
	if plan := must(t, p, "mongodb", ""); names(plan) != "mongodb 1.9.0" {
		t.Errorf("the plan is of %s", names(plan))
	}
	p = offline(t, configured)
	p.Source.PlainHTTP, p.Selection.Catalogs = true, []string{"current"} // a name of the configuration
	if plan := must(t, p, "mongodb", ""); names(plan) != "mongodb 1.11.0" {
		t.Errorf("of the catalog that is named the plan is of %s", names(plan))
	}
}

func TestAPackageNeedsACatalog(t *testing.T) {
	p := offline(t, config.Config{})
	if _, err := planOf(t, p, "mongodb", ""); !isUsage(err, "kubectl operator catalog add operatorhub quay.io/operatorhubio/catalog:latest") {
		t.Errorf("error = %v", err)
	}
	p.Selection.Catalogs = []string{"clustercatalog:community"}
	if _, err := planOf(t, p, "mongodb", ""); !isUsage(err, "is in the cluster, which is not asked offline") {
		t.Errorf("error = %v", err)
	}
	p = offline(t, config.Config{})
	p.Selection.Catalogs = []string{"community"} // a package, not a catalog
	if _, err := planOf(t, p, "mongodb", ""); !isUsage(err, "--catalog community: want a directory") {
		t.Errorf("error = %v", err)
	}
}

// A package of a catalog and what it requires are one plan, the package that was
// asked for first.
func TestWhatAPackageRequiresIsPlannedWithIt(t *testing.T) {
	registry := sourcetest.Plain(t)
	dir := catalogOf(t, registry, published{name: "redis", version: "2.4.1"}, published{name: "mongodb", version: "1.10.0", requires: "redis >=2.0.0"})
	p := offline(t, config.Config{})
	p.Source.PlainHTTP, p.Selection.Catalogs = true, []string{dir}
	plan := must(t, p, "mongodb", "")
	if names(plan) != "mongodb 1.10.0, redis 2.4.1" || len(plan.Packages[0].Dependencies) != 1 {
		t.Errorf("the plan is of %s, with dependencies %+v", names(plan), plan.Packages[0].Dependencies)
	}
	p = offline(t, config.Config{})
	p.Source.PlainHTTP, p.Selection.Catalogs = true, []string{catalogOf(t, registry, published{name: "mongodb", version: "1.10.0", requires: "redis >=2.0.0"})}
	if _, err := planOf(t, p, "mongodb", ""); err == nil || !strings.Contains(err.Error(), "redis") {
		t.Errorf("without a provider: error = %v", err)
	}
}

// A catalog can say what it likes of an image: what the image says counts.
func TestContentThatIsNotWhatTheCatalogSaysIsRefused(t *testing.T) {
	registry := sourcetest.Plain(t)
	image := push(t, registry, "org/redis:v1", os.DirFS(bundle(t, "redis", "2.4.1")))
	p := offline(t, config.Config{})
	p.Source.PlainHTTP, p.Selection.Catalogs = true, []string{catalogOf(t, registry, published{name: "mongodb", version: "1.10.0", image: image})}
	if _, err := planOf(t, p, "mongodb", ""); !isRefused(err, "is mongodb 1.10.0, and it is redis 2.4.1") {
		t.Errorf("error = %v", err)
	}
	p = offline(t, config.Config{})
	p.Selection.Catalogs = []string{catalogOf(t, registry, published{name: "mongodb", version: "1.10.0", image: "../etc"})}
	if _, err := planOf(t, p, "mongodb", ""); err == nil || !strings.Contains(err.Error(), "../etc") {
		t.Errorf("of a path: error = %v", err)
	}
}
