package tabs

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// AboutConflicts reports whether a finding is about fields with conflicts.
func AboutConflicts(f *preview.Finding) bool {
	return f.Rule == rules.FieldConflict.Name || f.Rule == rules.HotFixOverwritten.Name
}

// changesTitle returns the heading of an object's changes. Until there is a
// decision about its fields with conflicts, the listed changes are those of
// taking these fields over.
func (m *View) changesTitle(o *preview.Object) string {
	if len(m.Plan.Unsettled(o)) > 0 {
		return "What changes if the contested fields are taken over"
	}
	return "What changes"
}

// conflicts appends the fields of an object with conflicts, and how to decide
// about them.
func (m *View) conflicts(b *frame.Builder, o *preview.Object) {
	if len(o.Conflicts) == 0 {
		return
	}
	b.Heading("Fields that others manage")
	for _, text := range m.Plan.Contested(o) {
		b.Text(theme.Fail, "   ", "x "+text)
	}
	if !m.Settles || m.Plain {
		return
	}
	b.Text(theme.Plain, "   ", "t takes the fields of this object over, l leaves them as they are; the plan is made again")
}
