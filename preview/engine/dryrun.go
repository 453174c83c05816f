package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// maxRounds is how often an object that changes between its read and its dry run is
// read again. Controllers change status fields all the time.
const maxRounds = 5

// dryRunner computes the results of creates and updates: by dry runs, or by merging
// live objects if the cluster is only read (ReadGet).
type dryRunner struct {
	*builder
	planned map[string]*preview.Object // by id
}

// dryRun computes the results of all creates, updates and patches of the plan.
func (d dryRunner) dryRun(ctx context.Context) error {
	d.planned = d.plan.ObjectsByID()
	var pending []int
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		if !asksDryRun(o.Action) {
			continue
		}
		if d.applier == nil && d.bindsOwnRole(o) && d.plan.ReadMode != preview.ReadGet && bindsAnother(o) {
			o.Action = preview.ActionReplace
			continue
		}
		if d.served[o.APIVersion+"/"+o.Kind] != nil || o.Namespace != "" && !d.namespaces[o.Namespace] {
			d.withoutDryRun(o)
			continue
		}
		pending = append(pending, i)
	}
	if err := d.decideShared(ctx); err != nil {
		return err
	}
	if d.plan.Options.Adopt {
		if err := d.decideAdoptions(ctx); err != nil {
			return err
		}
		if err := d.planOLMMigration(ctx); err != nil {
			return err
		}
	}
	if d.plan.ReadMode == preview.ReadGet {
		return d.merge(ctx, pending)
	}
	for round := 1; len(pending) > 0; round++ {
		moved, err := d.dryRunRound(ctx, pending)
		if err != nil {
			return err
		}
		if len(moved) > 0 && round == maxRounds {
			return fmt.Errorf("%s keeps changing while it is read; run the command again", d.plan.Objects[moved[0]].ID)
		}
		if pending, err = d.readAgain(ctx, moved); err != nil {
			return err
		}
	}
	if err := d.decideReplacements(ctx); err != nil {
		return err
	}
	if err := d.tryElsewhere(ctx); err != nil {
		return err
	}
	d.secretKeys()
	return nil
}

func asksDryRun(a preview.Action) bool {
	return a == preview.ActionCreate || a == preview.ActionUpdate || a == preview.ActionPatch
}

func (d dryRunner) secretKeys() {
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		if o.Planned != nil && o.Action != preview.ActionUnknown {
			after := o.ResultBody
			if after == nil {
				after = o.Planned
			}
			o.SecretKeys = preview.SecretKeys(o.LiveBody, after)
		}
	}
}

// dryRunRound sends a dry run for each pending object. Objects with conflicts get
// another one, which takes the fields if the options say so or do not decide. It
// returns the objects that had changed since they were read.
func (d dryRunner) dryRunRound(ctx context.Context, pending []int) (moved []int, err error) {
	for len(pending) > 0 {
		var contested []int
		items, err := d.dryRuns(pending)
		if err != nil {
			return nil, err
		}
		results, err := d.askDryRuns(ctx, items)
		if err != nil {
			return nil, err
		}
		if err := d.decideFromResults(ctx, pending, results); err != nil {
			return nil, err
		}
		if err := (rights{d.recorder}).askOfForbidden(ctx, pending, results); err != nil {
			return nil, err
		}
		for n, result := range results {
			o := &d.plan.Objects[pending[n]]
			switch {
			case result.Err == nil:
			case preview.ReasonOf(result.Err) == preview.ReasonChanged:
				moved = append(moved, pending[n])
			case d.enterConflicts(o, result.Err):
				contested = append(contested, pending[n])
			default:
				err = d.decideFromRefusal(ctx, o, result.Err)
			}
			if err != nil {
				return nil, err
			}
		}
		pending = contested
	}
	return moved, nil
}

// dryRunsAtOnce is the number of dry runs between two reports of progress. Several such
// batches are sent in parallel, so that no request waits for the last of a batch; how many
// are in flight is for the client to decide.
const dryRunsAtOnce, batchesAtOnce = 100, 4

// askDryRuns sends dry runs, reports progress, and returns the results in the order of
// items. It errs only if ctx is cancelled.
func (d dryRunner) askDryRuns(ctx context.Context, items []preview.DryRun) ([]preview.DryRunResult, error) {
	results := make([]preview.DryRunResult, len(items))
	var mu sync.Mutex
	done := 0
	report := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		done += n
		d.Report("dry runs: %d of %d", done, len(items))
	}
	report(0)
	var group tasks.Group
	group.SetLimit(batchesAtOnce)
	for first := 0; first < len(items); first += dryRunsAtOnce {
		group.Go(func() error {
			last := min(first+dryRunsAtOnce, len(items))
			copy(results[first:], d.cluster.DryRun(ctx, items[first:last]))
			report(last - first)
			return nil
		})
	}
	_ = group.Wait() // each result carries its own error
	return results, ctx.Err()
}

func (d dryRunner) dryRuns(pending []int) ([]preview.DryRun, error) {
	items := make([]preview.DryRun, 0, len(pending))
	for _, i := range pending {
		item, err := d.item(&d.plan.Objects[i])
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// enterConflicts adds the conflicts in the error of a dry run to the object, and
// reports whether any is new. If so, another dry run is needed: with the fields left or
// taken, as the options decide them.
func (d dryRunner) enterConflicts(o *preview.Object, err error) bool {
	var refusal *preview.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != preview.ReasonConflict {
		return false
	}
	known := len(o.Conflicts)
	for _, c := range refusal.Conflicts {
		if !slices.Contains(o.Conflicts, c) {
			o.Conflicts = append(o.Conflicts, c)
		}
	}
	preview.SortConflicts(o.Conflicts)
	return len(o.Conflicts) > known
}

// takesToShow reports whether a dry run takes over the fields with known conflicts. It
// does so too where the options decide nothing: that plan cannot be applied, and a
// result without the object's defaults would show differences that no apply makes.
func (d dryRunner) takesToShow(o *preview.Object) bool {
	return d.plan.Takes(o) || len(d.plan.Unsettled(o)) > 0
}

// readAgain reads the objects that changed after they were read, and returns those that
// still need a dry run.
func (d dryRunner) readAgain(ctx context.Context, moved []int) (pending []int, err error) {
	refs := make([]preview.Ref, 0, len(moved))
	for _, i := range moved {
		refs = append(refs, d.plan.Objects[i].Ref())
	}
	for n, r := range d.cluster.Read(ctx, refs) {
		o := &d.plan.Objects[moved[n]]
		if r.Err != nil {
			return nil, fmt.Errorf("reading %s again: %w", o.ID, r.Err)
		}
		o.LiveBody, o.Conflicts = r.Body, nil
		if err := d.decideFromLive(o); err != nil {
			return nil, err
		}
		if asksDryRun(o.Action) {
			pending = append(pending, moved[n])
		}
	}
	return pending, nil
}

// withoutDryRun sets the action of an object whose namespace or kind does not exist
// yet: it stays, or becomes unknown if the plan does not create the namespace.
func (d dryRunner) withoutDryRun(o *preview.Object) {
	if o.Namespace == "" || d.namespaces[o.Namespace] {
		return
	}
	id := preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace}.ID()
	if d.planned[id] == nil {
		o.Action = preview.ActionUnknown
		d.refused(o.ID, preview.ReasonNamespaceMissing, "its namespace "+o.Namespace+" does not exist, and the plan does not create it")
	}
}

// decideFromResults compares pending objects that have a result with their live state,
// several at a time.
func (d dryRunner) decideFromResults(ctx context.Context, pending []int, results []preview.DryRunResult) error {
	return tasks.Each(len(pending), planned.MaxHashes, func(n int) error {
		o, result := &d.plan.Objects[pending[n]], &results[n]
		if d.plan.ReadMode == preview.ReadDryRun && d.bindsOwnRole(o) && (result.Err == nil || escalates(result.Err)) {
			*result = d.mergeOwnBinding(ctx, o)
		}
		if result.Err != nil || result.Body == nil {
			return nil
		}
		return d.decideFromResult(o, result.Body)
	})
}

func (d dryRunner) decideFromResult(o *preview.Object, result map[string]any) error {
	o.ResultBody = result
	hash, differs, err := diff.ResultHash(o.Compared(result))
	if err != nil {
		return fmt.Errorf("comparing %s: %w", o.ID, err)
	}
	o.Result = hash
	if (o.Action == preview.ActionUpdate || o.Action == preview.ActionPatch) && !differs && len(d.plan.Unsettled(o)) == 0 && !secretChanges(o.LiveBody, result) {
		o.Action = preview.ActionUnchanged
	}
	return nil
}

func secretChanges(live, result map[string]any) bool {
	for _, state := range preview.SecretKeys(live, result) {
		if state != "equal" {
			return true
		}
	}
	return false
}

// decideFromRefusal sets the action of an object by the error of its dry run, unknown
// where the error does not decide it. It returns an error only if the API server gave
// no answer or did not know the user.
func (d dryRunner) decideFromRefusal(ctx context.Context, o *preview.Object, err error) error {
	var refusal *preview.Refusal
	if !errors.As(err, &refusal) {
		return fmt.Errorf("dry run of %s: %w", o.ID, err)
	}
	switch refusal.Reason {
	case preview.ReasonUnavailable, preview.ReasonUnauthorized:
		return fmt.Errorf("dry run of %s: %w", o.ID, err)
	case preview.ReasonConflict:
		return nil // entered already; the gate refuses what nothing settles
	case preview.ReasonImmutable:
		if !o.Patches() && d.recreates(o) {
			o.Action = preview.ActionReplace
			return nil
		}
	case preview.ReasonNotAppliable:
		if d.schemas.Check(o.Planned) != nil {
			return nil // the finding says so, with the field
		}
	case preview.ReasonForbidden:
		if err := (rights{d.recorder}).forbidden(ctx, o, refusal); err != nil {
			return err
		}
		o.Action = preview.ActionUnknown
		d.refused(o.ID, refusal.Reason, whyNoDryRun(refusal))
		return nil
	}
	o.Action = preview.ActionUnknown
	d.refusedBy(o.ID, refusal)
	return nil
}

// whyNoDryRun returns the reason for a forbidden dry run: the user lacks a right, and
// nothing is wrong with the object.
func whyNoDryRun(refusal *preview.Refusal) string {
	if strings.Contains(refusal.Message, escalationRefusal) {
		return "forbidden: it gives rights that you do not have, so that you may not dry-run it; preview with --read-only get shows it by reads alone"
	}
	return "forbidden: you may not dry-run it, which takes the rights to write it; preview with --read-only get shows it by reads alone"
}

// forbidden records the missing rights that made the API server refuse to write an
// object. For a role, these are the permissions in the role.
func (d rights) forbidden(ctx context.Context, o *preview.Object, refusal *preview.Refusal) error {
	if givesTooMuch(o, refusal) {
		lacking, err := d.filterMissing(ctx, d.heldRights([]map[string]any{o.Planned}, o.Namespace))
		if d.missingOfRole(o.Ref(), lacking); err != nil || len(lacking) > 0 {
			return err
		}
	}
	rights := d.toWrite(ctx, o)
	lacking, err := d.filterMissing(ctx, rights)
	if len(lacking) == 0 { // not a right, but an admission plugin that says no
		lacking = rights[len(rights)-1:]
	}
	for _, r := range lacking {
		d.missing(r, preview.Shorten(refusal.Message, 300))
	}
	return err
}

// givesTooMuch reports whether a role was refused because its writer lacks what it gives.
func givesTooMuch(o *preview.Object, refusal *preview.Refusal) bool {
	return strings.Contains(refusal.Message, escalationRefusal) && !isBinding(o)
}

// toWrite returns the rights that the dry run of an object takes, whose kind is served.
func (d rights) toWrite(ctx context.Context, o *preview.Object) []preview.Right {
	rights := []preview.Right{{Verb: "patch", Group: o.Ref().Group(), Resource: d.plural(ctx)(o.APIVersion, o.Kind), Namespace: o.Namespace, Name: o.Name}}
	if o.Action == preview.ActionReplace {
		rights[0].Name = preview.TrialName(o.ID)
	}
	if o.LiveBody == nil || o.Action == preview.ActionReplace {
		create := rights[0]
		create.Verb = "create"
		rights = append(rights, create)
	}
	return rights
}

// askOfForbidden asks at once for the rights that [rights.forbidden] will ask for of each
// object whose dry run was forbidden: the client keeps the answers.
func (d rights) askOfForbidden(ctx context.Context, pending []int, results []preview.DryRunResult) error {
	var all []preview.Right
	for n, i := range pending {
		o := &d.plan.Objects[i]
		refusal, ok := errors.AsType[*preview.Refusal](results[n].Err)
		switch {
		case !ok || refusal.Reason != preview.ReasonForbidden:
		case givesTooMuch(o, refusal):
			all = append(all, d.heldRights([]map[string]any{o.Planned}, o.Namespace)...)
		default:
			all = append(all, d.toWrite(ctx, o)...)
		}
	}
	_, err := d.filterMissing(ctx, all)
	return err
}
