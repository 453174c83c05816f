package review

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Rows of the summary that lead to a tab. Findings lead to themselves.
const (
	linkFindings = "link/findings"
	linkAccess   = "link/access"
	linkObjects  = "link/objects"
	linkFiles    = "link/files"
)

func linkTo(id string) (tab, bool) {
	switch {
	case id == linkFindings:
		return tabFindings, true
	case strings.HasPrefix(id, linkAccess):
		return tabAccess, true
	case id == linkObjects:
		return tabObjects, true
	case id == linkFiles:
		return tabFiles, true
	}
	return 0, false
}

// How many findings the summary lists, the others counted: at least minShould
// of those that should be looked at, however small the window.
const (
	minShould   = 3
	maxEarlier  = 3
	maxNotKnown = 6
)

// summaryTab is the whole review on one page.
type summaryTab struct{ *view }

func (m *summaryTab) count() int { return -1 }

func (m *summaryTab) doc(string, int) document { return document{} }

// rows is the whole review on one page: counts, findings by rank,
// access asked for, and how much there is besides. Of findings that should be
// looked at it lists as many as the window has room for.
func (m *summaryTab) rows() []row {
	if m.size.Mode == frame.ModeTiny {
		return m.findingRows()
	}
	// More than a window has lines need not be tried.
	should := min(len(m.board.in(section{severity: preview.Warning})), max(minShould, m.paneHeight()))
	rows := m.summaryWith(should)
	over := len(rows) - m.paneHeight()
	listed := len(m.listed(section{severity: preview.Warning}, should))
	if over <= 0 || listed <= minShould {
		return rows
	}
	if listed == len(m.board.in(section{severity: preview.Warning})) {
		over++ // one more line says that there are others
	}
	return m.summaryWith(max(minShould, listed-over))
}

// summaryWith lists at most so many findings that should be looked at.
func (m *summaryTab) summaryWith(should int) []row {
	roomy := m.size.Mode == frame.ModeDouble
	gap := func(rows []row) []row {
		if roomy {
			return append(rows, textRow(widget.Blank()))
		}
		return rows
	}
	rows := gap(append([]row{m.counts()}, m.lossRows()...))
	var listed []int
	for _, s := range sections() {
		listed = append(listed, m.listed(s, should)...)
	}
	columns := m.columns(listed)
	for _, s := range sections() {
		if part := m.section(s, m.listed(s, should), columns); len(part) > 0 {
			rows = gap(append(rows, part...))
		}
	}
	if m.plan.OnMachine() {
		return append(rows, m.filesRow())
	}
	rows = gap(append(rows, m.access()...))
	if len(m.plan.Files) > 0 {
		rows = append(rows, m.filesRow())
	}
	return append(rows, m.rest())
}

// textRow is a row nobody can select.
func textRow(l widget.Line) row {
	return row{text: l.Plain(), line: func(int) widget.Line { return l }}
}

// counts counts objects by action, what does nothing left out.
func (m *summaryTab) counts() row {
	if m.plan.OnMachine() {
		return m.fileCounts()
	}
	line := widget.Line{widget.Text(theme.Strong, strconv.Itoa(len(m.plan.Objects))+" objects")}
	if m.size.Mode != frame.ModeDouble {
		line = nil
	}
	line = append(line, counts(m.plan.Summary, m.size.Mode == frame.ModeDouble)...)
	if m.size.Mode != frame.ModeDouble {
		line = append(line, widget.Text(theme.Plain, " plan "+frame.ShortDigest(m.plan.Digest, 4)))
	}
	if m.plan.Base.Revision > 0 {
		line = append(line, widget.Text(theme.Plain, fmt.Sprintf("   since revision %d", m.plan.Base.Revision)))
	}
	if n := len(m.outside.of); n > 0 && m.size.Mode == frame.ModeDouble {
		line = append(line, widget.Text(theme.Caution, fmt.Sprintf("   drift: %s", preview.Plural(n, "object"))))
	} else if n > 0 {
		line = append(line, widget.Text(theme.Caution, fmt.Sprintf("  drift %d", n)))
	}
	return textRow(line)
}

// fileCounts counts the files of a plugin set by action.
func (m *summaryTab) fileCounts() row {
	roomy := m.size.Mode == frame.ModeDouble
	line := fileCounts(m.plan.Files, roomy)
	if roomy {
		line = append(widget.Line{widget.Text(theme.Strong, preview.Plural(len(m.plan.Files), "file"))}, line...)
	} else {
		line = append(line, widget.Text(theme.Plain, " plan "+frame.ShortDigest(m.plan.Digest, 4)))
	}
	if g := m.plan.Generation; g != nil && roomy {
		line = append(line, widget.Text(theme.Plain, "   generation "+generationText(g)))
	}
	return textRow(line)
}

// filesRow leads to the files.
func (m *summaryTab) filesRow() row {
	text := "Browse: " + preview.Plural(len(m.plan.Files), "file")
	if n := len(m.plan.ConfigChanges); n > 0 {
		text += ", " + preview.Plural(n, "setting") + " of the config"
	}
	if n := len(m.plan.Platforms); n > 1 {
		text += ", for " + preview.Plural(n, "platform")
	}
	return linkRow(linkFiles, text)
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
		line = append(line, widget.Text(frame.ActionRole(a), text))
	}
	if len(line) == 0 {
		return frame.Plain("no objects")
	}
	return line
}

// listed are the items of a section that the summary shows. One that is left
// over takes no more room than saying so. What must be looked at fills the
// window at most: its heading counts all of it, and n goes through it.
func (m *summaryTab) listed(s section, should int) []int {
	at := m.board.in(s)
	limit := len(at)
	switch {
	case s.severity == preview.Info:
		return nil
	case s.severity == preview.Critical:
		limit = max(minShould, m.paneHeight())
	case s.earlier:
		limit = maxEarlier
	case s.severity == preview.Warning:
		limit = should
	case s.severity == preview.NotKnown:
		limit = maxNotKnown
	}
	if len(at) <= limit+1 {
		return at
	}
	return at[:limit]
}

// section is the heading and the findings of a part of the summary. What must
// be looked at is said to be nothing, too.
func (m *summaryTab) section(s section, listed []int, columns findingColumns) []row {
	at := m.board.in(s)
	questions := s.severity == preview.NotKnown && len(m.questions) > 0
	if s.severity == preview.Info || len(at) == 0 && !questions && s.severity != preview.Critical {
		return nil
	}
	rows := []row{m.sectionHeading(s, at, columns)}
	if len(at) == 0 && s.severity == preview.Critical {
		return append(rows, textRow(frame.Plain("  nothing in this plan must be looked at one by one")))
	}
	for _, i := range listed {
		rows = append(rows, m.findingRow(i, columns, true))
	}
	if more := len(at) - len(listed); more > 0 {
		rows = append(rows, linkRow(linkFindings, fmt.Sprintf("   … %d more", more)))
	}
	if questions {
		rows = append(rows, m.questionsRow())
	}
	return rows
}

func linkRow(id, text string) row {
	return row{id: id, text: text, line: func(int) widget.Line { return frame.Plain(text) }}
}

func (m *summaryTab) sectionHeading(s section, at []int, columns findingColumns) row {
	title := fmt.Sprintf("%s  (%d)", s.title(), len(at))
	switch {
	case s.severity == preview.Critical && len(at) > 0:
		return m.mustLookHeading(s, at, columns)
	case s.severity == preview.Critical:
		title = s.title() + "  (none)"
	case s.earlier:
		title += m.earlierText(at)
	case len(at) == 0:
		title = s.title()
	}
	return textRow(widget.Line{widget.Text(theme.Heading, title)})
}

// mustLookHeading says how much is left whenever it is drawn: marks come and
// go without new rows.
func (m *summaryTab) mustLookHeading(s section, at []int, columns findingColumns) row {
	return row{text: s.title(), line: func(width int) widget.Line {
		title := fmt.Sprintf("%s  (%d of %d left)", s.title(), m.board.left(), len(at))
		if m.size.Mode != frame.ModeDouble {
			return widget.Line{widget.Text(theme.Heading, title)}
		}
		what, who := columns.fit(width - findingMark)
		return append(widget.Line{widget.Cell(theme.Heading, title, findingMark+what+who+2*columnGap+2)}, widget.Text(theme.Plain, "what it means"))
	}}
}

// earlierText says with which revision, and by whom, findings were accepted,
// when it was one.
func (m *summaryTab) earlierText(at []int) string {
	revision := m.board.items[at[0]].first().AcceptedIn
	for _, i := range at {
		if m.board.items[i].first().AcceptedIn != revision {
			return ""
		}
	}
	return "  " + strings.TrimSpace(m.acceptance(revision))
}

// rest counts what no rule spoke of.
func (m *summaryTab) rest() row {
	s := m.plan.Summary
	info := len(m.board.of(preview.Info))
	text := fmt.Sprintf("Browse: %d objects (%d unchanged), %s", len(m.plan.Objects), s.Unchanged, preview.Plural(len(m.plan.Access.Grants), "grant"))
	if info > 0 {
		text += fmt.Sprintf(", %d for information", info)
	}
	return linkRow(linkObjects, text)
}
