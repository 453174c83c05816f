package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/admission"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
	"github.com/kubectl-operator/kubectl-operator/preview/servingcert"
)

// checker compares the cluster with what was reviewed, and writes nothing.
type checker struct {
	*attempt
	parent map[string]any // the Secret of the record before this revision
}

// precheck makes the checks that need no complete read of the cluster, such as the
// digest, the expiry, and the target cluster. It is made first, to refuse early.
func (c *checker) precheck(ctx context.Context) error {
	doing := "checking the plan for " + c.plan.Release.Name
	if err := engine.CheckPlanned(c.plan); err != nil {
		return refusal(doing, "make a new plan", err.Error())
	}
	if err := gateDigest(c.plan, c.approval); err != nil {
		return err
	}
	if err := c.checkExpiry(); err != nil {
		return err
	}
	if deletedNamespace(c.plan) != nil && c.opts.Keep == nil {
		return asError(NotStarted, "uninstalling "+c.plan.Release.Name+" with its namespace", "say with --receipt FILE where its receipt goes",
			errors.New("the release's record is deleted with the namespace"))
	}
	target, err := c.cluster.Target(ctx)
	if err != nil && preview.ReasonOf(err) != preview.ReasonForbidden {
		return asError(NotStarted, "identifying the cluster", "nothing was applied", err)
	}
	if err != nil && c.plan.Target.Identity != "" {
		return refusal(doing, "ask for permission to get it; "+roleCommand(c.plan)+" prints the roles",
			"the cluster cannot be identified: you may not get namespaces kube-system")
	}
	if target.Identity != c.plan.Target.Identity {
		return refusal(doing, "use the kubeconfig and context of that cluster, or preview again on this one",
			fmt.Sprintf("the plan is for another cluster: reviewed was %s, this is %s",
				digestOrNone(c.plan.Target.Identity), digestOrNone(target.Identity)))
	}
	if err := c.checkQuorum(target.Users()); err != nil {
		return err
	}
	if err := c.checkBase(ctx); err != nil {
		return err
	}
	return c.findNamespace(ctx)
}

// checkExpiry refuses an expired plan, even to resume it: a new plan is needed
// then. A run that began in time is not stopped.
func (c *checker) checkExpiry() error {
	if why := c.plan.Expired(c.opts.Clock.Now()); why != "" {
		return refusal("checking the plan for "+c.plan.Release.Name, "preview again; if the clock is wrong, set it", why)
	}
	return c.checkCertificates()
}

// checkCertificates refuses a plan with a generated webhook certificate that
// has expired since the plan was made.
func (c *checker) checkCertificates() error {
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		cert := servingcert.Leaf(o.Planned)
		if cert == nil || !c.opts.Clock.Now().After(cert.NotAfter) || !slices.ContainsFunc(c.plan.Packages, func(pkg preview.Package) bool {
			return pkg.Name == o.Package && pkg.Parameters.Certs == preview.CertsGenerated
		}) {
			continue
		}
		return refusal("checking the plan for "+c.plan.Release.Name, "preview again, which makes another certificate; if the clock is wrong, set it",
			fmt.Sprintf("%s holds a certificate for webhooks that ended on %s", o.ID, cert.NotAfter.UTC().Format(time.DateTime)))
	}
	return nil
}

// checkQuorum verifies the required signed approvals, and adds to the run's approval
// who signed and which findings all signers accept. users are those who apply.
func (c *checker) checkQuorum(users []string) error {
	if c.opts.Quorum == nil {
		return nil
	}
	signed, accepted, err := c.opts.Quorum.Check(c.plan, users, c.opts.Clock.Now())
	if refused, ok := errors.AsType[*approval.QuorumError](err); ok {
		return refusal("counting the signed approvals of "+c.plan.Release.Name,
			"have exactly this plan approved: approve PLAN --key FILE", refused.Reasons...)
	}
	if err != nil {
		return c.fail("counting the signed approvals", "", err)
	}
	c.approval.Signed = signed
	for _, a := range accepted {
		if one := (record.Acceptance{ID: a.ID, Fingerprint: a.Fingerprint}); !slices.Contains(c.approval.Accepted, one) {
			c.approval.Accepted = append(slices.Clip(c.approval.Accepted), one)
		}
	}
	return nil
}

// checkBase compares the newest record with the revision that the plan is based
// on; a difference is refused. An unfinished record of the plan itself is no
// difference: the run resumes it.
func (c *checker) checkBase(ctx context.Context) error {
	doing := "checking the revision that the plan is based on"
	newest, secret, err := record.LoadWithSecret(ctx, c.cluster, c.plan.Release)
	if err != nil {
		return c.fail(doing, "", err)
	}
	before := c.before
	c.before, c.parent = newest, secret
	if newest.CheckedLike(before) { // a moment ago, before the lock
		return c.compareBase(ctx, doing, newest)
	}
	found, err := record.ToPlanFrom(ctx, c.cluster, c.plan.Release, newest, c.opts.RecordKeys, c.plan.Target.Identity)
	if err != nil {
		return c.fail(doing, "", err)
	}
	return c.compareBase(ctx, doing, found)
}

// compareBase compares the record of a release, nil for none, with the revision that the
// plan is based on.
func (c *checker) compareBase(ctx context.Context, doing string, record *record.Record) error {
	const again = "preview again: the release is not what was reviewed"
	base := c.plan.Base
	now := preview.Base{}
	if record != nil {
		now = record.PlanBase()
	}
	broken := now.Signature != nil && now.Signature.Chain != "" && (base.Signature == nil || base.Signature.Chain == "")
	switch {
	case record == nil && base.Revision == 0 && base.Lost == 0:
		return nil
	case record == nil || record.Revision == 0 && base.Revision > 0:
		return refusal(doing, again, fmt.Sprintf("the record of revision %d is gone", base.Revision))
	case broken:
		return refusal(doing, again, now.Signature.Chain)
	case record.Digest == c.plan.Digest && record.State.Unfinished():
		return nil
	case record.Undoes != nil && record.Undoes.Digest == c.plan.Digest && record.State.Unfinished():
		return nil // and the undo of it will be
	case record.Spent(c.plan.Digest) != "":
		dropLease(ctx, c.cluster, c.plan.Release, c.parent)
		return refusal(doing, "preview again to see what would change now", record.Spent(c.plan.Digest))
	case record.Revision != base.Revision || record.Digest != base.Digest:
		return refusal(doing, again, fmt.Sprintf("it is based on revision %d, but revision %d (%s, %s) is the newest",
			base.Revision, record.Revision, record.State, record.Digest))
	case !reflect.DeepEqual(base.Signature, now.Signature) || base.Lost != now.Lost:
		return refusal(doing, "preview again with the same --record-key, or the same records.trusted in the configuration",
			fmt.Sprintf("in the plan the record of revision %d is %s, and here %s", record.Revision, base.Signature, record.Signature))
	case !maps.Equal(base.Accepted, now.Accepted):
		// Accepted findings count for less: the list must be the record's own.
		return refusal(doing, again, fmt.Sprintf("the findings it counts as accepted differ from those in revision %d", record.Revision))
	}
	return nil
}

// wholeCheck makes the plan again from the approved content and fresh reads,
// and writes nothing. It compares the new Facts with the approved ones, and
// passes the new findings through the gate.
func (c *checker) wholeCheck(ctx context.Context) error {
	doing := "checking that the cluster is as reviewed"
	var cluster engine.Cluster = c.cluster
	if c.namespace != nil {
		cluster = &clusterWithoutNamespace{Cluster: c.cluster, object: c.ownNamespace()}
	}
	if err := c.mayLook(ctx); err != nil {
		return c.fail(doing, "", err)
	}
	now, err := engine.Recheck(ctx, c.plan, cluster, c.opts.Schemas)
	if err != nil {
		return c.notChecked(doing, err)
	}
	now.SavedAs = c.plan.SavedAs
	if err := DeniedError(now); err != nil {
		return c.fail(doing, "", err)
	}
	if now.Digest != c.plan.Digest {
		reasons := missingReadRights(now)
		for _, move := range engine.FactChanges(c.plan, now, c.opts.Schemas) {
			reasons = append(reasons, move.String())
		}
		reasons = append(reasons, fmt.Sprintf("the plan was %s and is now %s", c.plan.Digest, now.Digest))
		return c.fail(doing, "", refusal(doing, "preview again, and approve what it shows", reasons...))
	}
	if err := c.judge(now); err != nil {
		return c.fail(doing, "correct the policy", err)
	}
	if err := c.compute(ctx, now, cluster); err != nil {
		return c.notChecked(doing, err)
	}
	if err := Gate(now, c.approval); err != nil {
		return c.fail(doing, "", err)
	}
	if err := c.checkUndo(ctx, now); err != nil {
		return err
	}
	if err := c.checkMembers(ctx); err != nil {
		return err
	}
	if err := c.dryRunGate(ctx, cluster); err != nil {
		return err
	}
	c.checked = now
	return c.checkOperands(ctx)
}

// compute takes what was computed of the plan, such as what policies of the cluster will
// refuse, into the fresh plan now. A saved plan does not hold it: it is computed here.
func (c *checker) compute(ctx context.Context, now *preview.Plan, cluster engine.Cluster) error {
	if c.plan.Computed == nil {
		return admission.Compute(ctx, now, cluster)
	}
	now.Computed = c.plan.Computed
	return nil
}

// notChecked returns the error for a check where the plan could not be made again. A
// refusal of the engine keeps its advice; for any other error the advice is to run the
// command again.
func (c *checker) notChecked(doing string, err error) *Error {
	if refused, ok := errors.AsType[*engine.RefusedError](err); ok {
		return c.fail(doing, refused.Next, refusal(doing, refused.Next, refused.What))
	}
	return c.fail(doing, "run the command again", err)
}

// judge applies the policy of the user who applies to the findings of the fresh
// plan now, and records the policy's sha256 in the approval.
func (c *checker) judge(now *preview.Plan) error {
	if c.opts.Judge == nil {
		return nil
	}
	if err := c.opts.Judge(now); err != nil {
		return refusal("judging the findings by the policy", "correct the policy", err.Error())
	}
	if now.Policy != nil {
		c.approval.Policy = now.Policy.SHA256
	}
	return nil
}

// checkMembers refuses a plan that leaves out an object of the installed
// revision which still exists: no release would own that object any more.
func (c *checker) checkMembers(ctx context.Context) error {
	if c.before == nil {
		return nil
	}
	var silent []preview.Ref
	for _, item := range c.before.Inventory {
		if c.object(item.Ref().ID()) == nil {
			silent = append(silent, item.Ref())
		}
	}
	var reasons []string
	for _, result := range reads.Recorded(ctx, c.cluster, silent) {
		switch reason := preview.ReasonOf(result.Err); {
		case reason == preview.ReasonKindGone, result.Err == nil && result.Body == nil:
		case reason == preview.ReasonNotServed:
			reasons = append(reasons, result.Ref.ID()+" is not in the plan, and cannot be read: "+result.Err.Error())
		case reason == preview.ReasonForbidden:
			reasons = append(reasons, result.Ref.ID()+" is not in the plan, and may not be read")
		case result.Err != nil:
			return c.fail("reading "+result.Ref.ID(), "run the command again", result.Err)
		case preview.String(result.Body, "metadata", "deletionTimestamp") == "":
			reasons = append(reasons, fmt.Sprintf("%s belongs to revision %d and exists, but is not in the plan", result.Ref.ID(), c.before.Revision))
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return c.fail("checking what is installed", "", refusal("checking what is installed", "preview again, and approve what it shows", reasons...))
}

// findNamespace looks for the release Namespace that an interrupted run of this plan created. It
// must be as planned, no other client may have written to it, and it must hold no record. Checks
// then treat the Namespace as absent, because it was absent at the review.
func (c *checker) findNamespace(ctx context.Context) error {
	o := c.ownNamespace()
	if o == nil || c.before != nil {
		return nil
	}
	live, err := c.cluster.Get(ctx, o.Ref())
	if err != nil {
		return c.fail("reading the release namespace", "", err)
	}
	if live != nil && c.isOwnNamespace(o, live) {
		c.namespace = live
	}
	return nil
}

// BeforeNamespace returns the cluster with its release Namespace hidden, if an
// interrupted run of a plan has created that Namespace, else nil. Planning on
// the result gives the approved digest again.
func BeforeNamespace(ctx context.Context, cluster PlanningCluster, release preview.Release) (engine.Cluster, error) {
	ref := preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: release.Namespace}
	live, err := cluster.Get(ctx, ref)
	if err != nil || live == nil || !hasOnlyOurManager(live) {
		return nil, err
	}
	record, err := record.Load(ctx, cluster, release)
	if err != nil || record != nil {
		return nil, err
	}
	made := &preview.Object{ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, ResultBody: live}
	return &clusterWithoutNamespace{Cluster: cluster, object: made}, nil
}

// PlanningCluster is a cluster that plans and records are read from.
type PlanningCluster interface {
	engine.Cluster
	record.Getter
}

// hasOnlyOurManager reports whether a Namespace is not being deleted and no other
// client has written to it.
func hasOnlyOurManager(live map[string]any) bool {
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

// clusterWithoutNamespace hides the release Namespace and its content, as if they
// did not exist: the state that was reviewed before this plan's first write
// created the Namespace.
type clusterWithoutNamespace struct {
	engine.Cluster
	object *preview.Object
}

// Read returns "not found" for the Namespace and for objects in it.
func (w *clusterWithoutNamespace) Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult {
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

// List leaves out the Namespace and the objects in it.
func (w *clusterWithoutNamespace) List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error) {
	if namespace == w.object.Name {
		return nil, nil
	}
	found, err := w.Cluster.List(ctx, apiVersion, kind, namespace, selector, fields...)
	return slices.DeleteFunc(found, func(body map[string]any) bool {
		ref := preview.RefOf(body)
		return ref.ID() == w.object.ID || ref.Namespace == w.object.Name
	}), err
}

// DryRun returns the object's ResultBody as the dry run of the Namespace: the
// review's result, or the live Namespace. All other dry runs are sent.
func (w *clusterWithoutNamespace) DryRun(ctx context.Context, items []preview.DryRun) []preview.DryRunResult {
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
