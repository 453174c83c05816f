package engine

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// BlockedBy is [preview.WhyBlocked] with what is known of the owner, and what to
// do about it, in words that follow the object's id.
func BlockedBy(p *preview.Plan, o *preview.Object) string { return blockedBy(p, searched{p}, o) }

func blockedBy(p *preview.Plan, seen recorded, o *preview.Object) string {
	why := preview.WhyBlocked(o, p.Release)
	if preview.String(o.LiveBody, "metadata", "deletionTimestamp") != "" {
		return why
	}
	found := ownerIn(seen, o.ID)
	if owner, ok := found.of(); ok {
		return "belongs to " + owner.String() + ofRelease(o, owner)
	}
	if len(found.Owners) > 0 {
		return letGo(o, found.Owners[0].ref())
	}
	if len(found.Hidden) > 0 {
		return "may belong to " + found.Hidden[0] + ", which may not be read; get the right to read it, and preview again"
	}
	owner, _ := preview.ForeignOwner(o.LiveBody, p.Release)
	return why + fromSet(o, owner)
}

// ofRelease says what another release's object takes to be shared.
func ofRelease(o *preview.Object, owner Owner) string {
	look := "kubectl operator status " + quoted(owner.Name) + " -n " + quoted(owner.Namespace)
	switch {
	case owner.Hidden:
		return ", whose record may not be read: only a release that may be read can share; get the right to list Secrets, and preview again"
	case !isDefinition(o):
		return "; uninstall that, or install this one under names of its own"
	case owner.Same:
		return ", which has the same, but the live one is not as that release left it; " + look + " shows where it differs"
	}
	return ", which has another form of it; only one that is exactly the same is shared: bring both releases to versions with the same definition"
}

// fromSet says how an object leaves the ApplySet of another tool.
func fromSet(o *preview.Object, owner preview.Owner) string {
	if owner.Tool != preview.ToolApplySet {
		return ""
	}
	return fmt.Sprintf(", whose parent kubectl get secrets,configmaps -A -l %s=%s finds; take it out of that set, then: kubectl label %s %s-",
		preview.LabelSetID, quoted(owner.Name), argument(o.Ref()), preview.LabelPartOf)
}

// letGo says what makes the owner of an object let go of it, step by step, and
// leaves the object as it is.
func letGo(o *preview.Object, owner preview.Ref) string {
	patch := func(merge string) string {
		return "kubectl patch " + argument(owner) + " --type=merge -p '" + merge + "'"
	}
	remove, note := "kubectl delete "+argument(owner), ""
	steps := []string{remove}
	switch owner.GroupKind() {
	case "olm.operatorframework.io/ClusterExtension":
		steps = []string{remove + " --cascade=orphan"}
		note = " (an operator-controller that writes its owner references back while it deletes has to be updated first)"
	case "kustomize.toolkit.fluxcd.io/Kustomization", "helm.toolkit.fluxcd.io/HelmRelease":
		steps = []string{patch(`{"spec":{"suspend":true}}`), remove}
		note = " (Flux leaves the objects of what is suspended; take it out of its Git repository first, or it comes back)"
	case "argoproj.io/Application":
		steps = []string{patch(`{"metadata":{"finalizers":null}}`), remove}
		note = " (what makes the Application, such as an ApplicationSet, comes first, or it comes back)"
	case "kappctrl.k14s.io/App", "packaging.carvel.dev/PackageInstall":
		steps = []string{patch(`{"spec":{"noopDelete":true}}`), remove}
	case "ConfigMap":
		if owner.ID() != o.ID && preview.MarkValue(o.LiveBody, "kapp.k14s.io/app") != "" {
			note = " (it is kapp's record, and nothing else goes with it)"
			break
		}
		steps = []string{remove + " --cascade=orphan"}
	default:
		steps = []string{remove + " --cascade=orphan"}
	}
	return fmt.Sprintf("belongs to %s; to take it over: %s%s, then plan with --adopt", owner.ID(), strings.Join(steps, " && "), note)
}

// argument names an object for kubectl: KIND.GROUP NAME -n NAMESPACE.
func argument(ref preview.Ref) string {
	text := strings.ToLower(ref.Kind)
	if group := ref.Group(); group != "" {
		text += "." + group
	}
	text = quoted(text) + " " + quoted(ref.Name)
	if ref.Namespace != "" {
		text += " -n " + quoted(ref.Namespace)
	}
	return text
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9._/=:-]+$`)

// quoted makes a name from the cluster one word for a shell.
func quoted(name string) string {
	if plainWord.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// Adoptable says what an object that exists is, and that --adopt takes it over,
// in words that follow the object's id.
func Adoptable(p *preview.Plan, o *preview.Object) string {
	const how = "; plan with --adopt to take it over"
	found := ownerIn(searched{p}, o.ID)
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
