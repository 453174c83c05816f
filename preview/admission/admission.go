package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// Cluster lists the reads that computing takes.
type Cluster interface {
	Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult
	List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error)
	Plural(ctx context.Context, apiVersion, kind string) (string, error)
}

// maxNamed is the most objects and webhooks that one part of a sentence names (5); the
// others are counted.
const maxNamed = 5

// ComputeCustomResources sets the computed result of the custom resources whose CRD is in
// the plan and that had no dry run. It takes nothing but the plan.
func ComputeCustomResources(p *preview.Plan, definitions *schema.Index) {
	for i := range p.Objects {
		if o := &p.Objects[i]; o.LacksDryRun() {
			o.Computed = definitions.Defaulted(o.Planned)
		}
	}
}

// Compute sets the computed results of the other objects without a dry run, and records
// in the plan what the admission webhooks and policies of the cluster will do with them.
// It does nothing for a plan that was made without dry runs. It errs only if the API
// server does not answer.
func Compute(ctx context.Context, p *preview.Plan, cluster Cluster) error {
	var objects []*preview.Object
	for i := range p.Objects {
		if o := &p.Objects[i]; o.LacksDryRun() {
			objects = append(objects, o)
		}
	}
	if p.ReadMode != preview.ReadDryRun || len(objects) == 0 {
		return nil
	}
	configured, err := readConfiguration(ctx, cluster)
	if err != nil {
		return err
	}
	c := &computation{configuration: configured, open: newOpenPoints()}
	if c.requests, err = newRequests(ctx, p, objects, cluster, len(configured.mutators) > 0); err != nil {
		return err
	}
	if len(c.unread) > 0 {
		c.open.order = append(c.open.order, openPoint{"which webhooks and policies see them", "for want of the right to list each " + strings.Join(c.unread, ", ")})
	}
	for _, r := range c.requests {
		c.defaults(ctx, r)
		c.admit(ctx, r)
	}
	p.Computed = &preview.Computed{ByCopy: c.byCopy, BySchema: c.bySchema, ByKind: c.byKind, Refused: c.refused, Open: c.open.sentence()}
	return ctx.Err()
}

// computation is what is known so far about the objects of a plan.
type computation struct {
	*configuration
	requests []*request
	open     *openPoints
	byCopy   int
	bySchema int
	byKind   int
	refused  []preview.ComputedRefusal
}

// defaults sets the computed result of the object, if its defaults are known.
func (c *computation) defaults(ctx context.Context, r *request) {
	o := r.object
	switch {
	case o.Computed != nil:
		c.bySchema++
	case o.Is(preview.KindRoleBinding, preview.KindClusterRoleBinding):
		o.Computed = ofBinding(o)
		c.byKind++
	case o.Untried != "": // its own question
	case o.Copy == nil:
		c.open.add("what the API server adds to", "", o)
	case o.APIVersion == "v1" && o.Kind == "Pod":
		c.open.add("what admission plugins add to", "", o)
	default:
		if other := c.changesCopyOnly(ctx, r); other != "" {
			c.open.add("what the API server adds to", "because the copy that was tried was changed by "+other, o)
			return
		}
		o.Computed = o.OfCopy()
		c.byCopy++
	}
}

// ofBinding returns a binding with the API groups that the API server sets in it, which
// has no other defaults. One to a role of the same plan can be tried nowhere before the
// role is there.
func ofBinding(o *preview.Object) map[string]any {
	body := preview.CloneBody(o.Planned)
	setGroup := func(of map[string]any) {
		if of != nil && preview.String(of, "apiGroup") == "" {
			of["apiGroup"] = o.Ref().Group()
		}
	}
	setGroup(preview.Map(body, "roleRef"))
	for _, subject := range preview.Maps(body, "subjects") {
		if kind := subject["kind"]; kind == preview.SubjectUser || kind == preview.SubjectGroup {
			setGroup(subject)
		}
	}
	return body
}

// SeesBoth returns the ids of objects whose copy was tried in another namespace, if each
// webhook and policy that may change the copy sees the object too. known is false if the
// configuration of admission may not be read.
func SeesBoth(ctx context.Context, p *preview.Plan, objects []*preview.Object, cluster Cluster) (sees map[string]bool, known bool, err error) {
	configured, err := readConfiguration(ctx, cluster)
	if err != nil || len(configured.unread) > 0 {
		return nil, false, err
	}
	requests, err := newRequests(ctx, p, objects, cluster, true)
	if err != nil {
		return nil, false, err
	}
	c, sees := &computation{configuration: configured}, map[string]bool{}
	for _, r := range requests {
		sees[r.object.ID] = c.changesCopyOnly(ctx, r) == ""
	}
	return sees, true, ctx.Err()
}

// changesCopyOnly returns the name of a webhook or policy that may have changed the copy
// of an object and will not see the object itself; empty if there is none.
func (c *computation) changesCopyOnly(ctx context.Context, r *request) string {
	for _, m := range c.mutators {
		if m.selects(ctx, r.copied) && !m.selects(ctx, r.own) {
			return m.name
		}
	}
	return ""
}

// admit records what the webhooks and policies of the cluster will do with the object.
func (c *computation) admit(ctx context.Context, r *request) {
	changed := false
	for _, m := range c.mutators {
		if m.selects(ctx, r.own) {
			c.open.add("what "+m.name+" changes in", "", r.object)
			changed = true
		}
	}
	for _, v := range c.validators {
		if v.selects(ctx, r.own) {
			c.open.add("whether "+v.name+" accepts", "", r.object)
		}
	}
	for _, policy := range c.policies {
		message, known := "", false
		switch policy.selection(ctx, r.own) {
		case fails:
			continue
		case holds:
			message, known = policy.evaluate(ctx, r.own)
		}
		switch {
		case !known, changed, r.object.Computed == nil:
			c.open.add("whether "+policy.name+" accepts", "", r.object)
		case message != "":
			refusal := preview.ComputedRefusal{Object: r.object.ID, Policy: policy.name, Why: preview.Shorten(message, 300)}
			if !slices.Contains(c.refused, refusal) {
				c.refused = append(c.refused, refusal)
			}
		}
	}
}

// openPoints collects what could not be computed, by what it is about.
type openPoints struct {
	order   []openPoint
	objects map[openPoint][]string
}

type openPoint struct{ what, why string }

func newOpenPoints() *openPoints { return &openPoints{objects: map[openPoint][]string{}} }

func (p *openPoints) add(what, why string, o *preview.Object) {
	at := openPoint{what, why}
	if p.objects[at] == nil {
		p.order = append(p.order, at)
	}
	if name := o.Kind + " " + o.Name; !slices.Contains(p.objects[at], name) { // several bindings of one policy
		p.objects[at] = append(p.objects[at], name)
	}
}

// sentence returns the open points as parts of one sentence, none if nothing is open.
func (p *openPoints) sentence() []string {
	var out []string
	for i, at := range p.order {
		if i == maxNamed {
			return append(out, fmt.Sprintf("%d more of that kind", len(p.order)-i))
		}
		names := p.objects[at]
		which := strings.Join(names, ", ")
		if len(names) > maxNamed {
			which = preview.Plural(len(names), "object")
		}
		out = append(out, strings.Join(slices.DeleteFunc([]string{at.what, which, at.why}, func(s string) bool { return s == "" }), " "))
	}
	return out
}
