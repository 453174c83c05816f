package install

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// adopt takes an object over in two writes: a JSON patch with tests on uid and
// resourceVersion takes its former owner off, and the apply follows on the
// object as that left it. A run that was interrupted in between finds nothing
// left to take off.
func (r *run) adopt(ctx context.Context, o *preview.Object, live map[string]any) (map[string]any, error) {
	var last error
	for try := range maxAttempts {
		same, err := r.isBefore(o, live)
		if err != nil {
			return nil, err
		}
		if !same {
			return nil, &movedError{r.movedFields(o, r.liveOf(o), live)}
		}
		released, adoption, err := preview.Released(r.opts.Schemas, live, o.Sealed)
		if err != nil {
			return nil, err
		}
		ops := preview.ReleasePatch(live, released, adoption)
		if ops == nil {
			return r.write(ctx, o, live)
		}
		patched, err := r.patchOnce(ctx, o, ops)
		if err == nil {
			return r.write(ctx, o, patched)
		}
		last = err
		late, cancel := withGrace(ctx)
		fresh, readErr := r.cluster.Get(late, o.Ref())
		cancel()
		switch {
		case readErr != nil && noAnswer(err):
			r.wrote = true
			return nil, &outcomeError{err}
		case readErr != nil:
			return nil, readErr
		case fresh == nil:
			return nil, &movedError{"somebody deleted it meanwhile"}
		case !noAnswer(err) && versionOf(fresh) == versionOf(live):
			return nil, err // refused for another reason than a change
		}
		r.wrote = r.wrote || noAnswer(err) && versionOf(fresh) != versionOf(live)
		live = fresh
		if err := pause(ctx, r.opts.Clock, last, try); err != nil {
			return nil, last
		}
	}
	return nil, last
}

func (r *run) patchOnce(ctx context.Context, o *preview.Object, ops []preview.PatchOp) (map[string]any, error) {
	if err := ctx.Err(); err != nil {
		return nil, &preview.Refusal{Reason: preview.ReasonOther, Message: "not sent: " + err.Error(), Err: err}
	}
	late, cancel := withGrace(ctx)
	defer cancel()
	live, err := r.cluster.Patch(late, o.Ref(), ops)
	if err == nil {
		r.wrote = true
	}
	return live, err
}
