package review

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// The cells of mark and label before a finding, and between columns.
const (
	findingMark = 7
	columnGap   = 2
)

// findingColumns are the cells that the longest of some findings need to say
// what is the case, and about whom.
type findingColumns struct{ what, who int }

// measured is how many findings of a list are measured. The columns of a longer
// one are as wide as its gravest need.
const measured = 64

func (m *view) columns(at []int) findingColumns {
	var c findingColumns
	for _, i := range at[:min(len(at), measured)] {
		what, who := m.phrase(m.board.items[i])
		c.what, c.who = max(c.what, textsafe.Width(textsafe.Line(what))), max(c.who, textsafe.Width(textsafe.Line(who)))
	}
	return c
}

// fit divides the room of a row with three columns: the last, what a finding
// means, has what the others leave, and at least two fifths.
func (c findingColumns) fit(room int) (what, who int) {
	most := room*3/5 - 2*columnGap
	if c.what+c.who <= most {
		return c.what, c.who
	}
	who = min(c.who, max(most-c.what, most*3/10))
	return min(c.what, most-who), who
}

// phrase is an item in a few words: what is the case, and about whom.
func (m *view) phrase(it item) (what, who string) {
	what, who = statement(it.first())
	what = brief(what, m.plan.Release.Namespace)
	if len(it.findings) > 1 {
		return what + " (" + preview.Plural(len(it.findings), "time") + ")", ""
	}
	return what, who
}

// brief shortens the words about scope that end many titles: in a list they
// would push the names off the row.
func brief(what, own string) string {
	what = strings.Replace(what, " in every namespace", " (all ns)", 1)
	before, namespace, ok := strings.Cut(what, " in namespace ")
	switch {
	case !ok || strings.Contains(namespace, " "):
		return what
	case namespace == own:
		return before + " (own ns)"
	}
	return before + " (ns " + namespace + ")"
}

// findingRow is one finding in a list: mark, label, what and who; with means,
// and room for it, also what it means.
func (m *view) findingRow(at int, columns findingColumns, means bool) row {
	it := m.board.items[at]
	f, label := it.first(), it.label()
	line := func(width int) widget.Line {
		what, who := m.phrase(it)
		sign, role := frame.SeveritySign(it.severity(), m.board.looked(at))
		l := widget.Line{widget.Cell(role, sign, 3), widget.Cell(theme.Strong, label, max(findingMark-3, len(label)+1))}
		room := width - l.Width()
		switch {
		case m.size.Mode == frame.ModeTiny:
			return append(l, widget.Text(theme.Plain, strings.TrimSpace(what+"  "+who)))
		case !means || m.size.Mode != frame.ModeDouble:
			return append(l, whatAndWho(what, who, columns.what, room)...)
		}
		w, o := columns.fit(room)
		gap := widget.Text(theme.Plain, "  ")
		if who == "" {
			return append(l, widget.Cell(theme.Plain, what, w+columnGap+o), gap, widget.Text(theme.Plain, meaning(f)))
		}
		return append(l, widget.Cell(theme.Plain, what, w), gap, widget.Tail(theme.Plain, who, o), gap, widget.Text(theme.Plain, meaning(f)))
	}
	return row{
		id: label, object: f.Object, copy: f.ID, explain: f.Why, line: line,
		words: func() string {
			return strings.Join([]string{label, f.Title, frame.ObjectName(f.Object), f.Rule, f.Ref, f.Why}, " ")
		},
	}
}

// meaning is why a finding matters. Of what could not be read it is why not.
func meaning(f *preview.Finding) string {
	if f.Severity == preview.NotKnown && f.Evidence != "" {
		return f.Evidence
	}
	return f.Why
}

// minWho is the fewest cells that a name is shown in.
const minWho = 12

// whatAndWho are the two columns of a row without meaning. What is said comes
// first: where it needs the room, the name goes.
func whatAndWho(what, who string, column, room int) widget.Line {
	column = min(column, max(room*3/5, room-columnGap-textsafe.Width(who)))
	left := room - column - columnGap
	if who == "" || left < minWho || textsafe.Width(what) > column {
		return widget.Line{widget.Cell(theme.Plain, what, room)}
	}
	return widget.Line{widget.Cell(theme.Plain, what, column), widget.Text(theme.Plain, "  "), widget.Tail(theme.Plain, who, left)}
}

// statement splits a title of the form "KIND NAME: what it does" into what is
// said and about whom; other titles are about the finding's object. What is
// said comes first in a list, where names would push it off the row.
func statement(f *preview.Finding) (what, who string) {
	if before, after, ok := strings.Cut(f.Title, ": "); ok && after != "" {
		return after, frame.ShortKind(before)
	}
	return f.Title, frame.ShortKind(frame.ObjectName(f.Object))
}
