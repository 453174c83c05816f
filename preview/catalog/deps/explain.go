package deps

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-air/gini/z"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// Unsatisfiable is the error for a root whose requirements cannot be met by any choice
// of bundles.
type Unsatisfiable struct {
	Package, Version string
	// Constraints cannot hold together; every proper subset of them can.
	Constraints []string
	// Also are requirements of the root that nothing meets either.
	Also []string

	universe   *universe
	statements []*statement // the texts of Constraints
}

func (e *Unsatisfiable) Error() string {
	text := fmt.Sprintf("%s %s cannot be installed with its dependencies: %s", e.Package, e.Version, strings.Join(e.Constraints, "; "))
	const most = 5
	if len(e.Also) > 0 {
		text += "; also, " + strings.Join(e.Also[:min(len(e.Also), most)], "; ")
	}
	if more := len(e.Also) - most; more > 0 {
		text += fmt.Sprintf("; and %d more requirements cannot be met", more)
	}
	return text
}

// explain returns an [Unsatisfiable] error with a minimal set of statements that
// contradict each other: without any one of them there would be no contradiction. All
// statements together must contradict each other.
func (f *formula) explain(ctx context.Context) error {
	// A package says more than its APIs, so it is named where both are missing.
	slices.SortStableFunc(f.statements, func(a, b *statement) int { return preview.FalseFirst(!a.namesPackage(), !b.namesPackage()) })
	core, err := f.conflict(ctx, nil, false, f.statements)
	if err != nil {
		return err
	}
	e := &Unsatisfiable{Package: f.u.root.pkg, Version: f.u.root.choice.Version, universe: f.u, statements: core}
	for _, s := range core {
		e.Constraints = append(e.Constraints, f.u.sentence(s))
	}
	for _, s := range f.statements {
		if len(s.needs) == 1 && s.needs[0].by == f.u.root && len(f.u.options[s.needs[0].r]) == 0 && !slices.Contains(core, s) {
			e.Also = append(e.Also, f.u.sentence(s))
		}
	}
	return e
}

func (s *statement) namesPackage() bool {
	return len(s.needs) > 0 && s.needs[0].r.kind == isPackage
}

// conflict returns a minimal part of list that contradicts background, by QuickXplain
// (Junker, AAAI 2004). grown is set if background has grown since the last call, so
// that it may contradict itself. For k of n statements it calls the solver about
// k·log(n/k) times; the result depends only on the order of the list.
func (f *formula) conflict(ctx context.Context, background []*statement, grown bool, list []*statement) ([]*statement, error) {
	if grown {
		var on []z.Lit
		for _, s := range background {
			on = append(on, s.on)
		}
		if ok, err := f.solve(ctx, on...); err != nil || !ok {
			return nil, err
		}
	}
	if len(list) <= 1 {
		return list, nil
	}
	left, right := list[:len(list)/2], list[len(list)/2:]
	fromRight, err := f.conflict(ctx, slices.Concat(background, left), true, right)
	if err != nil {
		return nil, err
	}
	fromLeft, err := f.conflict(ctx, slices.Concat(background, fromRight), len(fromRight) > 0, left)
	return slices.Concat(fromLeft, fromRight), err
}

// sentence returns a statement in words, for the explanation.
func (u *universe) sentence(s *statement) string {
	switch {
	case len(s.needs) > 0:
		return u.needSentence(s.needs)
	case s.api != nil:
		var names []string
		for _, group := range s.single {
			names = append(names, group[0].pkg)
		}
		return fmt.Sprintf("API %s can have one provider only, of %s", *s.api, catalog.Few(names))
	case len(s.single) > 0:
		return fmt.Sprintf("of package %s one version only can be installed", s.single[0][0].pkg)
	}
	return s.why
}

func (u *universe) needSentence(needs []dependencyEdge) string {
	r := needs[0].r
	var versions []string
	for _, n := range needs {
		versions = append(versions, n.by.choice.Version)
	}
	verb := "requires"
	if len(slices.Compact(versions)) > 1 {
		verb = "require"
	}
	text := fmt.Sprintf("%s %s %s %s", needs[0].by.pkg, catalog.Few(slices.Compact(versions)), verb, r)
	options := u.options[r]
	if len(options) == 0 {
		return text + "; " + u.missing(r)
	}
	if r.kind == isPackage {
		return text
	}
	var names []string
	for _, group := range perPackage(options) {
		names = append(names, group[0].pkg)
	}
	return text + ", which only " + catalog.Few(names) + " can meet"
}

// missing returns in words why no bundle meets a requirement.
func (u *universe) missing(r *requirement) string {
	if len(u.problem.Sources) == 0 {
		return "no catalog is configured to look in; name one with --catalog"
	}
	if r.kind == isPackage && r.pkg == u.root.pkg {
		return "it is being installed itself, in version " + u.root.choice.Version
	}
	if text := u.unusable(r); text != "" {
		return text
	}
	switch r.kind {
	case isPackage:
		var versions []string
		for source := range u.problem.Sources {
			for _, c := range u.packages[packageKey{source, r.pkg}] {
				versions = append(versions, c.choice.Version)
			}
		}
		if len(versions) > 0 {
			return "the catalogs have " + catalog.Few(versions)
		}
		return "no catalog has that package"
	case isAPI:
		return "no catalog has a package that provides it"
	}
	return "no catalog has a package that meets it"
}

// unusable returns text about the first bundle or package that could meet a requirement
// but cannot be used, with the reason; empty if there is none.
func (u *universe) unusable(r *requirement) string {
	names, known, err := r.scope(u)
	if err != nil || !known {
		return ""
	}
	for source := range u.problem.Sources {
		for _, name := range names {
			key := packageKey{source, name}
			if err := u.broken[key]; err != nil {
				return shorten(err.Error())
			}
			for _, c := range u.packages[key] {
				if c.problem != "" && !r.excludes(c) {
					return fmt.Sprintf("%s cannot be used: %s", c.label(), shorten(c.problem))
				}
			}
		}
	}
	return ""
}

// ambiguous returns an error if a chosen package is in two catalogs of equal priority,
// so that the user has to choose between them. A bundle from the catalog of the bundle
// that requires it needs no such choice.
func (u *universe) ambiguous(chosen *selection) error {
	for _, c := range chosen.order[1:] {
		from := chosen.first[c]
		if c.source == from.by.source || u.keeps(c) {
			continue
		}
		for _, other := range u.options[from.r] {
			a, b := u.problem.Sources[c.source], u.problem.Sources[max(other.source, 0)]
			if other.pkg != c.pkg || other.source == c.source || other == u.root || a.Priority != b.Priority {
				continue
			}
			origins := [2]string{a.Catalog.Origin().Digest, b.Catalog.Origin().Digest}
			if origins[0] != "" && origins[0] == origins[1] {
				continue
			}
			return fmt.Errorf("package %q, which %s requires, is in two catalogs of equal priority, %s and %s; choose one with --catalog, or give one a higher priority",
				c.pkg, from.by.label(), a.Catalog.Origin().Reference, b.Catalog.Origin().Reference)
		}
	}
	return nil
}

// why returns in words which requirement made a bundle part of the solution, and how
// the bundle was chosen; empty for the root.
func (u *universe) why(c *candidate, chosen *selection) string {
	from, ok := chosen.first[c]
	if !ok {
		return ""
	}
	how := "head of channel "
	if c.place.index > 0 {
		how = "first to fit of channel "
	}
	how += c.choice.Channel
	if u.keeps(c) {
		how = "the release has it"
	}
	return fmt.Sprintf("required by %s; %s", from.by.label(), how)
}

func compareAPI(a, b API) int {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Version, b.Version))
}

func sortedKeys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(m), compare)
}
