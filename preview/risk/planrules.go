package risk

import (
	"reflect"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

func planRules() []entry {
	return []entry{
		{Rule: rules.ObjectBlocked, object: forAction(preview.ActionBlocked, func(c *scan, o *preview.Object) (Level, *preview.Seen) {
			why := c.blockedBy(o)
			if why == "" {
				return None, nil
			}
			return Critical, seenAs(words.Sentence.Of(why))
		})},
		{Rule: rules.FieldConflict, object: facts(conflicts)},
		{Rule: rules.HotFixOverwritten, object: facts(takenBackFields)},
		{Rule: rules.ObjectReplaced, object: forAction(preview.ActionReplace, replaced)},
		{Rule: rules.ReplicasReset, object: forAction(preview.ActionUpdate, replicasReset)},
		{Rule: rules.ObjectDeleted, object: forAction(preview.ActionDelete, deleted)},
		{Rule: rules.ObjectKept, object: forAction(preview.ActionKeep, keptByPolicy)},
		{Rule: rules.ObjectAdopted, object: forAction(preview.ActionAdopt, func(*scan, *preview.Object) (Level, *preview.Seen) { return High, seenAs(words.ExistsAlready.Of()) })},
		{Rule: rules.HostileText, object: facts(hostileText)},
	}
}

// blockedBy returns why an object is blocked, in words that follow its id.
func (c *scan) blockedBy(o *preview.Object) string {
	if c.in.Blocked != nil {
		return c.in.Blocked(o)
	}
	return preview.WhyBlocked(o, c.plan.Release)
}

func forAction(action preview.Action, judge func(c *scan, o *preview.Object) (Level, *preview.Seen)) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []preview.Piece) {
		if o.Action != action {
			return None, nil
		}
		level, fact := judge(c, o)
		if fact == nil {
			return None, nil
		}
		return level, words.Saw(*fact)
	}
}

// isRBAC reports whether an object is of API group rbac.authorization.k8s.io. To delete
// or replace one is less severe: roles with generated names come and go with each
// version, and the rules about grants judge what changes for subjects.
func isRBAC(o *preview.Object) bool { return o.Ref().Group() == rbacGroup }

func replaced(_ *scan, o *preview.Object) (Level, *preview.Seen) {
	if isRBAC(o) {
		return Medium, seenAs(words.Replaced.Of())
	}
	if o.Is(preview.KindJob) {
		return Medium, seenAs(words.Replaced.Of()) // what it did is done
	}
	if o.Is(preview.KindStatefulSet) && !reflect.DeepEqual(claimTemplates(o.LiveBody), claimTemplates(o.Planned)) {
		return Critical, seenAs(words.ReplacedClaimsStay.Of())
	}
	return Critical, seenAs(words.Replaced.Of())
}

// claimTemplates returns the specs of the volumeClaimTemplates of a StatefulSet, without
// what the API server adds.
func claimTemplates(body map[string]any) []any {
	var out []any
	for _, claim := range preview.Maps(body, "spec", "volumeClaimTemplates") {
		out = append(out, []any{
			preview.String(claim, "metadata", "name"), preview.Value(claim, "spec", "resources"), preview.Value(claim, "spec", "storageClassName"), preview.Value(claim, "spec", "accessModes"),
		})
	}
	return out
}

// replicasReset matches workloads whose replicas the package no longer sets, as a package
// does that brings a HorizontalPodAutoscaler: server-side apply takes the field off, and
// its default is one.
func replicasReset(_ *scan, o *preview.Object) (Level, *preview.Seen) {
	now, _ := preview.Value(o.LiveBody, "spec", "replicas").(int64)
	if preview.Value(o.Planned, "spec", "replicas") != nil || now < 2 || o.ResultBody == nil {
		return None, nil
	}
	if after, _ := preview.Value(o.ResultBody, "spec", "replicas").(int64); after < now && o.Is(preview.KindDeployment, preview.KindStatefulSet) {
		return Medium, seenAs(words.ReplicasNoLongerSet.Of(now, after))
	}
	return None, nil
}

// deleted matches objects that the plan deletes. It is Critical if data is deleted with
// them, and Low if nothing is lost or the plan deletes everything, as uninstall does.
func deleted(c *scan, o *preview.Object) (Level, *preview.Seen) {
	if o.FormerOwner() {
		return Critical, seenAs(words.DeletedForOwner.Of(strings.Join(o.Adoption.Releases, ", ")))
	}
	if o.Is(preview.KindNamespace, preview.KindCustomResourceDefinition, preview.KindPersistentVolumeClaim, preview.KindPersistentVolume) {
		return Critical, seenAs(words.DeletedWithData.Of())
	}
	if o.Is(preview.KindServiceAccount) || isRBAC(o) || c.around.empty {
		return Low, seenAs(words.ObjectGone.Of())
	}
	return Medium, seenAs(words.ObjectGone.Of())
}

// conflicts matches objects with field conflicts: with the rule's level where the plan
// takes the fields or some are undecided, and High where they are left to their
// managers.
func conflicts(c *scan, o *preview.Object) (Level, []preview.Seen) {
	if takesBack(c.plan, o) {
		return None, nil
	}
	lines := sentences(c.plan.ContestedEvidence(o))
	if c.plan.Takes(o) || len(c.plan.Unsettled(o)) > 0 {
		return None, lines
	}
	return High, lines
}

func keptByPolicy(_ *scan, o *preview.Object) (Level, *preview.Seen) {
	if !o.HelmKeeps() {
		return None, nil
	}
	return None, seenAs(words.KeptByPolicy.Of())
}

// takenBackFields matches objects where a rollback takes back fields that another
// manager has set. The evidence is each field with the value that is lost.
func takenBackFields(c *scan, o *preview.Object) (Level, []preview.Seen) {
	if !takesBack(c.plan, o) {
		return None, nil
	}
	return None, sentences(c.plan.ContestedEvidence(o))
}

func takesBack(p *preview.Plan, o *preview.Object) bool {
	return p.ConflictsOf(o) == preview.ConflictsOwn && p.Takes(o)
}

// hostileText matches objects with hostile text, such as control characters, in a key
// or value.
func hostileText(c *scan, o *preview.Object) (Level, []preview.Seen) {
	return None, sentences(c.hostile.Lines(o))
}
