package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pages"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// ExplainCommand returns the command that shows the page of a rule.
func ExplainCommand(rule string) string { return commandline.Operator("explain", rule) }

// Reader looks up, for findings of a plan, the file that their object came from and how
// to reduce them.
type Reader struct {
	plan    *preview.Plan
	objects map[string]*preview.Object
	// obstructed are the objects that prevent the plan from being applied.
	obstructed map[string]bool
	// cluster are the flags that address commands to the cluster of the plan.
	cluster []string
	// Book has the pages of the rules.
	Book pages.Index
}

// NewReader returns the reader of a plan.
func NewReader(p *preview.Plan) *Reader {
	r := &Reader{plan: p, objects: make(map[string]*preview.Object, len(p.Objects)), obstructed: map[string]bool{}, Book: pages.New()}
	r.cluster = commandline.Flags(p.Request.Flags, commandline.Connection)
	for i := range p.Objects {
		r.objects[p.Objects[i].ID] = &p.Objects[i]
	}
	for _, o := range verdict.For(p).Obstacles {
		r.obstructed[o.Object] = true
	}
	return r
}

// Object returns an object of the plan; nil if there is none.
func (r *Reader) Object(id string) *preview.Object { return r.objects[id] }

// Reduce returns how to make a finding less severe, with commands about the release of the
// plan; empty if there is no way.
func (r *Reader) Reduce(f preview.Finding) string {
	return commandline.OfPlan(r.plan, r.Book.Reduce(f))
}

// Origin returns the file and line that a finding's evidence came from, or its object
// where only that is known; nil if it did not come from a file of the content.
func (r *Reader) Origin(f preview.Finding) *preview.Origin {
	o := r.objects[f.Object]
	if o == nil || o.Origin.File == "" {
		return nil
	}
	origin := o.Origin.At(f.Line)
	return &origin
}

// where returns the file and line of [Reader.Origin], as text; empty if
// they are not known.
func (r *Reader) where(f preview.Finding) string {
	o := r.Origin(f)
	if o == nil {
		return ""
	}
	return o.Place()
}

// places returns the different files that the objects of findings come from, the most
// frequent first.
func (r *Reader) places(findings []*preview.Finding) []string {
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

// namedRules is how many rules are named before a way to reduce their findings (3);
// further ones are counted.
const namedRules = 3

// reductions returns the different ways to reduce findings, each after the names of the
// rules that it is for. Findings of severity info are left out.
func (r *Reader) reductions(findings []*preview.Finding) []string {
	var ways []string
	rules := map[string][]string{}
	for _, f := range findings {
		way := r.Reduce(*f)
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
