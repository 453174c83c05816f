package install

import (
	"context"
	"fmt"
)

// prune forgets the oldest revisions beyond the limit, now that the newest is
// applied. A record that cannot be removed does no harm: it is tried again
// after the next apply.
func (r *applier) prune(ctx context.Context) {
	before := len(r.record.Older)
	if err := r.store.Forget(ctx, r.record, r.opts.HistoryMax); err != nil {
		r.log(err.Error())
		return
	}
	if len(r.record.Older) == before {
		return
	}
	if err := r.save(ctx, nil); err != nil {
		r.log(fmt.Sprintf("the record still lists revisions that were removed: %v", err))
	}
}
