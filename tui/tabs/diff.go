package tabs

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// diffOrder returns the actions in the order of the diff tab: changes and
// deletions before creations.
func diffOrder() []preview.Action {
	return []preview.Action{
		preview.ActionUpdate, preview.ActionPatch, preview.ActionReplace, preview.ActionDelete, preview.ActionAdopt,
		preview.ActionBlocked, preview.ActionUnknown, preview.ActionCreate,
	}
}

// diffTab shows how each object would change.
type diffTab struct{ *View }

func (m *diffTab) Count() int { return -1 }

func (m *diffTab) Doc(string, int) Document { return Document{} }

// Rows lists the objects that the plan changes, creates or deletes.
func (m *diffTab) Rows() []Row {
	rows := append(make([]Row, 0, len(m.Plan.Objects)+1), m.packageRow()...)
	before := len(rows)
	for _, a := range diffOrder() {
		objects := m.objectsBy(a)
		for i := range objects {
			rows = append(rows, m.objectRow(objects, i))
		}
	}
	if len(rows) == before {
		rows = append(rows, textRow(frame.Plain("no object would differ afterwards")))
	}
	return rows
}
