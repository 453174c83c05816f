package record

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
)

// Reader reads single objects, and many at once.
type Reader interface {
	Getter
	reads.KindReader
}

// LastWrite returns when this program last wrote to one of the objects as part of a
// release: by the API server's clock, in RFC 3339, in whole seconds; empty for never.
// What others write, and what a controller adds, does not move it.
func LastWrite(release preview.Release, bodies []map[string]any) string {
	last := ""
	for _, body := range bodies {
		if !preview.IsMember(body, release) {
			continue
		}
		for _, owner := range preview.FieldOwners(body) {
			if owner.Manager == preview.FieldManager {
				last = max(last, owner.Time)
			}
		}
	}
	return last
}

// compareObjects compares the newest record with the objects of its release: a write
// after its run came from a revision that is not on record any more. It is how the loss
// of the newest record is seen, since the records that are left do not know of it.
func (c *Chain) compareObjects(ctx context.Context, cluster Reader, newest *Record) error {
	if newest.Written == "" || newest.State != Applied {
		return nil // its run did not see all that it wrote, as after a kill
	}
	var refs []preview.Ref
	for _, item := range newest.Items() {
		refs = append(refs, item.Ref())
	}
	var bodies []map[string]any
	for _, result := range reads.Recorded(ctx, cluster, refs) {
		if preview.ReasonOf(result.Err) == preview.ReasonUnavailable {
			return fmt.Errorf("reading %s: %w", result.Ref.ID(), result.Err)
		}
		bodies = append(bodies, result.Body)
	}
	if last := LastWrite(newest.Release, bodies); last > newest.Written {
		c.lose(newest.Revision+1, "its record is gone: the objects of the release were applied again at %s, and revision %d, the newest on record, wrote to them last at %s", last, newest.Revision, newest.Written)
	}
	return nil
}
