package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// questionsID is the row that leads to what the review could not ask. It is no
// finding and has no label.
const questionsID = "open questions"

// findingRows lists every finding by rank, and last what the review leaves open.
func (m *view) findingRows() []row {
	tiny := m.size.Mode == frame.ModeTiny
	rows := m.packageRow()
	before := len(rows)
	for _, s := range sections() {
		at := m.board.in(s)
		if m.filter.pkg != "" {
			at = slices.DeleteFunc(slices.Clone(at), func(i int) bool { return !m.itemOfPackage(i) })
		}
		questions := s.severity == preview.NotKnown && len(m.questions) > 0
		if len(at) == 0 && !questions {
			continue
		}
		if !tiny && len(rows) > 0 {
			rows = append(rows, textRow(widget.Blank()))
		}
		if !tiny {
			rows = append(rows, m.listHeading(s, at))
		}
		columns := m.columns(at)
		for _, i := range at {
			rows = append(rows, m.findingRow(i, columns, false))
		}
		if questions {
			rows = append(rows, m.questionsRow())
		}
	}
	if len(rows) == before && m.filter.pkg != "" {
		rows = append(rows, textRow(frame.Plain("no findings of this package: P shows the next, F all")))
	} else if len(rows) == before {
		rows = append(rows, textRow(frame.Plain("no findings: no rule matched anything in this plan")))
	}
	return rows
}

// packageRow says which package the list is of. What must be looked at stays
// counted in the footer, whatever is listed.
func (m *view) packageRow() []row {
	chip := m.packageChip()
	if chip == "" || m.size.Mode == frame.ModeTiny && m.filter.pkg == "" {
		return nil
	}
	return []row{textRow(widget.Line{widget.Text(theme.Strong, chip)})}
}

func (m *view) listHeading(s section, at []int) row {
	return row{text: s.title(), line: func(width int) widget.Line {
		count := fmt.Sprintf("%d of %d seen", m.seen(s, at), len(at))
		if len(at) == 0 {
			count = ""
		}
		return widget.Spread(widget.Line{widget.Text(theme.Heading, s.title())}, frame.Plain(count), width)
	}}
}

// seen counts those of a section's items that were looked at.
func (m *view) seen(s section, at []int) int {
	if m.filter.pkg == "" {
		return m.board.seenIn[s]
	}
	n := 0
	for _, i := range at {
		if m.board.looked(i) {
			n++
		}
	}
	return n
}

// questionsRow leads to what this review could not ask.
func (m *view) questionsRow() row {
	text := "left open: " + m.leftOpen()
	return row{id: questionsID, text: text, copy: text, explain: m.questions[0].Why, line: func(int) widget.Line {
		return widget.Line{widget.Cell(theme.Caution, " ?", findingMark), widget.Text(theme.Plain, text)}
	}}
}

// leftOpen names what this review could not ask; empty when it asked all.
func (m *view) leftOpen() string {
	whats := make([]string, 0, len(m.questions))
	for _, q := range m.questions {
		whats = append(whats, q.What)
	}
	return strings.Join(whats, ", ")
}

func (m *findingsTab) questionsDoc(width int) document {
	b := &frame.Builder{Width: width}
	b.Add(widget.Line{widget.Text(theme.Strong, " What could not be known")})
	b.Text(theme.Plain, " ", "Nothing was asked of the cluster that would answer these.")
	for _, q := range m.questions {
		b.Heading(q.What)
		b.Text(theme.Plain, "   ", q.Why)
	}
	return document{lines: b.Lines}
}
