package review

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// maxMoved is how many changed facts the banner of a stale plan names.
const maxMoved = 2

// changedFacts says in one line which facts of two plans of the same content differ.
func changedFacts(before, after *preview.Plan) string {
	var moved []string
	for i := range after.Objects {
		o := &after.Objects[i]
		old := before.Object(o.ID)
		switch {
		case old == nil:
			moved = append(moved, frame.ObjectName(o.ID)+" is new")
		case old.Live == o.Live && len(o.Conflicts) > 0 && before.ConflictsOf(old) != after.ConflictsOf(o):
			moved = append(moved, frame.ObjectName(o.ID)+": "+decision(after.ConflictsOf(o)))
		case old.Action != o.Action:
			moved = append(moved, fmt.Sprintf("%s: %s, was %s", frame.ObjectName(o.ID), o.Action, old.Action))
		case old.Live != o.Live || old.Result != o.Result || len(old.Conflicts) != len(o.Conflicts):
			moved = append(moved, frame.ObjectName(o.ID)+changedPath(old, o)+" changed in the cluster")
		case old.Digest != o.Digest:
			moved = append(moved, frame.ObjectName(o.ID)+" is another object")
		}
	}
	for i := range before.Objects {
		if after.Object(before.Objects[i].ID) == nil {
			moved = append(moved, frame.ObjectName(before.Objects[i].ID)+" is no longer in it")
		}
	}
	if before.Base.Revision != after.Base.Revision || before.Base.Digest != after.Base.Digest {
		moved = append(moved, fmt.Sprintf("the release is at revision %d, was at %d", after.Base.Revision, before.Base.Revision))
	}
	if before.Target.Identity != after.Target.Identity {
		moved = append(moved, "it is another cluster")
	}
	if len(moved) == 0 {
		return "facts the plan depends on differ"
	}
	if len(moved) > maxMoved {
		return strings.Join(moved[:maxMoved], ", ") + fmt.Sprintf(" and %d more", len(moved)-maxMoved)
	}
	return strings.Join(moved, ", ")
}

// changedPath returns the path of the first field at which two reads of a live
// object differ, after a space; empty if there is none.
func changedPath(before, after *preview.Object) string {
	if before.LiveBody == nil || after.LiveBody == nil {
		return ""
	}
	from, to := preview.WithoutVolatile(before.LiveBody, before.Planned), preview.WithoutVolatile(after.LiveBody, after.Planned)
	if changes := diff.Changes(from, to); len(changes) > 0 {
		return " " + changes[0].Path
	}
	return ""
}

// decision says, for take or leave, what is done about an object's fields with
// conflicts.
func decision(conflicts string) string {
	switch conflicts {
	case preview.ConflictsTake, preview.ConflictsOwn:
		return "its contested fields are taken over"
	case preview.ConflictsLeave:
		return "its contested fields are left to their managers"
	}
	return "its contested fields are not decided"
}

// comparisonBasis names what a plan is compared with: the cluster, or for
// plugins on this machine the location.
func comparisonBasis(p *preview.Plan) string {
	if p.OnMachine() {
		return "the location"
	}
	return "the cluster"
}

// writeTarget names what an approved plan changes: a cluster, or files on this machine.
func writeTarget(p *preview.Plan) string {
	if p.OnMachine() {
		return "files on this machine"
	}
	return "a cluster"
}

// reviewedContent returns the noun for the parts of a plan: "object", or "file"
// for plugins on this machine.
func reviewedContent(p *preview.Plan) string {
	if p.OnMachine() {
		return "file"
	}
	return "object"
}

// foreignFields returns the fields of a live object that only other field managers
// set. It is empty unless the plan updates the object or leaves it unchanged.
func foreignFields(o *preview.Object) []diff.SetField {
	if o.LiveBody == nil || o.Planned == nil || o.Action != preview.ActionUpdate && o.Action != preview.ActionUnchanged {
		return nil
	}
	var out []diff.SetField
	var ours map[string]bool
	for _, f := range diff.SetFields(o) {
		if f.Manager == preview.FieldManager || strings.HasPrefix(f.Manager, preview.FieldManager+"-") {
			continue
		}
		if ours == nil {
			ours = map[string]bool{}
			for _, c := range diff.Changes(nil, o.Planned) {
				ours[c.Path] = true
			}
		}
		if !ours[f.Path] {
			out = append(out, f)
		}
	}
	return out
}
