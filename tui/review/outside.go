package review

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// outside is what others set in the release's objects at places that the plan
// does not touch: it stays as it is, and a person may want to know of it.
type outside struct {
	plan *preview.Plan // that it was looked for in
	of   map[string][]diff.SetField
}

type outsideMsg outside

// lookOutside returns the command that reads the managed fields of a plan's
// live objects, once per plan: there may be thousands. A release that is not
// installed yet has none.
func (m *deck) lookOutside() tea.Cmd {
	p := m.plan
	if p == nil || m.outside.plan == p {
		return nil
	}
	m.outside = outside{plan: p}
	if p.Base.Revision == 0 {
		return nil
	}
	return func() tea.Msg {
		found := outsideMsg{plan: p, of: map[string][]diff.SetField{}}
		for i := range p.Objects {
			if fields := outsideOf(&p.Objects[i]); len(fields) > 0 {
				found.of[p.Objects[i].ID] = fields
			}
		}
		return found
	}
}

// outsideOf returns the fields of an object that stays or changes which only
// others set.
func outsideOf(o *preview.Object) []diff.SetField {
	if o.LiveBody == nil || o.Sealed == nil || o.Action != preview.ActionUpdate && o.Action != preview.ActionUnchanged {
		return nil
	}
	var out []diff.SetField
	var ours map[string]bool
	for _, f := range diff.SetFields(o.LiveBody) {
		if f.Manager == preview.FieldManager || strings.HasPrefix(f.Manager, preview.FieldManager+"-") {
			continue
		}
		if ours == nil {
			ours = map[string]bool{}
			for _, c := range diff.Changes(nil, o.Sealed) {
				ours[c.Path] = true
			}
		}
		if !ours[f.Path] {
			out = append(out, f)
		}
	}
	return out
}

// foundOutside shows what a look at the managed fields found.
func (m *deck) foundOutside(msg outsideMsg) {
	if msg.plan != m.plan {
		return
	}
	m.outside = outside(msg)
	m.refreshTab(tabSummary)
	m.refreshTab(tabObjects)
}

// outsideLines lists what others set in an object.
func (m *view) outsideLines(b *frame.Builder, id string) {
	fields := m.outside.of[id]
	if len(fields) == 0 {
		return
	}
	b.Heading("Changed outside this plan")
	for i, f := range fields {
		if i == maxEvidence {
			b.Text(theme.Plain, "   ", fmt.Sprintf("… %d more fields", len(fields)-i))
			break
		}
		b.Text(theme.Plain, "   ", f.Path+"  "+frame.ShortValue(f.Value)+setBy(f.Setter))
	}
	b.Text(theme.Plain, "   ", "the apply leaves these fields as they are")
}

// setBy says who set a field, and on which day.
func setBy(s diff.Setter) string {
	if s.Manager == "" {
		return ""
	}
	day, _, _ := strings.Cut(s.Time, "T")
	return "  (set by " + strings.Join(frame.NonEmpty(s.Manager, day), ", ") + ")"
}
