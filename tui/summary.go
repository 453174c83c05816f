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
	rows = append(rows, m.section(preview.Critical, 0)...)
	if must := m.board.of(preview.Critical); len(must) == 0 {
		rows = append(rows, textRow(plain("  nothing in this plan must be looked at one by one")))
	}
	rows = gap(rows)
	for _, s := range []preview.Severity{preview.Warning, preview.NotKnown} {
		if len(m.board.of(s)) > 0 {
			rows = gap(append(rows, m.section(s, maxShould)...))
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

// section is the heading and the findings of a severity. limit 0 shows all.
func (m *review) section(s preview.Severity, limit int) []row {
	at := m.board.of(s)
	rows := []row{m.sectionHeading(s, at)}
	for i, n := range at {
		if limit > 0 && i == limit && len(at) > limit+1 {
			return append(rows, linkRow(linkFindings, fmt.Sprintf("   … %d more", len(at)-i)))
		}
		rows = append(rows, m.findingRow(n, false))
	}
	return rows
}

func linkRow(id, text string) row {
	return row{id: id, text: text, line: func(int) widget.Line { return plain(text) }}
}

func (m *review) sectionHeading(s preview.Severity, at []int) row {
	if len(at) == 0 && s == preview.Critical {
		return textRow(widget.Line{widget.Text(theme.Heading, "MUST LOOK  (none)")})
	}
	left := 0
	for _, i := range at {
		if !m.board.looked(i) {
			left++
		}
	}
	title := fmt.Sprintf("%s  (%d)", sectionTitle(s), len(at))
	if s == preview.Critical {
		title = fmt.Sprintf("MUST LOOK  (%d of %d left)", left, len(at))
	}
	heading := widget.Line{widget.Text(theme.Heading, title)}
	if s != preview.Critical {
		return textRow(heading)
	}
	return row{text: title, line: func(width int) widget.Line {
		if m.size.mode != modeDouble {
			return heading
		}
		return append(widget.Line{widget.Cell(theme.Heading, title, meaningAt(width)+2)}, widget.Text(theme.Plain, "what it means"))
	}}
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

// meaningAt is the column at which findings say what they mean.
func meaningAt(width int) int { return width * 3 / 5 }

// findingRow is one finding in a list: mark, label, what and who; with room
// also what it means.
func (m *review) findingRow(at int, short bool) row {
	it := m.board.items[at]
	f := it.first()
	what, who := statement(f)
	if len(it.findings) > 1 {
		what, who = fmt.Sprintf("%s (%d times)", what, len(it.findings)), ""
	}
	sign, role := signOf(it.severity(), m.board.looked(at))
	line := func(width int) widget.Line {
		l := widget.Line{widget.Cell(role, sign, 3), widget.Cell(theme.Strong, it.label, len(it.label)+1)}
		rest := width - l.Width()
		switch {
		case short || m.size.mode == modeTiny:
			return append(l, widget.Text(theme.Plain, strings.TrimSpace(what+"  "+who)))
		case m.size.mode == modeSingle:
			return append(l, m.whatAndWho(what, who, rest)...)
		}
		l = append(l, m.whatAndWho(what, who, meaningAt(width)-l.Width()-1)...)
		return append(l, widget.Text(theme.Plain, "  "+f.Why))
	}
	return row{
		id: it.label, object: f.Object, copy: f.ID, explain: f.Why, line: line,
		text: strings.Join([]string{it.label, f.Title, objectName(f.Object), f.Rule, f.Ref, f.Why}, " "),
	}
}

// whatAndWho are two columns of a finding's row.
func (m *review) whatAndWho(what, who string, width int) widget.Line {
	if who == "" {
		return widget.Line{widget.Cell(theme.Plain, what, width)}
	}
	column := width * 3 / 5
	return widget.Line{
		widget.Cell(theme.Plain, what, column-1), widget.Text(theme.Plain, " "),
		widget.Tail(theme.Plain, who, width-column),
	}
}

// statement splits a title of the form "KIND NAME: what it does" into what is
// said and about whom; other titles are about the finding's object. What is
// said comes first in a list, where names would push it off the row.
func statement(f preview.Finding) (what, who string) {
	if before, after, ok := strings.Cut(f.Title, ": "); ok && after != "" {
		return after, shortKind(before)
	}
	return f.Title, shortKind(objectName(f.Object))
}

// shortKind abbreviates the longest kind names as kubectl does.
func shortKind(name string) string {
	kind, rest, _ := strings.Cut(name, " ")
	switch kind {
	case "ServiceAccount":
		kind = "SA"
	case "ValidatingWebhookConfiguration":
		kind = "ValidatingWebhook"
	case "MutatingWebhookConfiguration":
		kind = "MutatingWebhook"
	case "CustomResourceDefinition":
		kind = "CRD"
	}
	return strings.TrimSpace(kind + " " + rest)
}

// signOf is the mark before a finding.
func signOf(s preview.Severity, looked bool) (string, theme.Role) {
	if looked {
		return "ok", theme.Good
	}
	switch s {
	case preview.Critical:
		return "!!", theme.Risk
	case preview.Warning:
		return " !", theme.Caution
	case preview.NotKnown:
		return " ?", theme.Caution
	}
	return " -", theme.Plain
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
