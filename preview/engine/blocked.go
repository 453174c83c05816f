package engine

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
)

// BlockedBy returns why an object is blocked, as [preview.WhyBlocked] does, with its
// owner and with what to do about it. The words follow the object's id.
func BlockedBy(p *preview.Plan, o *preview.Object) string { return blockedBy(p, recordSearch{p}, o) }

func blockedBy(p *preview.Plan, seen recordReader, o *preview.Object) string {
	why := preview.WhyBlocked(o, p.Release)
	if preview.String(o.LiveBody, "metadata", "deletionTimestamp") != "" {
		return why
	}
	found := recordedOwner(seen, o.ID)
	if owner, ok := found.owningRelease(); ok {
		return "belongs to " + owner.String() + sharingAdvice(o, owner)
	}
	if len(found.Owners) > 0 {
		return owners.ReleaseSteps(o, found.Owners[0].ref())
	}
	if len(found.Hidden) > 0 {
		return "may belong to " + found.Hidden[0] + ", which may not be read; get the right to read it, and preview again"
	}
	owner, _ := preview.ForeignOwner(o.LiveBody, p.Release)
	return why + leaveSetAdvice(o, owner)
}

// sharingAdvice returns what to do so that an object of another release can be
// shared.
func sharingAdvice(o *preview.Object, owner Owner) string {
	look := "kubectl operator status " + preview.ShellWord(owner.Name) + " -n " + preview.ShellWord(owner.Namespace)
	switch {
	case owner.Hidden:
		return ", whose record may not be read: only a release that may be read can share; get the right to list Secrets, and preview again"
	case !isDefinition(o):
		return "; uninstall that, or install this one under other names"
	case owner.Same:
		return ", which has the same, but the live one is not as that release left it; " + look + " shows where it differs"
	}
	return ", which has another form of it; only one that is exactly the same is shared: bring both releases to versions with the same definition"
}

// leaveSetAdvice returns how to remove an object from the ApplySet of another
// tool.
func leaveSetAdvice(o *preview.Object, owner preview.Owner) string {
	if owner.Tool != preview.ToolApplySet {
		return ""
	}
	return fmt.Sprintf(", whose parent kubectl get secrets,configmaps -A -l %s=%s finds; take it out of that set, then: kubectl label %s %s-",
		preview.LabelSetID, preview.ShellWord(owner.Name), preview.KubectlArgument(o.Ref()), preview.LabelPartOf)
}

// Adoptable returns a description of an existing object that --adopt would take
// over, in words that follow the object's id.
func Adoptable(p *preview.Plan, o *preview.Object) string {
	const how = "; plan with --adopt to take it over"
	found := recordedOwner(recordSearch{p}, o.ID)
	if found.State == ownerGone {
		return "was left behind by release " + found.Release.Name + ", which is gone" + how
	}
	if len(found.Owners) > 0 {
		return "belongs to " + found.Owners[0].ref().ID() + how + ", which deletes that and what would install it again"
	}
	if owner, foreign := preview.ForeignOwner(o.LiveBody, p.Release); foreign {
		return "was made by " + owner.String() + how
	}
	return "exists and is not part of this release" + how
}
