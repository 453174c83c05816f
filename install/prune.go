package install

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// prune forgets the oldest revisions beyond the limit, now that the newest is
// applied. A record that cannot be removed does no harm: it is tried again
// after the next apply.
func (r *run) prune(ctx context.Context) {
	limit := r.opts.HistoryMax
	if limit == 0 {
		limit = preview.DefaultHistoryMax
	}
	surplus := surplus(r.record.Older, limit)
	if len(surplus) == 0 {
		return
	}
	for _, revision := range surplus {
		if err := r.store.remove(ctx, revision); err != nil {
			r.log(fmt.Sprintf("the record of revision %d could not be removed: %v", revision, err))
			return
		}
		r.record.Older = slices.DeleteFunc(r.record.Older, func(o Older) bool { return o.Revision == revision })
	}
	if err := r.save(ctx, nil); err != nil {
		r.log(fmt.Sprintf("the record still lists revisions that were removed: %v", err))
	}
}
