// Package rollback decides how a plan is reverted when its apply fails, and
// compares the plan of that rollback with the approved one. It is given plans
// and live objects as values, and reads no cluster.
package rollback

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// Decide sets the actions of the plan's rollback on failure, each derived from the
// plan's action on the object. If some objects cannot be rolled back it changes nothing
// and returns the reasons, one sentence each.
func Decide(p *preview.Plan) []string {
	if p.FailureRollback == nil {
		return nil
	}
	back := map[string]preview.RollbackObject{}
	for _, o := range p.FailureRollback.Objects {
		back[o.ID] = o
	}
	var out []preview.RollbackObject
	var reasons []string
	for i := range p.Objects {
		o := &p.Objects[i]
		was, has := back[o.ID]
		delete(back, o.ID)
		if why := irrevocable(p, o, has); why != "" {
			reasons = append(reasons, o.ID+" "+why)
			continue
		}
		if action := inverse(o, was.Digest); action != "" {
			out = append(out, preview.RollbackObject{ID: o.ID, APIVersion: o.APIVersion, Action: action, Digest: was.Digest})
		}
	}
	for _, o := range back { // gone from the cluster before the plan was made
		o.Action = preview.ActionCreate
		out = append(out, o)
	}
	if len(reasons) > 0 {
		return reasons
	}
	slices.SortFunc(out, func(a, b preview.RollbackObject) int { return strings.Compare(a.ID, b.ID) })
	p.FailureRollback = &preview.FailureRollback{Revision: p.FailureRollback.Revision, ContentDigest: p.FailureRollback.ContentDigest, Objects: out, Findings: p.FailureRollback.Findings}
	return nil
}

// RestoredObjects returns the rollback with only the objects that it restores to the
// earlier revision, without those that it deletes or keeps; nil for nil.
func RestoredObjects(u *preview.FailureRollback) *preview.FailureRollback {
	if u == nil {
		return nil
	}
	out := &preview.FailureRollback{Revision: u.Revision, ContentDigest: u.ContentDigest, Findings: u.Findings}
	for _, o := range u.Objects {
		if o.Digest != "" {
			out.Objects = append(out.Objects, preview.RollbackObject{ID: o.ID, APIVersion: o.APIVersion, Digest: o.Digest})
		}
	}
	return out
}

// inverse returns the action that reverts the plan's action on an object, empty if there
// is nothing to revert. digest is the object's in the earlier revision, empty if that
// does not contain it.
func inverse(o *preview.Object, digest string) preview.Action {
	// Sensitive values are hashed with the pin of their package, which is
	// another one for every version.
	same := digest == o.Digest || o.Action == preview.ActionUnchanged && preview.HasSensitive(o.Planned)
	switch {
	case o.Action == preview.ActionBlocked:
		return "" // and no such plan is applied
	case digest != "" && (o.Action == preview.ActionSkip || o.Action == preview.ActionShared):
		return o.Action
	case digest != "" && o.Action == preview.ActionDelete:
		return preview.ActionCreate
	case digest != "" && (o.Action == preview.ActionKeep || same):
		return preview.ActionUnchanged
	case digest != "" && o.Patches():
		return preview.ActionPatch
	case digest != "":
		return preview.ActionUpdate
	case o.Action == preview.ActionPatch:
		return preview.ActionPatch // what is patched is taken back
	case o.Action == preview.ActionCreate && !o.Is(preview.KindCustomResourceDefinition, preview.KindNamespace):
		return preview.ActionDelete
	case o.Action == preview.ActionSkip:
		return ""
	}
	return preview.ActionKeep
}

// inert reports whether an object does nothing by itself, such as the ConfigMap that a
// hook's Job reads: as a hook it is reverted like any other object.
func inert(o *preview.Object) bool {
	return o.Is(preview.KindConfigMap, preview.KindSecret, preview.KindServiceAccount,
		preview.KindRole, preview.KindRoleBinding, preview.KindClusterRole, preview.KindClusterRoleBinding)
}

// irrevocable returns why the plan's action on an object cannot be reverted, as the end
// of a sentence that begins with the object; empty if it can. comesBack is set if the
// earlier revision contains the object.
func irrevocable(p *preview.Plan, o *preview.Object, comesBack bool) string {
	switch {
	case o.Action == preview.ActionUnknown:
		return "could not be read, so what it was is not known"
	case o.Action == preview.ActionReplace:
		return "is deleted and created again, and what it held does not come back"
	case o.Action == preview.ActionAdopt:
		return "is taken over, and cannot be given back to its former owner"
	case o.Hook != nil && !inert(o) && o.Action != preview.ActionUnchanged && o.Action != preview.ActionSkip:
		return "is a hook, and what it does cannot be taken back"
	case p.Takes(o):
		return "takes fields over from other managers, which cannot be given back"
	case o.Action == preview.ActionUpdate && !comesBack:
		return "is changed, and what it was is of no installed revision"
	case o.Action == preview.ActionDelete && !comesBack:
		return "is deleted, and is of no installed revision that could bring it back"
	case o.Action == preview.ActionDelete:
		switch o.GroupKind() {
		case preview.KindSecret:
			return "is deleted, and its values are not on record"
		case preview.KindPersistentVolumeClaim, preview.KindPersistentVolume:
			return "is deleted, and what it stores does not come back"
		}
	case o.Action == preview.ActionUpdate && o.Is(preview.KindSecret):
		return findLostKey(o)
	}
	return ""
}

// findLostKey returns a text about a key of an updated Secret whose old value is lost,
// because records do not contain it; empty if there is none.
func findLostKey(o *preview.Object) string {
	for _, key := range slices.Sorted(maps.Keys(o.SecretKeys)) {
		_, stays := preview.Map(o.ResultBody, "data")[key]
		switch change := o.SecretKeys[key]; {
		case change == "changed", change == "removed" && !stays:
			return fmt.Sprintf("loses the value of its key %s, which is not on record", key)
		}
	}
	return ""
}

// Differences returns how back, a plan made to roll back p after it was applied as a
// whole or in part, differs from the rollback that was approved with p; empty if it
// does not.
func Differences(p, back *preview.Plan) []string {
	if p.FailureRollback == nil {
		return []string{"the plan contains no rollback"}
	}
	want := map[string]preview.RollbackObject{}
	for _, o := range p.FailureRollback.Objects {
		want[o.ID] = o
	}
	var reasons []string
	if back.ContentDigest != p.FailureRollback.ContentDigest {
		reasons = append(reasons, fmt.Sprintf("revision %d does not come back as it was reviewed: its content was %s and is now %s", p.FailureRollback.Revision, diff.ShortOrNone(p.FailureRollback.ContentDigest), diff.ShortOrNone(back.ContentDigest)))
	}
	if c := back.Options.Conflicts; c != preview.ConflictsFail && (c != preview.ConflictsLeave || p.Options.Conflicts != c) {
		reasons = append(reasons, fmt.Sprintf("the rollback would resolve conflicts by %q, which the plan does not say", c))
	}
	for _, id := range slices.Sorted(maps.Keys(back.Options.ConflictsOf)) {
		if decided := back.Options.ConflictsOf[id]; decided != preview.ConflictsLeave || p.Options.ConflictsOf[id] != decided {
			reasons = append(reasons, fmt.Sprintf("the rollback would resolve conflicts of %s by %q, which the plan does not say", id, decided))
		}
	}
	for i := range back.Objects {
		o := &back.Objects[i]
		sealed, known := want[o.ID]
		switch {
		case !known && o.Action == preview.ActionKeep:
		case !known:
			reasons = append(reasons, fmt.Sprintf("%s: the approved rollback does not include it", o.ID))
		case o.Digest != sealed.Digest && !(sealed.Digest == "" && o.ReleasesOwnership()):
			reasons = append(reasons, o.ID+" would come back as another object than was approved")
		case !partOf(sealed.Action, o.Action) && !(o.Action == preview.ActionCreate && creates(p, o.ID)):
			reasons = append(reasons, fmt.Sprintf("%s is not as the plan left it: approved was to %s it, now it would be %s", o.ID, sealed.Action, o.Action))
		}
		for _, c := range back.Unsettled(o) {
			reasons = append(reasons, fmt.Sprintf("%s: field manager %q owns %s now", o.ID, c.Manager, c.Path))
		}
	}
	for _, u := range back.Unknowns {
		reasons = append(reasons, fmt.Sprintf("%s could not be read: %s", u.Object, u.Why))
	}
	return reasons
}

// creates reports whether a plan creates an object. If the apply failed before it did,
// a rollback that wants the object has to create it.
func creates(p *preview.Plan, id string) bool {
	o := p.Object(id)
	return o != nil && o.Action == preview.ActionCreate
}

// partOf reports whether now, an action of the rollback, fits the approved one: it is
// the same, or what remains of it because the failed apply did not reach the object.
func partOf(sealed, now preview.Action) bool {
	switch sealed {
	case preview.ActionCreate:
		return now == sealed || now == preview.ActionUpdate || now == preview.ActionUnchanged
	case preview.ActionUpdate, preview.ActionPatch:
		return now == sealed || now == preview.ActionUnchanged
	}
	return now == sealed
}
