package install

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// adopt takes over an object in two writes: the first removes the former owner's
// references and marks, the second applies the planned object.
func (w *writer) adopt(ctx context.Context, o *preview.Object, live map[string]any) (writeResult, error) {
	free, err := w.release(ctx, o, live)
	if err != nil {
		return writeResult{}, err
	}
	return w.write(ctx, o, free)
}

// release removes the former owner's references and marks from an object, with a JSON
// patch that tests uid and resourceVersion, and returns the patched object. If an
// interrupted run has removed them already, it sends nothing and returns live.
func (w *writer) release(ctx context.Context, o *preview.Object, live map[string]any) (map[string]any, error) {
	var last error
	for try := range clock.MaxAttempts {
		same, err := w.isBefore(o, live)
		if err != nil {
			return nil, err
		}
		if !same {
			return nil, &changedObjectError{w.movedFields(o, w.liveOf(o), live)}
		}
		released, adoption, err := preview.WithoutFormerOwner(w.opts.Schemas, live, o.Planned)
		if err != nil {
			return nil, err
		}
		ops := preview.ReleasePatch(live, released, adoption)
		if ops == nil {
			return live, w.markReleased(o, live)
		}
		patched, err := w.patchOnce(ctx, o, ops)
		if err == nil {
			return patched, w.markReleased(o, patched)
		}
		last = err
		if live, err = w.afterPatch(ctx, o, live, err); err != nil {
			return nil, err
		}
		if err := clock.Pause(ctx, w.opts.Clock, last, try); err != nil {
			return nil, last
		}
	}
	return nil, last
}

// afterPatch reads an object again after its patch was refused or got no answer
// (cause), and returns the live object to try again on; the error says why not to.
func (w *writer) afterPatch(ctx context.Context, o *preview.Object, live map[string]any, cause error) (map[string]any, error) {
	late, cancel := withGrace(ctx)
	defer cancel()
	fresh, err := w.cluster.Get(late, o.Ref())
	switch {
	case err != nil && mayHaveBeenSent(cause):
		w.noteWrite()
		return nil, &outcomeError{cause}
	case err != nil:
		return nil, err
	case fresh == nil:
		return nil, &changedObjectError{"it was deleted meanwhile"}
	case !mayHaveBeenSent(cause) && preview.ResourceVersion(fresh) == preview.ResourceVersion(live):
		return nil, cause // refused for another reason than a change
	}
	if mayHaveBeenSent(cause) && preview.ResourceVersion(fresh) != preview.ResourceVersion(live) {
		w.noteWrite()
	}
	return fresh, nil
}

func (w *writer) patchOnce(ctx context.Context, o *preview.Object, ops []preview.PatchOp) (live map[string]any, err error) {
	err = w.sendOnce(ctx, func(late context.Context) (err error) {
		live, err = w.cluster.Patch(late, o.Ref(), ops)
		return err
	})
	return live, err
}
