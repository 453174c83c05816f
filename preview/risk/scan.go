package risk

import (
	"errors"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
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
	objects  map[string]*preview.Object
	reads    map[string]bool // ids of live objects that exist
	users    map[string]int  // NAMESPACE/NAME of a ServiceAccount → workloads that run as it
	clouds   map[string]bool // origins of cloud permissions
	starters map[string]bool // origins that may start something as a role
	declared map[string]bool // origins of cloud declarations
	held     *holdings
	related  map[string]bool // nil when no list is known
	looked   int             // accounts whose ways were looked for
	around   lookups
	net      *access.Net // made when the first way is looked for
}

func newScan(in Input) *scan {
	c := &scan{
		in: in, plan: in.Plan, rules: table(), found: map[string]*merged{},
		own: map[string]bool{}, accounts: map[string]bool{}, origins: map[string]string{},
		objects: map[string]*preview.Object{}, reads: map[string]bool{}, users: map[string]int{},
		clouds: map[string]bool{}, starters: map[string]bool{}, declared: map[string]bool{},
		held: newHoldings(in.Plan.Access.Grants), around: newLookups(in.Plan),
	}
	c.in.Reach.Grants = in.Plan.Access.Grants
	c.index()
	if in.RelatedImages != nil {
		c.related = map[string]bool{}
		for _, image := range in.RelatedImages {
			c.related[image] = true
		}
	}
	return c
}

// index fills what rules look up, once: nothing here is searched by list.
func (c *scan) index() {
	for _, read := range c.plan.Reads {
		c.reads[read.ID] = read.UID != ""
	}
	for _, d := range c.plan.Cloud.Declared {
		c.declared[d.Origin] = true
	}
	for _, p := range c.plan.Cloud.Permissions {
		if p.Change != preview.GrantRemoved {
			c.clouds[p.Origin] = true
			if p.Provider == cloud.AWS && p.Effect != "Deny" && permits(p, roleStarters...) {
				c.starters[p.Origin] = true
			}
		}
	}
	for i := range c.plan.Objects {
		c.indexObject(&c.plan.Objects[i])
	}
}

func (c *scan) indexObject(o *preview.Object) {
	if o.Sealed == nil {
		return
	}
	c.objects[o.ID] = o
	origin := o.Kind + "/" + o.Name
	if o.Namespace != "" {
		origin = o.Kind + "/" + o.Namespace + "/" + o.Name
	}
	c.origins[origin] = o.ID
	if pod, _ := preview.PodTemplate(o.Sealed); pod != nil {
		c.users[o.Namespace+"/"+preview.String(pod, "serviceAccountName")]++
	}
	switch o.Kind {
	case "CustomResourceDefinition":
		group := preview.String(o.Sealed, "spec", "group")
		c.own[group+"/*"] = true
		c.own[group+"/"+preview.String(o.Sealed, "spec", "names", "plural")] = true
	case "ServiceAccount":
		c.accounts[o.Namespace+"/"+o.Name] = true
	}
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
