package rollout

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Reader reads many objects at once, in the order of refs.
type Reader interface {
	Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult
}

// Status reads the rollout state of objects once. Without an inspector (nil),
// the causes are those in the objects' own status.
func Status(ctx context.Context, r Reader, in Inspector, refs []preview.Ref) Snapshot {
	t := newTracker(Options{Refs: refs, Inspector: in}.withDefaults())
	for _, result := range r.Read(ctx, t.refs()) {
		t.observe(result.Ref, result.Body, result.Err)
	}
	t.inspect(ctx)
	return t.snapshot()
}
