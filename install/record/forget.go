package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Forget deletes the oldest revisions beyond a limit (0 means the default, negative
// none), and removes them from the record, which must be saved afterwards.
func (s *Store) Forget(ctx context.Context, record *Record, limit int) error {
	if limit == 0 {
		limit = preview.DefaultHistoryMax
	}
	for _, revision := range surplusRevisions(record.Older, limit) {
		if err := s.remove(ctx, revision); err != nil {
			return fmt.Errorf("the record of revision %d could not be removed: %w", revision, err)
		}
		record.Older = slices.DeleteFunc(record.Older, func(o KeptRevision) bool { return o.Revision == revision })
	}
	return nil
}

// surplusRevisions returns the revisions to delete, so that limit remain. A limit
// below 1 keeps all. The last applied revision always stays, for a rollback.
func surplusRevisions(older []KeptRevision, limit int) []int {
	var out []int
	if limit < 1 {
		return nil
	}
	last := lastApplied(older)
	for _, o := range older[:max(0, len(older)-(limit-1))] {
		if o.Revision != last {
			out = append(out, o.Revision)
		}
	}
	return out
}

// lastApplied returns the newest applied revision of a list, 0 if there is none.
func lastApplied(older []KeptRevision) int {
	for _, o := range slices.Backward(older) {
		if o.State == Applied {
			return o.Revision
		}
	}
	return 0
}

// remove deletes the Secrets of an older revision. The copy of its record is
// deleted last, so that an incompletely deleted revision can be recognised.
func (s *Store) remove(ctx context.Context, revision int) error {
	for _, slot := range []int{0, 1, 2} {
		var parts []map[string]any
		for i := 1; ; i++ {
			secret, err := s.Cluster.Get(ctx, secretRef(s.Release, partName(s.Release.Name, revision, slotPart(slot, i))))
			if err != nil {
				return err
			}
			if secret == nil {
				break
			}
			parts = append(parts, secret)
		}
		for _, part := range slices.Backward(parts) {
			if err := s.delete(ctx, part); err != nil {
				return err
			}
		}
	}
	secret, err := s.Cluster.Get(ctx, secretRef(s.Release, partName(s.Release.Name, revision, 0)))
	if err != nil || secret == nil {
		return err
	}
	return s.delete(ctx, secret)
}

func (s *Store) delete(ctx context.Context, secret map[string]any) error {
	ref := preview.RefOf(secret)
	if preview.String(secret, "type") != secretType {
		return fmt.Errorf("Secret %s/%s is not a record", ref.Namespace, ref.Name)
	}
	if err := s.Lock.Confirm(ctx); err != nil {
		return err
	}
	_, err := s.Cluster.Delete(ctx, ref, preview.UID(secret), preview.ResourceVersion(secret), preview.Background)
	if preview.ReasonOf(err) == preview.ReasonNotFound {
		return nil
	}
	return err
}
