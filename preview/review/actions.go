package review

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// ActionText says in words what an apply does with an object.
func ActionText(p *preview.Plan, o *preview.Object) string {
	if len(p.Packages) == 0 { // nothing is installed: the release goes
		switch o.Action {
		case preview.ActionDelete:
			if o.Kind == "Namespace" {
				return "was made by the release and is deleted last, with everything in it"
			}
			return "belongs to the release and is deleted"
		case preview.ActionKeep:
			if o.Kind == "CustomResourceDefinition" && !o.HelmKeeps() && !p.Options.IncludeCRDs {
				return "belongs to the release and stays, with its objects; --include-crds deletes them all"
			}
			return "belongs to the release and stays, with what it holds"
		}
	}
	switch o.Action {
	case preview.ActionCreate:
		return "does not exist yet and is created; if it is created meanwhile, apply stops"
	case preview.ActionUpdate:
		return "exists and changes in " + preview.Plural(len(o.Changes), "field") + "; everything else in it stays"
	case preview.ActionUnchanged:
		return "is already as it would be; nothing is sent"
	case preview.ActionDelete:
		if o.FormerOwner() {
			return "is deleted first, so that it neither reverts nor deletes what is adopted"
		}
		return "belongs to the installed revision, not to this one, and is deleted"
	case preview.ActionKeep:
		if preview.String(o.LiveBody, "metadata", "deletionTimestamp") != "" {
			return "is being deleted, and waits for its finalizers"
		}
		return "belongs to the installed revision, not to this one, and stays: it is never pruned"
	case preview.ActionShared:
		return "another release owns exactly the same object; it stays with that release, and nothing is sent"
	case preview.ActionSkip:
		return "the cluster does not serve its kind; nothing is sent, and an upgrade creates it once the API is there"
	case preview.ActionReplace:
		return "a field that cannot change differs: deleted, then created again"
	case preview.ActionAdopt:
		return "exists and belongs to another owner; this release adopts it: one write removes the former owner's marks, then it is applied"
	case preview.ActionBlocked:
		return "belongs to another owner, is being deleted or may not be replaced; the plan cannot be applied"
	case preview.ActionUnknown:
		return "could not be read: it may exist, and may differ"
	}
	return string(o.Action)
}

// FileText says in words what an install does with one file of a plugin set.
func FileText(f *preview.File) string {
	switch f.Action {
	case preview.ActionCreate:
		return "is not there yet, and is written"
	case preview.ActionUpdate:
		return "is there, and another takes its place"
	case preview.ActionDelete:
		return "is there, and not in the set: it is not in the new generation"
	case preview.ActionUnchanged:
		return "is already as it would be"
	}
	return string(f.Action)
}

// GenerationText names the generation of a plugin set that the plan would write,
// and the installed one.
func GenerationText(g *preview.Generation) string {
	switch {
	case g.From == g.To:
		return fmt.Sprintf("%d, and it stays", g.From)
	case g.From == 0:
		return fmt.Sprintf("%d, the first of this tool", g.To)
	}
	return fmt.Sprintf("%d, after %d", g.To, g.From)
}
