package risk

import (
	"errors"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

var errNoPlan = errors.New("judging risks: there is no plan")

// scan is one evaluation: the plan, what rules look up in it, and what they
// found.
type scan struct {
	in       Input
	plan     *preview.Plan
	rules    []entry
	found    map[string]*merged // by finding id
	own      map[string]bool    // GROUP/RESOURCE and GROUP/* of the plan's CRDs
	accounts map[string]bool    // NAMESPACE/NAME of the plan's ServiceAccounts
	origins  map[string]string  // KIND/NAMESPACE/NAME → object id
	related  map[string]bool    // nil when no list is known
}

func newScan(in Input) *scan {
	c := &scan{
		in: in, plan: in.Plan, rules: table(), found: map[string]*merged{},
		own: map[string]bool{}, accounts: map[string]bool{}, origins: map[string]string{},
	}
	for i := range in.Plan.Objects {
		o := &in.Plan.Objects[i]
		if o.Sealed == nil {
			continue
		}
		origin := o.Kind + "/" + o.Name
		if o.Namespace != "" {
			origin = o.Kind + "/" + o.Namespace + "/" + o.Name
		}
		c.origins[origin] = o.ID
		switch o.Kind {
		case "CustomResourceDefinition":
			group := preview.String(o.Sealed, "spec", "group")
			c.own[group+"/*"] = true
			c.own[group+"/"+preview.String(o.Sealed, "spec", "names", "plural")] = true
		case "ServiceAccount":
			c.accounts[o.Namespace+"/"+o.Name] = true
		}
	}
	if in.RelatedImages != nil {
		c.related = map[string]bool{}
		for _, image := range in.RelatedImages {
			c.related[image] = true
		}
	}
	return c
}

// ours reports whether a resource is of a CRD that the plan brings.
func (c *scan) ours(group, resource string) bool {
	resource, _, _ = strings.Cut(resource, "/")
	return c.own[group+"/"+resource]
}

// onlyOurs reports whether all a grant reaches is of the plan's own CRDs.
func (c *scan) onlyOurs(g preview.Grant) bool {
	for _, group := range g.APIGroups {
		for _, resource := range g.Resources {
			if !c.ours(group, resource) {
				return false
			}
		}
	}
	return len(g.Resources) > 0
}

func (c *scan) judgeObjects() {
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		for _, rule := range c.rules {
			if rule.object == nil {
				continue
			}
			if level, lines := rule.object(c, o); len(lines) > 0 {
				c.hit(rule.Rule, hit{
					object: o.ID, level: level, evidence: prefixed(o.ID, lines),
					narrow: o.Namespace != "", known: o.Action == preview.ActionUnchanged,
				})
			}
		}
	}
}

// prefixed names the object in every line: a fingerprint accepted for one
// object must not count for another.
func prefixed(id string, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = id + ": " + line
	}
	return out
}
