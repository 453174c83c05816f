package tui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Rows of the summary that lead to a tab. Findings lead to themselves.
const (
	linkFindings = "link/findings"
	linkAccess   = "link/access"
	linkObjects  = "link/objects"
)

func linkTo(id string) (tab, bool) {
	switch {
	case id == linkFindings:
		return tabFindings, true
	case strings.HasPrefix(id, linkAccess):
		return tabAccess, true
	case id == linkObjects:
		return tabObjects, true
	}
	return 0, false
}

// maxShould warnings are listed on the summary; the others are counted.
const maxShould = 6

// maxEarlier findings that were accepted before are.
const maxEarlier = 3

// summaryRows is the whole review on one page: counts, findings by rank,
// access asked for, and how much there is besides.
func summaryRows(m *review) []row {
	if m.size.mode == modeTiny {
		return findingRows(m)
	}
	roomy := m.size.mode == modeDouble
	gap := func(rows []row) []row {
		if roomy {
			return append(rows, textRow(widget.Blank()))
		}
		return rows
	}
	rows := gap([]row{countsRow(m)})
	columns := m.columns(m.listed())
	for _, s := range sections() {
		if s.severity != preview.Info {
			if part := m.section(s, columns); len(part) > 0 {
				rows = gap(append(rows, part...))
			}
		}
	}
	rows = gap(append(rows, accessSummary(m)...))
	return append(rows, restRow(m))
}

// textRow is a row nobody can select.
func textRow(l widget.Line) row {
	return row{text: l.Plain(), line: func(int) widget.Line { return l }}
}

// countsRow counts objects by action, what does nothing left out.
func countsRow(m *review) row {
	line := widget.Line{widget.Text(theme.Strong, strconv.Itoa(len(m.plan.Objects))+" objects")}
	if m.size.mode != modeDouble {
		line = nil
	}
	line = append(line, counts(m.plan.Summary, m.size.mode == modeDouble)...)
	if m.size.mode != modeDouble {
		line = append(line, widget.Text(theme.Plain, " plan "+shortDigest(m.plan.Digest, 4)))
	}
	if m.plan.Base.Revision > 0 {
		line = append(line, widget.Text(theme.Plain, fmt.Sprintf("   since revision %d", m.plan.Base.Revision)))
	}
	if n := len(m.outside.of); n > 0 && m.size.mode == modeDouble {
		line = append(line, widget.Text(theme.Caution, fmt.Sprintf("   drift: %s", plural(n, "object"))))
	} else if n > 0 {
		line = append(line, widget.Text(theme.Caution, fmt.Sprintf("  drift %d", n)))
	}
	return textRow(line)
}

// counts is the number of objects per action, with symbol and word.
func counts(s preview.Summary, roomy bool) widget.Line {
	var line widget.Line
	for _, a := range preview.Actions() {
		n := s.Count(a)
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("   %s %d %s", a.Symbol(), n, a)
		if !roomy {
			text = fmt.Sprintf("%s%d %s  ", a.Symbol(), n, a)
		}
		line = append(line, widget.Text(actionRole(a), text))
	}
	if len(line) == 0 {
		return plain("no objects")
	}
	return line
}

func actionRole(a preview.Action) theme.Role {
	switch a {
	case preview.ActionUpdate, preview.ActionPatch, preview.ActionAdopt:
		return theme.Change
	case preview.ActionReplace, preview.ActionDelete, preview.ActionUnknown:
		return theme.Caution
	case preview.ActionBlocked:
		return theme.Fail
	}
	return theme.Plain
}

// limit is how many findings of a section the summary lists, 0 for all.
func (s section) limit() int {
	switch {
	case s.severity == preview.Critical:
		return 0
	case s.earlier:
		return maxEarlier
	}
	return maxShould
}

// listed are the items that the summary shows.
func (m *review) listed() []int {
	var out []int
	for _, s := range sections() {
		if s.severity != preview.Info {
			at := m.board.in(s)
			out = append(out, at[:s.shown(len(at))]...)
		}
	}
	return out
}

// shown is how many of n findings of a section the summary lists. One that is
// left over takes no more room than saying so.
func (s section) shown(n int) int {
	if limit := s.limit(); limit > 0 && n > limit+1 {
		return limit
	}
	return n
}

// section is the heading and the findings of a part of the summary. What must
// be looked at is said to be nothing, too.
func (m *review) section(s section, columns findingColumns) []row {
	at := m.board.in(s)
	questions := s.severity == preview.NotKnown && len(m.questions) > 0
	if len(at) == 0 && !questions && s.severity != preview.Critical {
		return nil
	}
	rows := []row{m.sectionHeading(s, at, columns)}
	if len(at) == 0 && s.severity == preview.Critical {
		return append(rows, textRow(plain("  nothing in this plan must be looked at one by one")))
	}
	n := s.shown(len(at))
	for _, i := range at[:n] {
		rows = append(rows, m.findingRow(i, columns, true))
	}
	if n < len(at) {
		rows = append(rows, linkRow(linkFindings, fmt.Sprintf("   … %d more", len(at)-n)))
	}
	if questions {
		rows = append(rows, m.questionsRow())
	}
	return rows
}

func linkRow(id, text string) row {
	return row{id: id, text: text, line: func(int) widget.Line { return plain(text) }}
}

func (m *review) sectionHeading(s section, at []int, columns findingColumns) row {
	title := fmt.Sprintf("%s  (%d)", s.title(), len(at))
	switch {
	case s.severity == preview.Critical && len(at) == 0:
		title = s.title() + "  (none)"
	case s.severity == preview.Critical:
		title = fmt.Sprintf("%s  (%d of %d left)", s.title(), m.board.left(), len(at))
	case s.earlier:
		title += m.earlierText(at)
	case len(at) == 0:
		title = s.title()
	}
	heading := widget.Line{widget.Text(theme.Heading, title)}
	if s.severity != preview.Critical || len(at) == 0 || m.size.mode != modeDouble {
		return textRow(heading)
	}
	return row{text: title, line: func(width int) widget.Line {
		what, who := columns.fit(width - findingMark)
		return append(widget.Line{widget.Cell(theme.Heading, title, findingMark+what+who+2*columnGap+2)}, widget.Text(theme.Plain, "what it means"))
	}}
}

// earlierText says with which revision, and by whom, findings were accepted,
// when it was one.
func (m *review) earlierText(at []int) string {
	revision := m.board.items[at[0]].first().AcceptedIn
	for _, i := range at {
		if m.board.items[i].first().AcceptedIn != revision {
			return ""
		}
	}
	return "  " + strings.TrimSpace(m.acceptance(revision))
}

func sectionTitle(s preview.Severity) string {
	switch s {
	case preview.Critical:
		return "MUST LOOK"
	case preview.Warning:
		return "SHOULD LOOK"
	case preview.NotKnown:
		return "NOT KNOWN"
	}
	return "FOR INFORMATION"
}

// objectName is KIND NAMESPACE/NAME of an object id, or the id itself.
func objectName(id string) string {
	_, kind, namespace, name, err := preview.ParseID(id)
	if err != nil {
		return id
	}
	if namespace != "" {
		name = namespace + "/" + name
	}
	return kind + " " + name
}

// restRow counts what no rule spoke of.
func restRow(m *review) row {
	s := m.plan.Summary
	info := len(m.board.of(preview.Info))
	text := fmt.Sprintf("Browse: %d objects (%d unchanged), %d grants", len(m.plan.Objects), s.Unchanged, len(m.plan.Access.Grants))
	if info > 0 {
		text += fmt.Sprintf(", %d for information", info)
	}
	return linkRow(linkObjects, text)
}
