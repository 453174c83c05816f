package install

import (
	"context"
	"fmt"
)

// prune deletes the oldest recorded revisions beyond the limit, after the
// newest was applied. A failure is ignored, because the next apply tries again.
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
