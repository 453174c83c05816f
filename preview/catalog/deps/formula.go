package deps

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-air/gini"
	"github.com/go-air/gini/z"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// statement is one condition that a solution has to meet, as an explanation can name
// it: needs, single or never is set.
type statement struct {
	// needs: every bundle here requires one of the options of its requirement.
	needs []dependencyEdge
	// single: at most one of these groups may have a bundle in the solution.
	single [][]*candidate
	api    *API // what the groups provide; nil when they are one package's bundles
	// never: no bundle here may be in the solution; why says so.
	never []*candidate
	why   string

	on z.Lit // holds while this literal is assumed
}

// dependencyEdge is a bundle and one of its requirements.
type dependencyEdge struct {
	by *candidate
	r  *requirement
}

// formula has a universe of bundles as clauses for a SAT solver; every statement can be
// switched off to find the ones that contradict each other.
type formula struct {
	u          *universe
	solver     *gini.Gini
	in         []z.Lit // by number: the bundle is in the solution
	statements []*statement
	deadline   time.Time
	model      []bool // by number, of the last solution found
}

// encode returns the universe as clauses. The root is in every solution.
func encode(ctx context.Context, u *universe) (*formula, error) {
	statements, err := u.statements(ctx)
	if err != nil {
		return nil, err
	}
	f := &formula{u: u, solver: gini.NewVc(4*len(u.reached)+64, 16*len(u.reached)+64), statements: statements, deadline: time.Now().Add(solveBudget)}
	for range u.reached {
		f.in = append(f.in, f.solver.Lit())
	}
	f.clause(f.in[u.root.number])
	for _, s := range f.statements {
		s.on = f.solver.Lit()
		for _, n := range s.needs {
			clause := []z.Lit{s.on.Not(), f.in[n.by.number].Not()}
			for _, c := range u.options[n.r] {
				clause = append(clause, f.in[c.number])
			}
			f.clause(clause...)
		}
		for _, c := range s.never {
			f.clause(s.on.Not(), f.in[c.number].Not())
		}
		var groups []z.Lit
		for _, group := range s.single {
			groups = append(groups, f.anyOf(group))
		}
		f.atMostOne(s.on, groups)
	}
	return f, nil
}

// statements returns the conditions on a solution: first the requirements in the order
// they were found, then conflicts with the cluster, then the packages and APIs that can
// have only one installed version or provider.
func (u *universe) statements(ctx context.Context) ([]*statement, error) {
	out := u.needs()
	byPackage, byAPI := map[string][]*candidate{}, map[API][]*candidate{}
	for _, c := range u.reached {
		byPackage[c.pkg] = append(byPackage[c.pkg], c)
		for _, api := range c.apis() {
			byAPI[api] = append(byAPI[api], c)
		}
	}
	apis := sortedKeys(byAPI, compareAPI)
	for i, f := range u.installed {
		if list := byPackage[f.pkg]; len(list) > 0 && f.pkg != u.root.pkg {
			in := u.problem.Installed[i]
			out = append(out, &statement{never: list, why: "package " + in.Package + " " + in.Version + " is installed already, by " + in.By})
		}
	}
	for _, api := range apis {
		never, why, err := u.taken(ctx, api, byAPI[api])
		if err != nil {
			return nil, err
		}
		if len(never) > 0 {
			out = append(out, &statement{never: never, why: why})
		}
	}
	for _, pkg := range sortedKeys(byPackage, strings.Compare) {
		if list := byPackage[pkg]; len(list) > 1 {
			s := &statement{}
			for _, c := range list {
				s.single = append(s.single, []*candidate{c})
			}
			out = append(out, s)
		}
	}
	for _, api := range apis {
		if groups := perPackage(byAPI[api]); len(groups) > 1 {
			out = append(out, &statement{single: groups, api: &api})
		}
	}
	return out, nil
}

// needs returns a statement for each requirement; equal ones of several bundles of a
// package are one statement.
func (u *universe) needs() []*statement {
	var out []*statement
	known := map[[2]string]*statement{}
	for _, c := range u.reached {
		for _, r := range c.requirements {
			if u.cluster[r] != "" {
				continue
			}
			key := [2]string{c.pkg, r.text}
			if known[key] == nil {
				known[key] = &statement{}
				out = append(out, known[key])
			}
			known[key].needs = append(known[key].needs, dependencyEdge{c, r})
		}
	}
	return out
}

// taken returns those bundles of list that cannot be installed because something else
// in the cluster provides the API, and the reason in words. The root and the release's
// own packages are not among them: the review decides about the owners of their
// objects.
func (u *universe) taken(ctx context.Context, api API, list []*candidate) ([]*candidate, string, error) {
	by, err := u.serves(ctx, api)
	if err != nil {
		return nil, "", err
	}
	owner := by.by
	for i, f := range u.installed {
		if f.provides[api] {
			in := u.problem.Installed[i]
			owner = in.Package + " " + in.Version + ", " + in.By
		}
	}
	if owner == "" {
		return nil, "", nil
	}
	never := slices.DeleteFunc(slices.Clone(list), func(c *candidate) bool { return c == u.root || u.installedOf(c.pkg) != nil })
	return never, "API " + api.String() + " is provided already, by " + owner, nil
}

func perPackage(list []*candidate) [][]*candidate {
	var out [][]*candidate
	at := map[string]int{}
	for _, c := range list {
		i, ok := at[c.pkg]
		if !ok {
			i = len(out)
			at[c.pkg] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

func (f *formula) clause(literals ...z.Lit) {
	for _, m := range literals {
		f.solver.Add(m)
	}
	f.solver.Add(z.LitNull)
}

// anyOf returns a literal that is true if one of the bundles is part of the
// solution.
func (f *formula) anyOf(list []*candidate) z.Lit {
	if len(list) == 1 {
		return f.in[list[0].number]
	}
	some := f.solver.Lit()
	for _, c := range list {
		f.clause(f.in[c.number].Not(), some)
	}
	return some
}

// atMostOne adds clauses that allow at most one literal of the list to be true while on
// is, by the sequential encoding (Sinz 2005), whose size is linear. seen is true if any
// of the literals before the current one is.
func (f *formula) atMostOne(on z.Lit, list []z.Lit) {
	var seen z.Lit
	for i, m := range list {
		if i == 0 {
			seen = m
			continue
		}
		f.clause(on.Not(), seen.Not(), m.Not())
		if i == len(list)-1 {
			return
		}
		next := f.solver.Lit()
		f.clause(seen.Not(), next)
		f.clause(m.Not(), next)
		seen = next
	}
}

var errBudget = errors.New("finding out which packages go together takes too long; narrow the catalogs with --catalog, or install the required packages one by one")

// solve reports whether all clauses can be true together with the assumed literals, and
// keeps the solution. Running out of time is an error.
func (f *formula) solve(ctx context.Context, assumed ...z.Lit) (bool, error) {
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		f.solver.Assume(assumed...)
		// Clauses learned in a slice of time stay for the next.
		switch f.solver.Try(100 * time.Millisecond) {
		case 1:
			f.model = f.model[:0]
			for _, m := range f.in {
				f.model = append(f.model, f.solver.Value(m))
			}
			return true, nil
		case -1:
			return false, nil
		}
		if time.Now().After(f.deadline) {
			return false, errBudget
		}
	}
}

// selection is the part of a solution that is needed: the chosen bundles, and which of
// them meets each requirement that the cluster does not meet.
type selection struct {
	order []*candidate
	in    map[*candidate]bool
	met   map[*requirement]*candidate
	// first is the requirement that brought a bundle in.
	first map[*candidate]dependencyEdge
}

// prefer chooses for each requirement, beginning with the root's, the most preferred
// bundle that allows a complete solution. Without a solution it returns the explanation
// as error.
func (f *formula) prefer(ctx context.Context) (*selection, error) {
	var all []z.Lit
	for _, s := range f.statements {
		all = append(all, s.on)
	}
	ok, err := f.solve(ctx, all...)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, f.explain(ctx)
	}
	for _, m := range all {
		f.clause(m)
	}
	chosen := &selection{in: map[*candidate]bool{}, met: map[*requirement]*candidate{}, first: map[*candidate]dependencyEdge{}}
	chosen.add(f.u.root)
	for i := 0; i < len(chosen.order); i++ {
		c := chosen.order[i]
		for _, r := range c.requirements {
			picked, err := f.pick(ctx, chosen, r)
			if err != nil {
				return nil, err
			}
			if picked == nil {
				continue
			}
			chosen.met[r] = picked
			if !chosen.in[picked] {
				chosen.add(picked)
				chosen.first[picked] = dependencyEdge{c, r}
				f.clause(f.in[picked.number])
			}
		}
	}
	return chosen, nil
}

func (s *selection) add(c *candidate) {
	s.in[c] = true
	s.order = append(s.order, c)
}

// pick returns the bundle that meets a requirement, nil if the cluster does. Bundles
// that are already in the solution are preferred to others, but bundles that the
// release has installed are preferred to those.
func (f *formula) pick(ctx context.Context, chosen *selection, r *requirement) (*candidate, error) {
	options := slices.Clone(f.u.options[r])
	slices.SortStableFunc(options, func(a, b *candidate) int {
		rank := func(c *candidate) bool { return !chosen.in[c] && !f.u.keeps(c) }
		return preview.FalseFirst(rank(a), rank(b))
	})
	for _, c := range options {
		if chosen.in[c] || f.model[c.number] {
			return c, nil
		}
		if ok, err := f.solve(ctx, f.in[c.number]); ok || err != nil {
			return c, err
		}
	}
	if f.u.cluster[r] == "" {
		// The clauses say that one option holds.
		return nil, errors.New("no bundle of the solution meets a requirement; this is a bug")
	}
	return nil, nil
}
