package review

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// diffOrder puts what is changed or lost before what is merely new.
func diffOrder() []preview.Action {
	return []preview.Action{
		preview.ActionUpdate, preview.ActionPatch, preview.ActionReplace, preview.ActionDelete, preview.ActionAdopt,
		preview.ActionBlocked, preview.ActionUnknown, preview.ActionCreate,
	}
}

// diffRows lists the objects that would differ afterwards.
func diffRows(m *review) []row {
	rows := append(make([]row, 0, len(m.plan.Objects)+1), m.packageRow()...)
	before := len(rows)
	for _, a := range diffOrder() {
		for _, i := range m.objectsBy(a) {
			rows = append(rows, m.objectRow(&m.plan.Objects[i]))
		}
	}
	if len(rows) == before {
		rows = append(rows, textRow(frame.Plain("no object would differ afterwards")))
	}
	return rows
}
