// Package deps finds the dependencies of a bundle: the packages that its
// olm.package.required, olm.gvk.required, olm.label.required and olm.constraint
// properties require, and their dependencies in turn.
//
// It is complete: when some choice of bundles meets every requirement, one is found, and
// among those the one that the order of preference names. When none does, the error is a
// minimal set of constraints that cannot hold together.
//
// The rules follow the OLM v0 resolver (operator-lifecycle-manager,
// pkg/controller/registry/resolver), with a release in the place of a namespace: every
// requirement is met by one bundle; of a package there is one bundle; an API has one
// provider.
package deps

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// Limits on one problem. The closures of public catalogs have a few hundred
// candidates and need milliseconds.
const (
	maxCandidates   = 20_000  // bundles that may become part of a solution
	maxExamined     = 100_000 // bundles whose properties are read
	maxProperties   = 10_000  // of one bundle
	maxRequirements = 1_000   // of one bundle
	maxNodes        = 1_000   // nested constraints of one property
	maxDepth        = 16
	solveBudget     = 20 * time.Second
)

// API is a kind of object with its group and version.
type API struct{ Group, Version, Kind string }

// APIVersion returns GROUP/VERSION, or the version alone in the core group.
func (a API) APIVersion() string { return strings.TrimPrefix(a.Group+"/"+a.Version, "/") }

// String returns the API as GROUP/VERSION/KIND.
func (a API) String() string { return a.APIVersion() + "/" + a.Kind }

// Catalog is what dependency resolution reads of a catalog.
type Catalog interface {
	Origin() catalog.Origin
	// Names returns the packages in order. It is asked only where a requirement
	// does not tell which packages could meet it.
	Names() []string
	Has(name string) bool
	Package(name string) (*catalog.Package, error)
	// Providers returns the packages that have a bundle that provides an API.
	Providers(group, version, kind string) ([]string, error)
}

// Source is a catalog and its priority. A package in several catalogs is taken
// from the one with the highest priority; equal priorities are an error.
type Source struct {
	Catalog  Catalog
	Priority int
}

// Root is the bundle whose dependencies are resolved. It is part of every
// solution.
type Root struct {
	Package, Version string
	// Source is the index of the catalog it was chosen in, -1 for content that
	// came from elsewhere.
	Source     int
	Properties []catalog.Property
}

// Installed is a package that is installed already, or will be by the same plan.
type Installed struct {
	Package, Version string
	// By says who installed it, such as "ClusterExtension x".
	By string
	// Properties, where they are known, say what it provides.
	Properties []catalog.Property
	// Planned is set for one that is not there yet, and comes with the root.
	Planned bool
}

// Cluster answers which APIs the cluster serves.
type Cluster interface {
	// Serves reports whether an API is served by something else than the
	// release itself, and, when its definition has an owner, that owner:
	// such an API can have no second provider. An API whose definition an
	// uninstalled release left behind is served by no release.
	Serves(ctx context.Context, api API) (by string, served bool, err error)
}

// Problem is what [Solve] solves: a bundle, the catalogs to take its dependencies from,
// and what is installed.
type Problem struct {
	Root    Root
	Sources []Source // highest priority first
	// Cluster is nil when none may be asked.
	Cluster Cluster
	// Installed are packages of others. They stay as they are.
	Installed []Installed
	// Release are the packages of this release. They stay where they may, and
	// are upgraded rather than downgraded where they may not.
	Release []Installed
}

// Solution is the root with all of its dependencies.
type Solution struct {
	// Packages are in the order to install them: the dependencies of a package come before
	// it, unless they form a circle. The root is one of them, the last one unless its
	// dependencies require it in turn.
	Packages []Package
}

// Package is one package of a solution: the chosen bundle, and what meets its
// requirements.
type Package struct {
	// Choice holds the catalog and channel of the bundle and the reason for it. Of
	// the root only Package and Version are set.
	catalog.Choice
	Root bool
	// Source is the index of its catalog; for the root what the problem says.
	Source int
	// From is the version that the release has, empty when it has none.
	From string
	// Dependencies are its requirements in the order published, each once.
	Dependencies []preview.Dependency
	// APIs are the requirements that the cluster meets.
	APIs []API
}

// TheCluster is the provider named for a requirement that an API of the cluster meets.
const TheCluster = "the cluster"

// Solve returns the packages that the root needs. An [Unsatisfiable] error says that
// there is no solution and why; after any other error it is not known whether there is
// one.
func Solve(ctx context.Context, p Problem) (*Solution, error) {
	u, err := explore(ctx, p)
	if err != nil {
		return nil, err
	}
	f, err := encode(ctx, u)
	if err != nil {
		return nil, err
	}
	chosen, err := f.prefer(ctx)
	if err != nil {
		return nil, err
	}
	if err := u.ambiguous(chosen); err != nil {
		return nil, err
	}
	return u.solution(chosen), nil
}

// solution returns the chosen bundles as a Solution, in the order to install them.
func (u *universe) solution(chosen *selection) *Solution {
	s := &Solution{}
	visited := map[*candidate]bool{}
	var visit func(c *candidate)
	visit = func(c *candidate) {
		if visited[c] {
			return
		}
		visited[c] = true
		pkg := Package{Choice: c.choice, Root: c == u.root, Source: c.source}
		pkg.Why = u.why(c, chosen)
		if held := u.installedOf(c.pkg); held != nil {
			pkg.From = held.Version
		}
		for _, r := range c.requirements {
			d := preview.Dependency{Constraint: r.String()}
			if by := chosen.met[r]; by != nil {
				d.By = "package " + by.label()
				visit(by)
			} else if in := u.planned[r]; in != nil {
				d.By, d.Detail = "package "+in.Package+" "+in.Version, in.By
			} else {
				d.By, d.Detail = TheCluster, u.cluster[r]
				if r.kind == isAPI {
					pkg.APIs = append(pkg.APIs, r.api)
				}
			}
			pkg.Dependencies = append(pkg.Dependencies, d)
		}
		s.Packages = append(s.Packages, pkg)
	}
	visit(u.root)
	return s
}

// Requirements returns the requirements in a bundle's properties as text, in their
// published order, without duplicates.
func Requirements(properties []catalog.Property) ([]string, error) {
	facts, err := readProperties(properties, newCEL())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range facts.requirements {
		out = append(out, r.String())
	}
	return out, nil
}

// Needed reports whether a bundle has any requirement, even one that cannot be read. It
// is cheaper than [Requirements].
func Needed(properties []catalog.Property) bool {
	return slices.ContainsFunc(properties, func(p catalog.Property) bool {
		return p.Type == typeConstraint || strings.HasSuffix(p.Type, ".required")
	})
}
