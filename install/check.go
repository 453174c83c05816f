package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// precheck is what can be refused before the cluster is read as a whole.
func (r *run) precheck(ctx context.Context) error {
	doing := "checking the plan for " + r.plan.Release.Name
	if err := engine.CheckSealed(r.plan); err != nil {
		return refusal(doing, "make a new plan", err.Error())
	}
	if err := gateDigest(r.plan, r.approval); err != nil {
		return err
	}
	if err := r.checkExpiry(); err != nil {
		return err
	}
	if ownNamespaceGoes(r.plan) != nil && r.opts.Keep == nil {
		return asError(NotStarted, "uninstalling "+r.plan.Release.Name+" with its namespace", "say with --receipt FILE where its receipt goes",
			errors.New("the release's record is deleted with the namespace"))
	}
	target, err := r.cluster.Target(ctx)
	if err != nil && preview.ReasonOf(err) != preview.ReasonForbidden {
		return asError(NotStarted, "identifying the cluster", "nothing was applied", err)
	}
	if err != nil && r.plan.Target.Identity != "" {
		return refusal(doing, "ask for the right to get it, which "+roleCommand(r.plan)+" writes down",
			"the cluster cannot be identified: you may not get namespaces kube-system")
	}
	if target.Identity != r.plan.Target.Identity {
		return refusal(doing, "use the kubeconfig and context of that cluster, or preview again on this one",
			fmt.Sprintf("the plan is for another cluster: reviewed was %s, this is %s",
				orNothing(r.plan.Target.Identity), orNothing(target.Identity)))
	}
	if err := r.checkQuorum(target.Users()); err != nil {
		return err
	}
	if err := r.checkBase(ctx); err != nil {
		return err
	}
	return r.findNamespace(ctx)
}

// checkExpiry refuses a plan whose time is over, one that was begun as well:
// a new plan takes over from there. What began in time is not stopped midway.
func (r *run) checkExpiry() error {
	if why := r.plan.Expired(r.opts.Clock.Now()); why != "" {
		return refusal("checking the plan for "+r.plan.Release.Name, "preview again; if the clock is wrong, set it", why)
	}
	return nil
}

// checkQuorum asks for the signed approvals that are required, and notes who
// gave them and which findings all of them accept.
func (r *run) checkQuorum(users []string) error {
	if r.opts.Quorum == nil {
		return nil
	}
	signed, accepted, err := r.opts.Quorum.Check(r.plan, users, r.opts.Clock.Now())
	if refused, ok := errors.AsType[*approval.Refused](err); ok {
		return refusal("counting the signed approvals of "+r.plan.Release.Name,
			"let somebody approve exactly this plan: approve PLAN --key FILE", refused.Reasons...)
	}
	if err != nil {
		return r.fail("counting the signed approvals", "", err)
	}
	r.approval.Signed = signed
	for _, a := range accepted {
		if one := (record.Acceptance{ID: a.ID, Fingerprint: a.Fingerprint}); !slices.Contains(r.approval.Accepted, one) {
			r.approval.Accepted = append(slices.Clip(r.approval.Accepted), one)
		}
	}
	return nil
}

// checkBase compares the newest record with the revision the plan stands on.
// The plan's own unfinished record passes: it will be resumed.
func (r *run) checkBase(ctx context.Context) error {
	doing := "checking the revision that the plan stands on"
	record, secret, err := record.LoadWithSecret(ctx, r.cluster, r.plan.Release)
	if err != nil {
		return r.fail(doing, "", err)
	}
	if record != nil {
		record.Verify(r.opts.RecordKeys, r.plan.Target.Identity)
	}
	r.before, r.parent = record, secret
	const again = "preview again: the release is not what was reviewed"
	base := r.plan.Base
	switch {
	case record == nil && base.Revision == 0:
		return nil
	case record == nil:
		return refusal(doing, again, fmt.Sprintf("the record of revision %d is gone", base.Revision))
	case record.Digest == r.plan.Digest && record.State.Unfinished():
		return nil
	case record.Undoes != nil && record.Undoes.Digest == r.plan.Digest && record.State.Unfinished():
		return nil // and the undo of it will be
	case record.Undoes != nil && record.Undoes.Digest == r.plan.Digest:
		dropLease(ctx, r.cluster, r.plan.Release, r.parent)
		return refusal(doing, "preview again to see what would change now",
			fmt.Sprintf("this plan failed and was undone, as revision %d", record.Revision))
	case record.Digest == r.plan.Digest:
		dropLease(ctx, r.cluster, r.plan.Release, r.parent)
		return refusal(doing, "preview again to see what would change now",
			fmt.Sprintf("this plan was already applied, as revision %d", record.Revision))
	case record.Revision != base.Revision || record.Digest != base.Digest:
		return refusal(doing, again, fmt.Sprintf("it stands on revision %d, but revision %d (%s, %s) is the newest",
			base.Revision, record.Revision, record.State, record.Digest))
	case !reflect.DeepEqual(base.Signature, record.Signature):
		return refusal(doing, "preview again with the same --record-key, or the same records.trusted in the configuration",
			fmt.Sprintf("in the plan the record of revision %d is %s, and here %s", record.Revision, base.Signature, record.Signature))
	case !maps.Equal(base.Accepted, record.PlanBase().Accepted):
		// Accepted findings count for less: the list must be the record's own.
		return refusal(doing, again, fmt.Sprintf("the findings it takes as accepted are not those of revision %d", record.Revision))
	}
	return nil
}

// wholeCheck plans again from the sealed content and fresh reads, persisting
// nothing, and holds the Facts against the approved ones and today's findings
// against the approval.
func (r *run) wholeCheck(ctx context.Context) error {
	doing := "checking that the cluster is as reviewed"
	var cluster engine.Cluster = r.cluster
	if r.namespace != nil {
		cluster = &withoutNamespace{Cluster: r.cluster, object: r.ownNamespace()}
	}
	now, err := engine.Recheck(ctx, r.plan, cluster, r.opts.Schemas)
	if err != nil {
		return r.notChecked(doing, err)
	}
	if err := Barred(now); err != nil {
		return r.fail(doing, "", err)
	}
	if now.Digest != r.plan.Digest {
		reasons := unread(now)
		for _, move := range engine.Moved(r.plan, now, r.opts.Schemas) {
			reasons = append(reasons, move.String())
		}
		reasons = append(reasons, fmt.Sprintf("the plan was %s and is now %s", r.plan.Digest, now.Digest))
		return r.fail(doing, "", refusal(doing, "preview again, and approve what it shows", reasons...))
	}
	if err := r.judge(now); err != nil {
		return r.fail(doing, "correct the policy", err)
	}
	if err := Gate(now, r.approval); err != nil {
		return r.fail(doing, "", err)
	}
	if err := r.checkUndo(ctx, now); err != nil {
		return err
	}
	if err := r.checkMembers(ctx); err != nil {
		return err
	}
	if err := r.dryRunGate(ctx, cluster); err != nil {
		return err
	}
	r.checked = now
	return r.checkOperands(ctx)
}

// notChecked ends a check that made no plan to compare with: what the engine
// refuses is a refusal with its own advice, and anything else may pass.
func (r *run) notChecked(doing string, err error) *Error {
	if refused, ok := errors.AsType[*engine.Refused](err); ok {
		return r.fail(doing, refused.Next, refusal(doing, refused.Next, refused.What))
	}
	return r.fail(doing, "run the command again", err)
}

// judge holds today's findings against the user's own policy, and records which.
func (r *run) judge(now *preview.Plan) error {
	if r.opts.Judge == nil {
		return nil
	}
	if err := r.opts.Judge(now); err != nil {
		return refusal("judging the findings by the policy", "correct the policy", err.Error())
	}
	if now.Policy != nil {
		r.approval.Policy = now.Policy.SHA256
	}
	return nil
}

// checkMembers refuses a plan that is silent about a member of the installed
// revision that still exists: it would be left behind, and forgotten.
func (r *run) checkMembers(ctx context.Context) error {
	if r.before == nil {
		return nil
	}
	var silent []preview.Ref
	for _, item := range r.before.Inventory {
		if r.plan.Object(item.Ref().ID()) == nil {
			silent = append(silent, item.Ref())
		}
	}
	var reasons []string
	for _, result := range r.cluster.Read(ctx, silent) {
		switch reason := preview.ReasonOf(result.Err); {
		case reason == preview.ReasonNotServed, result.Err == nil && result.Body == nil:
		case reason == preview.ReasonForbidden:
			reasons = append(reasons, result.Ref.ID()+" is not in the plan, and may not be read")
		case result.Err != nil:
			return r.fail("reading "+result.Ref.ID(), "run the command again", result.Err)
		case preview.String(result.Body, "metadata", "deletionTimestamp") == "":
			reasons = append(reasons, fmt.Sprintf("%s is of revision %d and exists, but is not in the plan", result.Ref.ID(), r.before.Revision))
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return r.fail("checking what is installed", "", refusal("checking what is installed", "preview again, and approve what it shows", reasons...))
}

// ownNamespace returns the release Namespace if this plan creates it, else nil.
func (r *run) ownNamespace() *preview.Object {
	id := preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: r.plan.Release.Namespace}.ID()
	if o := r.plan.Object(id); o != nil && o.Action == preview.ActionCreate {
		return o
	}
	return nil
}

// findNamespace looks for the Namespace of an earlier run of this plan that
// came no further: it is what this plan creates, nobody else wrote it, and
// there is no record in it. Such a one counts as absent.
func (r *run) findNamespace(ctx context.Context) error {
	o := r.ownNamespace()
	if o == nil || r.before != nil {
		return nil
	}
	live, err := r.cluster.Get(ctx, o.Ref())
	if err != nil {
		return r.fail("reading the release namespace", "", err)
	}
	if live != nil && r.isOwnNamespace(o, live) {
		r.namespace = live
	}
	return nil
}

// BeforeNamespace returns the cluster as a plan saw it whose run came no
// further than creating the release Namespace: without that. It returns nil when
// there was no such run. Only a plan made on it has the digest that was approved.
func BeforeNamespace(ctx context.Context, cluster Planning, release preview.Release) (engine.Cluster, error) {
	ref := preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: release.Namespace}
	live, err := cluster.Get(ctx, ref)
	if err != nil || live == nil || !onlyOurs(live) {
		return nil, err
	}
	record, err := record.Load(ctx, cluster, release)
	if err != nil || record != nil {
		return nil, err
	}
	made := &preview.Object{ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, ResultBody: live}
	return &withoutNamespace{Cluster: cluster, object: made}, nil
}

// Planning is what a plan is made on.
type Planning interface {
	engine.Cluster
	record.Getter
}

// isOwnNamespace judges by what the Namespace holds and by who wrote it. Our
// own name among its managers cannot be asked for: a Namespace that sets
// nothing but its name leaves no managed field behind.
func (r *run) isOwnNamespace(o *preview.Object, live map[string]any) bool {
	if !onlyOurs(live) {
		return false
	}
	verdict, _, err := Compare(r.opts.Schemas, Written{Sealed: o.Sealed, Reviewed: o.ResultBody, Live: live})
	return err == nil && verdict == Same
}

// onlyOurs reports whether a Namespace stays and nobody else wrote it.
func onlyOurs(live map[string]any) bool {
	if preview.String(live, "metadata", "deletionTimestamp") != "" {
		return false
	}
	for _, item := range preview.List(live, "metadata", "managedFields") {
		entry, ok := item.(map[string]any)
		if !ok || preview.String(entry, "manager") != preview.FieldManager {
			return false
		}
	}
	return true
}

// withoutNamespace is a cluster in which the release Namespace, and with it
// everything it holds, does not exist: what the review saw before this plan's
// first write made it.
type withoutNamespace struct {
	engine.Cluster
	object *preview.Object
}

// Read answers that the Namespace and what is in it are absent.
func (w *withoutNamespace) Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult {
	results := make([]preview.ReadResult, len(refs))
	var asked []preview.Ref
	var at []int
	for i, ref := range refs {
		results[i].Ref = ref
		if ref.ID() != w.object.ID && ref.Namespace != w.object.Name {
			asked, at = append(asked, ref), append(at, i)
		}
	}
	for n, result := range w.Cluster.Read(ctx, asked) {
		results[at[n]] = result
	}
	return results
}

// List leaves out the Namespace and what is in it.
func (w *withoutNamespace) List(ctx context.Context, apiVersion, kind, namespace, selector string) ([]map[string]any, error) {
	if namespace == w.object.Name {
		return nil, nil
	}
	found, err := w.Cluster.List(ctx, apiVersion, kind, namespace, selector)
	return slices.DeleteFunc(found, func(body map[string]any) bool {
		ref := preview.RefOf(body)
		return ref.ID() == w.object.ID || ref.Namespace == w.object.Name
	}), err
}

// DryRun answers for the Namespace what it answered at review.
func (w *withoutNamespace) DryRun(ctx context.Context, items []preview.DryRun) []preview.DryRunResult {
	results := make([]preview.DryRunResult, len(items))
	var asked []preview.DryRun
	var at []int
	for i, item := range items {
		if preview.RefOf(item.Body).ID() == w.object.ID {
			results[i].Body = w.object.ResultBody
			continue
		}
		asked, at = append(asked, item), append(at, i)
	}
	for n, result := range w.Cluster.DryRun(ctx, asked) {
		results[at[n]] = result
	}
	return results
}
