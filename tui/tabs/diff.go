package tabs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/renamed"
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
		objects := m.byRisk(m.objectsBy(a))
		for i := range objects {
			rows = append(rows, m.objectRow(objects, i))
		}
	}
	if len(rows) == before {
		rows = append(rows, textRow(frame.Plain("no object would differ afterwards")))
	}
	return rows
}

// byRisk sorts objects so that those with the most severe findings come first, then what
// decides about rights and requests. CRDs, whose differences are the longest and mostly
// descriptions, come last.
func (m *View) byRisk(objects []int) []int {
	type ranked struct{ at, severity, kind int }
	ranks := make([]ranked, len(objects))
	for i, at := range objects {
		o := &m.Plan.Objects[at]
		ranks[i] = ranked{at, m.index.severity(o.ID), kindRank(o)}
	}
	slices.SortStableFunc(ranks, func(x, y ranked) int { return cmp.Or(x.severity-y.severity, x.kind-y.kind) })
	for i, r := range ranks {
		objects[i] = r.at
	}
	return objects
}

func kindRank(o *preview.Object) int {
	switch {
	case o.Is(preview.KindRole, preview.KindClusterRole, preview.KindRoleBinding, preview.KindClusterRoleBinding):
		return 0
	case o.Is(preview.KindCustomResourceDefinition):
		return 2
	}
	return 1
}

// severity returns the rank of the worst finding about an object, reviewed or not.
func (x *Index) severity(id string) int {
	if items := x.itemsOf(id); len(items) > 0 {
		return x.board.Items[items[0]].Severity().Rank()
	}
	return preview.Info.Rank()
}

// Predecessor returns the object in whose place another is created: a role or binding
// that was named by the version of the package; nil if there is none.
func (m *View) Predecessor(o *preview.Object) *preview.Object {
	m.index.pairRenamed()
	return m.index.renamed[o.ID]
}

// pairRenamed finds the roles and bindings that take the place of others, once.
func (x *Index) pairRenamed() {
	if x.renamed != nil {
		return
	}
	x.renamed, x.gone = renamed.Pairs(x.plan), map[string]bool{}
	for _, before := range x.renamed {
		x.gone[before.ID] = true
	}
}

// renamedText says of a role or binding that it replaces another one, or is replaced;
// empty for other objects.
func (m *View) renamedText(o *preview.Object) string {
	switch o.Action {
	case preview.ActionCreate:
		if before := m.Predecessor(o); before != nil {
			return strings.TrimSuffix("renamed, "+renamed.Difference(before, o), ", ")
		}
	case preview.ActionDelete:
		if m.index.pairRenamed(); m.index.gone[o.ID] {
			return "renamed"
		}
	}
	return ""
}

// fieldsText returns the number of changed fields of an object, of which descriptions in
// a CRD are counted apart, where there is room.
func fieldsText(o *preview.Object, width int) string {
	descriptions := 0
	if o.Is(preview.KindCustomResourceDefinition) {
		for _, c := range o.Changes {
			if strings.HasSuffix(c.Path, ".description") {
				descriptions++
			}
		}
	}
	fields := preview.Plural(len(o.Changes)-descriptions, "field")
	switch {
	case descriptions == 0, descriptions < len(o.Changes) && width < wideRow:
		return fields
	case descriptions == len(o.Changes):
		return preview.Plural(descriptions, "description")
	}
	return fields + ", " + preview.Plural(descriptions, "description")
}
