package deps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// world is a random problem in the plainest form, for trying out everything.
type world struct {
	suffix    string // of every package and kind: many worlds share the catalogs
	root      worldBundle
	bundles   []worldBundle
	catalogs  int
	served    map[string]string // kind to owner
	release   map[string]string // package to version
	installed map[string]string
}

type worldBundle struct {
	catalog  int
	pkg      string
	version  int
	provides []string
	needs    []worldNeed
}

// worldNeed asks for a kind, or for a package between two versions.
type worldNeed struct {
	kind, pkg string
	low, high int
}

func (n worldNeed) metBy(b worldBundle) bool {
	if n.kind != "" {
		return slices.Contains(b.provides, n.kind)
	}
	return b.pkg == n.pkg && b.version >= n.low && b.version <= n.high
}

func (n worldNeed) property() catalog.Property {
	if n.kind != "" {
		return needsAPI(n.kind)
	}
	return needsPackage(n.pkg, fmt.Sprintf(">=%d.0.0 <=%d.0.0", n.low, n.high))
}

func randomWorld(r *rand.Rand, suffix string) world {
	w := world{suffix: suffix, catalogs: 1 + r.IntN(2), served: map[string]string{}, release: map[string]string{}, installed: map[string]string{}}
	packages, kinds := w.packages(), []string{"A" + suffix, "B" + suffix, "C" + suffix}
	need := func() worldNeed {
		if r.IntN(3) == 0 {
			return worldNeed{kind: kinds[r.IntN(len(kinds))]}
		}
		low := 1 + r.IntN(3)
		return worldNeed{pkg: packages[r.IntN(len(packages))], low: low, high: low + r.IntN(3)}
	}
	fill := func(b worldBundle, most int) worldBundle {
		for range r.IntN(most + 1) {
			b.needs = append(b.needs, need())
		}
		if r.IntN(3) == 0 {
			b.provides = append(b.provides, kinds[r.IntN(len(kinds))])
		}
		return b
	}
	w.root = fill(worldBundle{catalog: -1, pkg: "app", version: 1}, 3)
	for c := range w.catalogs {
		for _, pkg := range packages {
			for _, v := range r.Perm(3)[:r.IntN(4)] {
				w.bundles = append(w.bundles, fill(worldBundle{catalog: c, pkg: pkg, version: v + 1}, 2))
			}
		}
	}
	for _, k := range kinds {
		switch r.IntN(8) {
		case 0:
			w.served[k] = "somebody"
		case 1:
			w.served[k] = ""
		}
	}
	for _, pkg := range packages {
		switch r.IntN(8) {
		case 0:
			w.release[pkg] = fmt.Sprintf("%d.0.0", 1+r.IntN(3))
		case 1:
			w.installed[pkg] = fmt.Sprintf("%d.0.0", 1+r.IntN(3))
		}
	}
	return w
}

func (w world) packages() []string {
	return []string{"p" + w.suffix, "q" + w.suffix, "r" + w.suffix, "s" + w.suffix}
}

func (b worldBundle) properties() []catalog.Property {
	var out []catalog.Property
	for _, n := range b.needs {
		out = append(out, n.property())
	}
	for _, k := range b.provides {
		out = append(out, provides(k))
	}
	return out
}

// publishAll puts the bundles of many worlds into two catalogs.
func publishAll(t testing.TB, worlds []world) []Source {
	t.Helper()
	var lists [2][]bundle
	for _, w := range worlds {
		for _, b := range w.bundles {
			lists[b.catalog] = append(lists[b.catalog], bundle{pkg: b.pkg, version: fmt.Sprintf("%d.0.0", b.version), properties: b.properties()})
		}
	}
	return sources(published(t, "c0", lists[0]...), published(t, "c1", lists[1]...))
}

func (w world) problem(sources []Source) Problem {
	p := Problem{Sources: sources, Root: root(w.root.properties()...), Cluster: serving(w.served)}
	for _, pkg := range w.packages() {
		if v := w.release[pkg]; v != "" {
			p.Release = append(p.Release, Installed{Package: pkg, Version: v, By: "release"})
		}
		if v := w.installed[pkg]; v != "" {
			p.Installed = append(p.Installed, Installed{Package: pkg, Version: v, By: "others"})
		}
	}
	return p
}

func (w world) keeps(b worldBundle) bool { return w.release[b.pkg] == fmt.Sprintf("%d.0.0", b.version) }

// onCluster reports whether a need is met without installing. An API that belongs to no
// one counts unless the release has a package that could be its provider.
func (w world) onCluster(n worldNeed) bool {
	for pkg, version := range w.installed {
		if n.pkg == pkg && version >= fmt.Sprint(n.low) && version <= fmt.Sprintf("%d.0.0", n.high) {
			return true
		}
	}
	by, served := w.served[n.kind]
	if n.kind == "" || !served {
		return false
	}
	ours := n.metBy(w.root) || slices.ContainsFunc(w.bundles, func(b worldBundle) bool {
		return n.metBy(b) && w.release[b.pkg] != ""
	})
	return by != "" || !ours
}

// allowed reports whether a bundle may be added to others.
func (w world) allowed(set []worldBundle, b worldBundle) bool {
	if w.installed[b.pkg] != "" {
		return false
	}
	for _, k := range b.provides {
		if w.served[k] != "" && w.release[b.pkg] == "" {
			return false
		}
	}
	for _, other := range set {
		if other.pkg == b.pkg {
			return false
		}
		for _, k := range b.provides {
			if slices.Contains(other.provides, k) {
				return false
			}
		}
	}
	return true
}

// options are the bundles that meet a need, best first.
func (w world) options(by worldBundle, n worldNeed) []worldBundle {
	var out []worldBundle
	for _, b := range append([]worldBundle{w.root}, w.bundles...) {
		if n.metBy(b) {
			out = append(out, b)
		}
	}
	back := func(b worldBundle) bool { return fmt.Sprintf("%d.0.0", b.version) < w.release[b.pkg] }
	slices.SortStableFunc(out, func(a, b worldBundle) int {
		return cmp.Or(
			preview.FalseFirst(a.catalog != -1, b.catalog != -1),
			preview.FalseFirst(!w.keeps(a), !w.keeps(b)),
			preview.FalseFirst(back(a), back(b)),
			preview.FalseFirst(a.catalog != by.catalog, b.catalog != by.catalog),
			cmp.Compare(a.catalog, b.catalog), strings.Compare(a.pkg, b.pkg), cmp.Compare(b.version, a.version))
	})
	return out
}

// extend tries out everything: it reports whether the needs that are left can
// be met by adding bundles to a set.
func (w world) extend(set []worldBundle, at, need int) bool {
	for ; at < len(set); at, need = at+1, 0 {
		for ; need < len(set[at].needs); need++ {
			n := set[at].needs[need]
			if w.onCluster(n) || slices.ContainsFunc(set, n.metBy) {
				continue
			}
			for _, b := range w.bundles {
				if n.metBy(b) && w.allowed(set, b) && w.extend(append(slices.Clone(set), b), at, need+1) {
					return true
				}
			}
			return false
		}
	}
	return true
}

// best follows the order of preference, trying out after each step whether the
// rest can still be met. It returns nil when nothing can.
func (w world) best() []worldBundle {
	set := []worldBundle{w.root}
	if !w.extend(set, 0, 0) {
		return nil
	}
	for at := 0; at < len(set); at++ {
		for _, n := range set[at].needs {
			options := w.options(set[at], n)
			in := func(b worldBundle) bool {
				return slices.ContainsFunc(set, func(o worldBundle) bool {
					return o.pkg == b.pkg && o.version == b.version && o.catalog == b.catalog
				})
			}
			slices.SortStableFunc(options, func(a, b worldBundle) int {
				return preview.FalseFirst(!in(a) && !w.keeps(a), !in(b) && !w.keeps(b))
			})
			for _, b := range options {
				if in(b) {
					break
				}
				if w.onCluster(n) && !w.keeps(b) {
					break
				}
				grown := append(slices.Clone(set), b)
				if w.allowed(set, b) && w.extend(grown, 0, 0) {
					set = grown
					break
				}
			}
		}
	}
	return set
}

func TestSlowItFindsWhatTryingEverythingFinds(t *testing.T) {
	slowtest.Skip(t, "trying every choice of many small catalogs")
	solved, failed := 0, 0
	for batch := range uint64(12) {
		r := rand.New(rand.NewPCG(batch, 1))
		var worlds []world
		for i := range 250 {
			worlds = append(worlds, randomWorld(r, fmt.Sprint(i)))
		}
		sources := publishAll(t, worlds)
		for _, w := range worlds {
			solution, err := Solve(context.Background(), w.problem(sources))
			best := w.best()
			var unsatisfiable *Unsatisfiable
			switch {
			case err != nil && !errors.As(err, &unsatisfiable):
				t.Fatalf("batch %d: %v", batch, err)
			case (err == nil) != (best != nil):
				t.Fatalf("batch %d: got %v (%v), trying everything gives %+v\n%+v", batch, solution, err, best, w)
			case err != nil:
				failed++
				checkMinimal(t, unsatisfiable)
			default:
				solved++
				checkSame(t, w, solution, best)
			}
		}
	}
	if solved < 500 || failed < 500 {
		t.Errorf("only %d problems have a solution and %d have none", solved, failed)
	}
}

func checkSame(t *testing.T, w world, s *Solution, best []worldBundle) {
	t.Helper()
	var got, want []string
	for _, p := range s.Packages {
		got = append(got, fmt.Sprintf("%s %s from %d", p.Package, p.Version, p.Source))
	}
	for _, b := range best {
		want = append(want, fmt.Sprintf("%s %d.0.0 from %d", b.pkg, b.version, b.catalog))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v\n%+v", got, want, w)
	}
}

// checkMinimal tries out every set of bundles against the statements of an
// explanation: no set meets all of them, and without any one some set does.
func checkMinimal(t *testing.T, e *Unsatisfiable) {
	t.Helper()
	all := map[*candidate]bool{}
	for _, s := range e.statements {
		for _, n := range s.needs {
			all[n.by] = true
			for _, o := range e.universe.options[n.r] {
				all[o] = true
			}
		}
		for _, c := range slices.Concat(append(s.single, s.never)...) {
			all[c] = true
		}
	}
	delete(all, e.universe.root)
	others := sortedKeys(all, func(a, b *candidate) int { return cmp.Compare(a.number, b.number) })
	if len(others) > 14 {
		return // too many sets to try
	}
	holdsWithout := make([]bool, len(e.statements))
	for bits := range 1 << len(others) {
		in := map[*candidate]bool{e.universe.root: true}
		for i, c := range others {
			in[c] = bits>>i&1 == 1
		}
		broken := -1
		for i, s := range e.statements {
			if !s.holds(e.universe, in) {
				if broken >= 0 {
					broken = -2
					break
				}
				broken = i
			}
		}
		if broken == -1 {
			t.Fatalf("these can hold together: %v", e)
		}
		if broken >= 0 {
			holdsWithout[broken] = true
		}
	}
	if i := slices.Index(holdsWithout, false); i >= 0 {
		t.Fatalf("%q is not needed in %v", e.Constraints[i], e)
	}
}

func (s *statement) holds(u *universe, in map[*candidate]bool) bool {
	for _, n := range s.needs {
		if in[n.by] && !slices.ContainsFunc(u.options[n.r], func(c *candidate) bool { return in[c] }) {
			return false
		}
	}
	groups := 0
	for _, g := range s.single {
		if slices.ContainsFunc(g, func(c *candidate) bool { return in[c] }) {
			groups++
		}
	}
	return groups <= 1 && !slices.ContainsFunc(s.never, func(c *candidate) bool { return in[c] })
}
