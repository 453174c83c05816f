package install

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// lookBack compares the objects that the plan leaves unchanged with the review
// once more at the end: nothing was sent for them, so nobody has looked at them
// since the whole check. What somebody edited meanwhile counts as it does for
// written objects: a role, a webhook and what runs end the run, others are told.
// What is gone ends it too, as in a rollout.
func (r *run) lookBack(ctx context.Context) error {
	var objects []*preview.Object
	var refs []preview.Ref
	for i := range r.plan.Objects {
		if o := &r.plan.Objects[i]; o.Action == preview.ActionUnchanged {
			objects, refs = append(objects, o), append(refs, o.Ref())
		}
	}
	if len(refs) == 0 {
		return nil
	}
	const doing = "looking again at what the plan leaves unchanged"
	var stops []string
	for i, result := range r.cluster.Read(ctx, refs) {
		o := objects[i]
		if result.Err != nil {
			return r.fail(doing, "", fmt.Errorf("reading %s: %w", o.ID, result.Err))
		}
		what, err := r.edited(o, result.Body)
		if err != nil {
			return r.fail(doing, "", err)
		}
		if what == "" {
			continue
		}
		entry := r.record.object(o.ID)
		entry.State, entry.Message = StateDiverged, what
		r.emit(Event{Type: EventObject, Object: o.ID, State: entry.State, Message: what})
		if stopsOnDivergence(o) || result.Body == nil {
			stops = append(stops, o.ID+": "+what)
		}
	}
	if len(stops) == 0 {
		return nil
	}
	e := refusal(doing, "somebody changed these objects during the apply; preview again to see what they are now", stops...)
	if r.wrote || r.resumed() {
		e.Kind = Failed
	}
	return e
}

// edited says how an unchanged object differs from the review; empty when it
// does not. A resourceVersion that stayed is proof enough: a definition that the
// plan wrote may change how an object reads.
func (r *run) edited(o *preview.Object, live map[string]any) (string, error) {
	switch before := r.liveOf(o); {
	case live == nil:
		return "was deleted meanwhile", nil
	case uidOf(live) != o.Live.UID:
		return "was deleted and created again meanwhile", nil
	case versionOf(live) == versionOf(before):
		return "", nil
	}
	verdict, notes, err := Compare(r.opts.Schemas, Written{Sealed: o.Sealed, Reviewed: o.ResultBody, Before: live, Live: live})
	if err != nil || verdict == Same {
		return "", err
	}
	return "changed meanwhile: " + strings.Join(notes, "; "), nil
}
