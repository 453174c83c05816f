package install

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// withReleases returns the objects that a stage writes, in order. In the stage
// that removes former owners, objects that would be garbage-collected with an
// owner come before that owner: they are released from it first.
func (r *applier) withReleases(stage *preview.Stage, objects []*preview.Object) []*preview.Object {
	if stage.ID != preview.StageHandOver {
		return objects
	}
	var out []*preview.Object
	for _, former := range objects {
		if preview.OrphansDependents(former) {
			for _, id := range former.Adoption.Releases {
				if o := r.object(id); o != nil && o.Action == preview.ActionAdopt && !r.done[id] {
					out = append(out, o)
				}
			}
		}
		out = append(out, former)
	}
	return out
}
