package install

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// withReleases lists what a stage writes, in order. Before a former owner is
// deleted that others are garbage-collected with, those are released: the first
// of their two writes.
func (r *applier) withReleases(stage *preview.Stage, objects []*preview.Object) []*preview.Object {
	if stage.ID != preview.StageHandOver {
		return objects
	}
	var out []*preview.Object
	for _, former := range objects {
		if preview.OrphansDependents(former) {
			for _, id := range former.Adoption.Releases {
				if o := r.plan.Object(id); o != nil && o.Action == preview.ActionAdopt && !r.done[id] {
					out = append(out, o)
				}
			}
		}
		out = append(out, former)
	}
	return out
}
