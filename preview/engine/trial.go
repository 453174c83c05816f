package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/admission"
	"github.com/kubectl-operator/kubectl-operator/preview/defaulted"
)

// tryElsewhere finds invalid objects in a namespace that the plan itself creates. Their
// own dry run is not possible, as the namespace is missing. So a copy is sent as a dry
// run into a namespace that exists: nothing is persisted, no quota is used, and
// webhooks are called as for any dry run.
//
// Of the answer two things decide. An object that is invalid is so in every namespace.
// Anything else in the answer, apart from the object and the API server's defaults, was
// added by admission. Where admission also selects the object's own namespace, the answer
// is the object's result: it is shown, judged and sealed like the result of an object
// whose namespace exists. In a cluster without such admission an object has the same facts
// whether it was tried or not, so that a reviewer who may not create anything in the trial
// namespace gets the same digest as one who may. Apply tries each object once more in its
// own namespace, when that is there.
func (d dryRunner) tryElsewhere(ctx context.Context) error {
	var absent []int
	for i := range d.plan.Objects {
		if o := &d.plan.Objects[i]; d.comesWithNamespace(o) {
			absent = append(absent, i)
		}
	}
	taken, err := d.try(ctx, absent, func(o *preview.Object) string { return o.Name })
	if err != nil {
		return err
	}
	if _, err = d.try(ctx, taken, func(o *preview.Object) string { return preview.TrialName(o.ID) }); err != nil {
		return err
	}
	return d.sealAdditions(ctx, absent)
}

// sealAdditions takes the answer to the copies of objects that admission added something to
// as the results of the objects. It leaves out additions to the copy alone, and bare Pods,
// because plugins of the API server add settings of the pod's own namespace to them.
func (d dryRunner) sealAdditions(ctx context.Context, tried []int) error {
	var changed []*preview.Object
	for _, i := range tried {
		o := &d.plan.Objects[i]
		if o.Copy != nil && o.Action == preview.ActionCreate && !o.Is(preview.KindPod) && preview.BuiltInGroup(o.Ref().Group()) &&
			len(defaulted.Unexplained(o.Planned, o.OfCopy())) > 0 {
			changed = append(changed, o)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	sees, known, err := admission.SeesBoth(ctx, d.plan, changed, d.cluster)
	if err != nil {
		return err
	}
	for _, o := range changed {
		// Whether a saved plan holds is decided by what is known: the object's own
		// namespace has the last word.
		if known && !sees[o.ID] || !known && d.again {
			continue
		}
		if err := d.decideFromResult(o, o.OfCopy()); err != nil {
			return err
		}
	}
	return nil
}

// comesWithNamespace reports whether an object of a served kind is created in a
// namespace that does not exist yet.
func (d dryRunner) comesWithNamespace(o *preview.Object) bool {
	return o.Action == preview.ActionCreate && o.Namespace != "" && !d.namespaces[o.Namespace] && d.served[o.APIVersion+"/"+o.Kind] == nil
}

// try sends dry runs of copies of objects in the trial namespace, with the names that
// the function name returns. It returns the objects whose name is taken there.
func (d dryRunner) try(ctx context.Context, objects []int, name func(*preview.Object) string) (taken []int, err error) {
	for some := range slices.Chunk(objects, dryRunsAtOnce) {
		items := make([]preview.DryRun, 0, len(some))
		for _, i := range some {
			o := &d.plan.Objects[i]
			body := preview.CloneBody(o.Planned)
			meta := preview.Map(body, "metadata")
			meta["name"], meta["namespace"] = name(o), preview.TrialNamespace
			items = append(items, preview.DryRun{Body: body, Manager: o.Manager})
		}
		for n, result := range d.cluster.DryRun(ctx, items) {
			o := &d.plan.Objects[some[n]]
			switch {
			case preview.ReasonOf(result.Err) == preview.ReasonChanged:
				taken = append(taken, some[n])
			case result.Err != nil:
				d.readTrialRefusal(o, result.Err)
			default:
				o.Copy = result.Body
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return taken, nil
}

// readTrialRefusal sets an object to unknown if the error of its copy's dry run says
// that the object is invalid. Other errors, which may be about the trial namespace, are
// only noted.
func (d dryRunner) readTrialRefusal(o *preview.Object, err error) {
	var refusal *preview.Refusal
	if !errors.As(err, &refusal) {
		refusal = &preview.Refusal{Message: err.Error()}
	}
	switch invalid := refusal.Reason == preview.ReasonInvalid || refusal.Reason == preview.ReasonNotAppliable; {
	case refusal.Reason == preview.ReasonNotAppliable && d.schemas.Check(o.Planned) != nil: // the finding says so, with the field
	case invalid && !strings.Contains(refusal.Message, "amespace"):
		o.Action = preview.ActionUnknown
		d.refusedBy(o.ID, refusal)
	default:
		o.Untried = preview.Shorten(refusal.Error(), 300)
	}
}
