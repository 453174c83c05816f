package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pages"
)

// explainLine points from findings to the pages of their rules.
const explainLine = "What a rule looks at, and when it is less severe: kubectl operator explain RULE"

// reader looks up the origin of a finding's object and how the finding can be
// reduced.
type reader struct {
	objects map[string]*preview.Object
	book    pages.Index
}

func newReader(p *preview.Plan) *reader {
	r := &reader{objects: make(map[string]*preview.Object, len(p.Objects)), book: pages.New()}
	for i := range p.Objects {
		r.objects[p.Objects[i].ID] = &p.Objects[i]
	}
	return r
}

// origin returns the origin of a finding's object; nil when the content has no
// such object.
func (r *reader) origin(f preview.Finding) *preview.Origin {
	if o := r.objects[f.Object]; o != nil && o.Origin.File != "" {
		return &o.Origin
	}
	return nil
}

// where returns the origin as text; empty when it is not known.
func (r *reader) where(f preview.Finding) string {
	o := r.origin(f)
	if o == nil {
		return ""
	}
	return o.Place()
}

// reduce returns the mitigation for a finding; empty if there is none or the rule
// is unknown.
func (r *reader) reduce(f preview.Finding) string {
	page, ok := r.book[f.Rule]
	if !ok || page.Reduce == pages.NothingToReduce {
		return ""
	}
	return page.Reduce
}

// places returns where the objects of findings come from, each place once: that of most
// findings first.
func (r *reader) places(findings []*preview.Finding) []string {
	var out []string
	times := map[string]int{}
	for _, f := range findings {
		where := r.where(*f)
		if where == "" {
			continue
		}
		if times[where]++; times[where] == 1 {
			out = append(out, where)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return times[b] - times[a] })
	return out
}

// namedRules of those that are reduced in one way are named, the others counted.
const namedRules = 3

// reductions returns each way to reduce findings once, after the rules that it is for.
// Information asks for none.
func (r *reader) reductions(findings []*preview.Finding) []string {
	var ways []string
	rules := map[string][]string{}
	for _, f := range findings {
		way := r.reduce(*f)
		if way == "" || f.Severity == preview.Info || slices.Contains(rules[way], f.Rule) {
			continue
		}
		if rules[way] == nil {
			ways = append(ways, way)
		}
		rules[way] = append(rules[way], f.Rule)
	}
	for i, way := range ways {
		names := rules[way]
		more := ""
		if len(names) > namedRules+1 {
			more = fmt.Sprintf(" and %d more rules", len(names)-namedRules)
			names = names[:namedRules]
		}
		ways[i] = strings.Join(names, ", ") + more + ": " + way
	}
	return ways
}
