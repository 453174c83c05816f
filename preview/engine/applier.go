package engine

import "github.com/kubectl-operator/kubectl-operator/preview"

// Applier is a tool other than this program that applies the content of a plan.
type Applier interface {
	// Describe returns what the plan records about the tool.
	Describe() *preview.Applier
	// Decide returns what the tool does with an object, by its live state, and whether it
	// takes the live object for its own. Planned is nil for an object that it applied before
	// and that the content lacks.
	Decide(o *preview.Object) (action preview.Action, own bool)
	// Request returns the tool's request that writes body, the planned object without
	// contested fields that are left to others.
	Request(o *preview.Object, body map[string]any) (preview.DryRun, error)
}

// writtenBefore sets, in the plan of an applier, the field manager that writes each object,
// and the object as it was sent last.
func (opts *Options) writtenBefore(p *preview.Plan) {
	if p.AppliedBy == nil {
		return
	}
	bodies := map[string]map[string]any{}
	for _, m := range opts.Installed.Members {
		bodies[m.Ref.ID()] = m.Body
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		o.Manager, o.Earlier = p.AppliedBy.Manager, bodies[o.ID]
	}
}

// item returns the dry run of an object: the request of the applier, or a server-side
// apply of this program.
func (d dryRunner) item(o *preview.Object) (preview.DryRun, error) {
	item := preview.DryRun{Body: d.plan.Sent(o)}
	if d.applier != nil {
		var err error
		if item, err = d.applier.Request(o, item.Body); err != nil {
			return item, err
		}
	}
	item.Manager, item.Force = o.Manager, d.takesToShow(o)
	if o.LiveBody != nil {
		item.UID, item.ResourceVersion = preview.UID(o.LiveBody), preview.ResourceVersion(o.LiveBody)
	}
	return item, nil
}

// recreates reports whether the applier deletes and creates an object anew whose immutable
// fields change; without one, this program does.
func (d dryRunner) recreates(o *preview.Object) bool {
	if d.applier == nil {
		return true
	}
	tool, may := d.applier.(interface {
		Recreates(o *preview.Object) bool
	})
	return may && tool.Recreates(o)
}
