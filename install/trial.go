package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/defaulted"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// trials tries the creates of objects whose namespace or CRD comes with the plan by dry
// runs, once that is there and before the object is written. The review had no dry run of
// them, or one of a copy in another namespace, where other webhooks and policies apply.
type trials struct {
	*attempt
	newNamespaces map[string]string // ids of the Namespaces that the plan creates, by name
	definitions   *schema.Index     // CRDs of the plan, and those that were read
	asked         map[string]bool   // objects that were tried ahead of their stage, by id

	mu      sync.Mutex
	results map[string]map[string]any // answers as the objects may be stored, by id
}

func newTrials(a *attempt) *trials {
	t := &trials{attempt: a, newNamespaces: map[string]string{}, asked: map[string]bool{}, results: map[string]map[string]any{}}
	for i := range a.plan.Objects {
		if o := &a.plan.Objects[i]; o.Is(preview.KindNamespace) && o.Action == preview.ActionCreate {
			t.newNamespaces[o.Name] = o.ID
		}
	}
	return t
}

// result returns the answer to the trial of an object, nil if it was not tried.
func (t *trials) result(o *preview.Object) map[string]any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.results[o.ID]
}

func (t *trials) keep(o *preview.Object, body map[string]any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.results[o.ID] = body
}

// take keeps the results of a plan's dry runs of objects in their own place.
func (t *trials) take(p *preview.Plan) {
	for i := range p.Objects {
		if o := &p.Objects[i]; (o.Action == preview.ActionCreate || o.Action == preview.ActionUpdate) && o.ResultBody != nil && t.newNamespaces[o.Namespace] == "" {
			t.keep(o, o.ResultBody)
		}
	}
}

// needed reports whether the create of an object has no dry run in its own place yet.
func (t *trials) needed(o *preview.Object) bool {
	if o.Action != preview.ActionCreate || o.Planned == nil || o.Patches() || t.result(o) != nil {
		return false
	}
	return t.newNamespaces[o.Namespace] != "" || t.freshObject(o).ResultBody == nil
}

// ahead tries, before stage at, each object of it and of later stages whose namespace and
// kind are there by now. If admission adds to one of them what the review did not show,
// none is written. An object that depends on later objects of the plan, as a binding on
// its role, is tried again before its write.
func (t *trials) ahead(ctx context.Context, at int) error {
	objects, err := t.ready(ctx, at)
	if err != nil || len(objects) == 0 {
		return err
	}
	const doing = "trying what the plan creates in its new namespaces"
	var reasons []string
	for i, result := range t.dryRun(ctx, objects) {
		o := objects[i]
		switch reason := preview.ReasonOf(result.Err); {
		case result.Err == nil:
			if why := t.unreviewed(o, result.Body); why != "" {
				reasons = append(reasons, o.ID+": "+why)
				continue
			}
			t.keep(o, result.Body)
		case reason == preview.ReasonUnavailable, reason == preview.ReasonUnauthorized:
			return t.noAnswerError(doing, "", fmt.Errorf("dry run of %s: %w", o.ID, result.Err))
		case waitsForOthers(o), reason == preview.ReasonNotServed, reason == preview.ReasonChanged:
		default:
			reasons = append(reasons, fmt.Sprintf("%s: %s", o.ID, result.Err))
		}
	}
	switch {
	case ctx.Err() != nil:
		return t.fail(doing, "", ctx.Err())
	case len(reasons) == 0:
		return nil
	}
	return t.fail(doing, "", refusal(doing, "none of them was written; preview again, and approve what it shows", reasons...))
}

// ready returns the objects of stage at and later ones that can be tried now, with the
// CRDs read that say what the defaults of custom resources are.
func (t *trials) ready(ctx context.Context, at int) ([]*preview.Object, error) {
	coming, kinds := map[string]bool{}, map[string]bool{}
	var all []*preview.Object
	for _, stage := range t.plan.Stages[at:] {
		for _, id := range stage.Objects {
			o := t.object(id)
			if o == nil || !record.HasWrite(o.Action) || t.done[id] {
				continue
			}
			coming[id], all = true, append(all, o)
			if o.Is(preview.KindCustomResourceDefinition) {
				kinds[preview.String(o.Planned, "spec", "group")+"/"+preview.String(o.Planned, "spec", "names", "kind")] = true
			}
		}
	}
	all = slices.DeleteFunc(all, func(o *preview.Object) bool {
		return t.asked[o.ID] || coming[t.newNamespaces[o.Namespace]] || kinds[o.Ref().Group()+"/"+o.Kind] || !t.needed(o)
	})
	for _, o := range all {
		t.asked[o.ID] = true
	}
	if len(all) == 0 {
		return nil, nil
	}
	var err error
	if t.definitions, err = engine.Definitions(ctx, t.plan, all, t.cluster); err != nil {
		return nil, t.noAnswerError("reading the CRDs of what is created", "", err)
	}
	return all, nil
}

// waitsForOthers reports whether the API server judges an object of a kind by others that
// may come with the same plan: a binding by its role, a Pod by its ServiceAccount.
func waitsForOthers(o *preview.Object) bool {
	return o.Is(preview.KindPod, preview.KindRoleBinding, preview.KindClusterRoleBinding)
}

// now tries an object that was not tried ahead, right before its write.
func (t *trials) now(ctx context.Context, o *preview.Object) error {
	if !t.needed(o) {
		return nil
	}
	result := t.dryRun(ctx, []*preview.Object{o})[0]
	switch {
	case preview.ReasonOf(result.Err) == preview.ReasonChanged:
		return nil // it exists: the write says so
	case result.Err != nil:
		return notSentError(result.Err)
	}
	if why := t.unreviewed(o, result.Body); why != "" {
		return &changedObjectError{why}
	}
	t.keep(o, result.Body)
	return nil
}

// dryRun sends dry runs, and again those that got no answer.
func (t *trials) dryRun(ctx context.Context, objects []*preview.Object) []preview.DryRunResult {
	results := make([]preview.DryRunResult, len(objects))
	left := make([]int, len(objects))
	for i := range left {
		left[i] = i
	}
	for try := range clock.MaxAttempts {
		items := make([]preview.DryRun, 0, len(left))
		for _, i := range left {
			items = append(items, preview.DryRun{Body: t.plan.Sent(objects[i]), Manager: objects[i].Manager})
		}
		var again []int
		var last error
		for n, result := range t.cluster.DryRun(ctx, items) {
			results[left[n]] = result
			if preview.ReasonOf(result.Err) == preview.ReasonUnavailable {
				again, last = append(again, left[n]), result.Err
			}
		}
		if left = again; len(left) == 0 || clock.Pause(ctx, t.opts.Clock, last, try) != nil {
			break
		}
	}
	return results
}

// unreviewed says what admission makes of an object that the review did not show; empty if
// nothing.
func (t *trials) unreviewed(o *preview.Object, result map[string]any) string {
	if reviewed := t.freshObject(o).ResultBody; reviewed != nil {
		verdict, notes, err := Compare(t.opts.Schemas, WrittenObject{Sealed: t.plan.Sent(o), Reviewed: reviewed, Live: result})
		switch {
		case err != nil:
			return "it cannot be compared with the review: " + err.Error()
		case verdict == Diverged:
			return strings.Join(notes, "; ")
		}
		return ""
	}
	var texts []string
	for _, c := range defaulted.Unexplained(t.withDefaults(o), result) {
		if !isReviewed(o, c) {
			texts = append(texts, "admission of the cluster "+changeText(c))
		}
	}
	return joinReasons(texts)
}

// isReviewed reports whether the review showed a change of a created object. A recorded
// plan has the changes of a Secret, and not its result.
func isReviewed(o *preview.Object, c preview.Change) bool {
	return slices.ContainsFunc(o.Changes, func(r preview.Change) bool {
		return r.Path == c.Path && r.Op == c.Op && diff.Text(r.To) == diff.Text(c.To)
	})
}

func changeText(c preview.Change) string {
	switch value := preview.Shorten(diff.Text(c.To), 160); c.Op {
	case diff.OpAdd:
		return fmt.Sprintf("adds %s: %s", c.Path, value)
	case diff.OpRemove:
		return "removes " + c.Path
	default:
		return fmt.Sprintf("sets %s to %s", c.Path, value)
	}
}

// withDefaults returns the object as it is sent, with the defaults of its CRD if it is a
// custom resource.
func (t *trials) withDefaults(o *preview.Object) map[string]any {
	sent := t.plan.Sent(o)
	if t.definitions != nil {
		if body := t.definitions.Defaulted(sent); body != nil {
			return body
		}
	}
	return sent
}
