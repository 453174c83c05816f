package deps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// candidate is a bundle that could be part of the solution.
type candidate struct {
	*bundleFacts
	number  int
	order   catalog.Version
	choice  catalog.Choice
	source  int
	place   preference
	bundle  *catalog.Bundle // nil for the root
	filled  bool
	problem string // why it can never be chosen
}

// preference is the position of a bundle in the order that the bundles of its package
// are preferred.
type preference struct {
	other   bool   // not in the default channel
	channel string // empty for the default channel
	index   int    // head first
}

func (c *candidate) label() string { return c.pkg + " " + c.choice.Version }

// universe has everything that a solution can consist of: the root, and all bundles that
// can meet its requirements, or a requirement of such a bundle.
type universe struct {
	problem Problem
	rules   *celRules

	root      *candidate
	reached   []*candidate // in the order found, the root first
	numbered  map[*candidate]bool
	options   map[*requirement][]*candidate // in the order of preference
	cluster   map[*requirement]string       // what meets it without installing
	planned   map[*requirement]*Installed   // of problem.Installed, what of that comes with the root
	installed []*bundleFacts                // of problem.Installed
	served    map[API]apiServer

	packages map[packageKey][]*candidate // every bundle that was looked at
	broken   map[packageKey]error
	examined int
}

type packageKey struct {
	source int
	name   string
}

// apiServer says whether the cluster serves an API (ok), and which release or object
// provides it (by; may be empty).
type apiServer struct {
	by string
	ok bool
}

// explore returns the universe of a problem: every bundle that the root may need,
// directly or indirectly.
func explore(ctx context.Context, p Problem) (*universe, error) {
	u := &universe{
		problem: p, rules: newCEL(), numbered: map[*candidate]bool{},
		options: map[*requirement][]*candidate{}, cluster: map[*requirement]string{}, planned: map[*requirement]*Installed{},
		served: map[API]apiServer{}, packages: map[packageKey][]*candidate{}, broken: map[packageKey]error{},
	}
	if err := u.addRoot(p.Root); err != nil {
		return nil, err
	}
	if err := u.addInstalled(p.Installed); err != nil {
		return nil, err
	}
	// The list grows while it is walked.
	for i := 0; i < len(u.reached); i++ {
		c := u.reached[i]
		for _, r := range c.requirements {
			if err := u.resolve(ctx, c, r); err != nil {
				return nil, fmt.Errorf("what %s requires: %w", c.label(), err)
			}
		}
	}
	return u, nil
}

func (u *universe) addRoot(root Root) error {
	f, err := readProperties(root.Properties, u.rules)
	if err != nil {
		return fmt.Errorf("%s %s: %w", root.Package, root.Version, err)
	}
	c := &candidate{bundleFacts: f, source: root.Source, choice: catalog.Choice{Package: root.Package, Version: root.Version}}
	if c.order, c.version, err = parseVersion(root.Version); err != nil {
		return fmt.Errorf("%s: %w", root.Package, err)
	}
	c.pkg = root.Package
	u.root = c
	u.reach(c)
	return nil
}

// addInstalled adds the packages that others have installed. If the properties of one
// are not known, conditions on them are neither met nor unmet.
func (u *universe) addInstalled(list []Installed) error {
	for _, in := range list {
		f, err := readProperties(in.Properties, u.rules)
		if err != nil {
			f = &bundleFacts{}
		}
		if _, f.version, err = parseVersion(in.Version); err != nil {
			return fmt.Errorf("package %s, installed by %s: %w", in.Package, in.By, err)
		}
		f.pkg, f.partial, f.requirements = in.Package, len(in.Properties) == 0, nil
		u.installed = append(u.installed, f)
	}
	return nil
}

func (u *universe) reach(c *candidate) {
	if u.numbered[c] {
		return
	}
	u.numbered[c] = true
	c.number = len(u.reached)
	u.reached = append(u.reached, c)
}

// resolve finds the bundles that can meet a requirement of the bundle by, and whether
// the cluster meets it already.
func (u *universe) resolve(ctx context.Context, by *candidate, r *requirement) error {
	all, err := u.candidates(ctx, r)
	if err != nil {
		return err
	}
	var options []*candidate
	for _, c := range all {
		if c.pkg == u.root.pkg && c != u.root || r.excludes(c) {
			continue
		}
		if err := u.fill(c); err != nil {
			return err
		}
		if c.problem != "" {
			continue
		}
		switch t, err := r.eval(c.bundleFacts); {
		case err != nil:
			return err
		case t == yes:
			options = append(options, c)
		}
	}
	slices.SortStableFunc(options, func(a, b *candidate) int { return u.compare(by, a, b) })
	if u.cluster[r], err = u.onCluster(ctx, r, options); err != nil {
		return err
	}
	if u.cluster[r] != "" {
		// Only what the release has already is better than needing nothing.
		options = slices.DeleteFunc(options, func(c *candidate) bool { return !u.keeps(c) && c != u.root })
	}
	u.options[r] = options
	for _, c := range options {
		u.reach(c)
	}
	if len(u.reached) > maxCandidates {
		return fmt.Errorf("more than %d bundles could be part of it; narrow the catalogs with --catalog", maxCandidates)
	}
	return nil
}

// candidates returns the bundles that may meet a requirement, from the packages that it
// names, or from every package if it names none.
func (u *universe) candidates(ctx context.Context, r *requirement) ([]*candidate, error) {
	names, known, err := r.scope(u)
	if err != nil {
		return nil, err
	}
	out := []*candidate{u.root}
	for source, s := range u.problem.Sources {
		from := names
		if !known {
			from = s.Catalog.Names()
		}
		for _, name := range from {
			if !s.Catalog.Has(name) {
				continue
			}
			bundles, err := u.bundles(ctx, source, name)
			if err != nil {
				return nil, err
			}
			out = append(out, bundles...)
		}
	}
	return out, nil
}

// compare compares two bundles that meet a requirement of the bundle by: the preferred
// one is less.
func (u *universe) compare(by, a, b *candidate) int {
	own := func(c *candidate) bool { return c.source == by.source }
	first := func(is func(*candidate) bool) int { return preview.FalseFirst(!is(a), !is(b)) }
	return cmp.Or(
		first(func(c *candidate) bool { return c == u.root }),
		first(u.keeps),
		first(func(c *candidate) bool { return c.bundle == nil || c.bundle.Deprecated == "" }),
		first(u.raises),
		first(own),
		cmp.Compare(a.source, b.source),
		preview.FalseFirst(a.place.other, b.place.other),
		strings.Compare(a.pkg, b.pkg),
		strings.Compare(a.place.channel, b.place.channel),
		cmp.Compare(a.place.index, b.place.index),
	)
}

// installedOf returns the installed version of a package of this release, nil if the
// release does not have the package.
func (u *universe) installedOf(pkg string) *Installed {
	i := slices.IndexFunc(u.problem.Release, func(in Installed) bool { return in.Package == pkg })
	if i < 0 {
		return nil
	}
	return &u.problem.Release[i]
}

// keeps reports whether a bundle is the version that this release has installed.
func (u *universe) keeps(c *candidate) bool {
	held := u.installedOf(c.pkg)
	if held == nil {
		return false
	}
	v, err := catalog.ParseVersion(held.Version)
	return err == nil && v.Compare(c.order) == 0
}

// raises reports whether a bundle is at least the version that this release has
// installed; true if it has none.
func (u *universe) raises(c *candidate) bool {
	held := u.installedOf(c.pkg)
	if held == nil {
		return true
	}
	v, err := catalog.ParseVersion(held.Version)
	return err != nil || v.Compare(c.order) <= 0
}

// onCluster describes what meets a requirement without installing anything, empty if
// nothing does. An API that one of the options of this release provides counts only if
// the cluster has it from another owner.
func (u *universe) onCluster(ctx context.Context, r *requirement, options []*candidate) (string, error) {
	for i, f := range u.installed {
		if f.pkg == u.root.pkg {
			continue // it is about to be replaced
		}
		t, err := r.eval(f)
		if err != nil {
			return "", err
		}
		if t == yes {
			in := &u.problem.Installed[i]
			if in.Planned {
				u.planned[r] = in
			}
			return fmt.Sprintf("%s %s, %s", in.Package, in.Version, in.By), nil
		}
	}
	ours := slices.ContainsFunc(options, func(c *candidate) bool { return c == u.root || u.installedOf(c.pkg) != nil })
	for _, api := range r.apis() {
		by, err := u.serves(ctx, api)
		if err != nil {
			return "", err
		}
		if !by.ok || ours && by.by == "" {
			continue
		}
		t, err := r.eval(&bundleFacts{provides: map[API]bool{api: true}, partial: true})
		if err != nil {
			return "", err
		}
		if t == yes {
			return strings.TrimSuffix(fmt.Sprintf("serves %s, %s", api, by.by), ", "), nil
		}
	}
	return "", nil
}

// apis returns the APIs that a constraint names.
func (c *constraint) apis() []API {
	if c.kind == isAPI {
		return []API{c.api}
	}
	var out []API
	for _, n := range c.nested {
		out = append(out, n.apis()...)
	}
	return out
}

func (u *universe) serves(ctx context.Context, api API) (apiServer, error) {
	if u.problem.Cluster == nil {
		return apiServer{}, nil
	}
	if known, ok := u.served[api]; ok {
		return known, nil
	}
	by, ok, err := u.problem.Cluster.Serves(ctx, api)
	if err != nil {
		return apiServer{}, fmt.Errorf("asking the cluster for %s: %w", api, err)
	}
	u.served[api] = apiServer{by, ok}
	return u.served[api], nil
}

var errTooMany = errors.New("more bundles than are allowed would have to be looked at; narrow the catalogs with --catalog")
