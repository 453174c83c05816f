package tui

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// findingRows lists every finding by rank.
func findingRows(m *review) []row {
	tiny := m.size.mode == modeTiny
	var rows []row
	for _, s := range []preview.Severity{preview.Critical, preview.Warning, preview.NotKnown, preview.Info} {
		at := m.board.of(s)
		if len(at) == 0 {
			continue
		}
		if !tiny && len(rows) > 0 {
			rows = append(rows, textRow(widget.Blank()))
		}
		if !tiny {
			rows = append(rows, m.listHeading(s, at))
		}
		for _, i := range at {
			rows = append(rows, m.findingRow(i, true))
		}
	}
	if len(rows) == 0 {
		rows = append(rows, textRow(plain("no findings: no rule matched anything in this plan")))
	}
	return rows
}

func (m *review) listHeading(s preview.Severity, at []int) row {
	seen := 0
	for _, i := range at {
		if m.board.looked(i) {
			seen++
		}
	}
	title, count := sectionTitle(s), fmt.Sprintf("%d of %d seen", seen, len(at))
	return row{text: title, line: func(width int) widget.Line {
		return widget.Spread(widget.Line{widget.Text(theme.Heading, title)}, plain(count), width)
	}}
}

// maxEvidence lines of evidence are shown before the rest is counted.
const maxEvidence = 20

// builder writes a document of paragraphs.
type builder struct {
	width int
	lines []widget.Line
}

func (b *builder) add(lines ...widget.Line) { b.lines = append(b.lines, lines...) }

func (b *builder) blank() { b.add(widget.Blank()) }

func (b *builder) heading(text string) {
	if len(b.lines) > 0 {
		b.blank()
	}
	b.add(widget.Line{widget.Text(theme.Heading, " "+text)})
}

// text wraps a paragraph behind an indent.
func (b *builder) text(role theme.Role, indent, text string) {
	b.add(widget.Wrap(role, text, b.width-1, indent)...)
}

// pair writes a name and a value that is wrapped beside it.
func (b *builder) pair(name, value string) {
	if value == "" {
		return
	}
	const column = 14
	wrapped := widget.Wrap(theme.Plain, value, b.width-column-4, "")
	for i, line := range wrapped {
		label := ""
		if i == 0 {
			label = name
		}
		b.add(append(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(theme.Plain, label, column)}, line...))
	}
}

// findingDoc is what a person must look at: the evidence first, then why it
// matters, what changes, where it comes from and how to undo it.
func findingDoc(m *review, id string, width int) document {
	at := m.board.find(id)
	if at < 0 {
		return document{}
	}
	it := m.board.items[at]
	f := it.first()
	b := &builder{width: width}
	sign, role := signOf(f.Severity, false)
	b.add(widget.Line{
		widget.Text(role, " "+strings.TrimSpace(sign)+" "), widget.Text(theme.Strong, it.label),
		widget.Text(role, "  "+string(f.Severity)), widget.Text(theme.Plain, "   rule "+f.Rule+refOf(f)),
	})
	b.text(theme.Strong, " ", f.Title)
	if len(it.findings) == 1 {
		b.add(m.objectLine(f.Object))
	}
	if f.AcceptedIn > 0 {
		b.text(theme.Plain, " ", fmt.Sprintf("accepted earlier, in revision %d; the evidence is the same", f.AcceptedIn))
	}
	if j := f.Judged; j != nil && j.By != preview.JudgedByRule {
		b.text(theme.Plain, " ", fmt.Sprintf("by the policy: was %s; %s", j.Was, j.Reason))
	}
	d := document{}
	b.heading("Evidence")
	d.evidence[0] = len(b.lines)
	m.evidence(b, it)
	d.evidence[1] = len(b.lines)
	b.heading("Why it matters")
	b.text(theme.Plain, "   ", f.Why)
	if len(it.findings) == 1 {
		m.aboutObject(b, f.Object)
	}
	if command := undo(m.plan); command != "" {
		b.heading("Undo")
		b.text(theme.Plain, "   ", command)
	}
	d.lines = b.lines
	return d
}

func refOf(f preview.Finding) string {
	if f.Ref == "" {
		return ""
	}
	return " (" + f.Ref + ")"
}

// evidence writes what each finding of an item rests on, its head only when
// it is long.
func (m *review) evidence(b *builder, it item) {
	start := len(b.lines)
	for _, f := range it.findings {
		if len(it.findings) > 1 {
			b.text(theme.Strong, "   ", objectName(f.Object))
		}
		text := f.Shown()
		if text == "" {
			text = f.Title
		}
		b.text(theme.Plain, "   ", text)
	}
	if more := len(b.lines) - start - maxEvidence; more > 1 {
		b.lines = b.lines[:start+maxEvidence]
		b.text(theme.Caution, "   ", fmt.Sprintf("… and %d more lines; e shows the object, -o json all evidence", more))
	}
}

// objectLine names an object and what happens to it.
func (m *review) objectLine(id string) widget.Line {
	o := m.plan.Object(id)
	line := plain(" " + objectName(id))
	if o != nil {
		line = append(line, widget.Text(actionRole(o.Action), "   "+o.Action.Symbol()+" "+string(o.Action)))
	}
	return line
}

// aboutObject adds what changes in the object and where it comes from.
func (m *review) aboutObject(b *builder, id string) {
	o := m.plan.Object(id)
	if o == nil {
		return
	}
	if o.Action != preview.ActionCreate && len(o.Changes) > 0 {
		b.heading("What changes")
		changeLines(b, o.Changes, 8)
	}
	if place := o.Origin.Place(); place != "" {
		b.heading("Where it comes from")
		b.text(theme.Plain, "   ", place)
	}
	if o.Digest != "" {
		b.text(theme.Plain, "   ", o.Digest)
	}
	b.text(theme.Plain, "   ", "e shows the exact YAML, d the difference to the cluster")
}

// changeLines lists changed leaves. limit 0 lists all.
func changeLines(b *builder, changes []preview.Change, limit int) {
	for i, c := range changes {
		if limit > 0 && i == limit {
			b.text(theme.Plain, "   ", fmt.Sprintf("… %d more: d shows them", len(changes)-i))
			return
		}
		switch c.Op {
		case "add":
			b.text(theme.Plain, "   ", fmt.Sprintf("+ %s  %s", c.Path, short(c.To)))
		case "remove":
			b.text(theme.Caution, "   ", fmt.Sprintf("- %s  %s", c.Path, short(c.From)))
		default:
			b.text(theme.Change, "   ", fmt.Sprintf("~ %s  %s -> %s", c.Path, short(c.From), short(c.To)))
		}
	}
}

// short is a value as canonical JSON, cut to a length that a line can hold.
func short(v any) string {
	data, err := preview.Canonical(v)
	if err != nil {
		return clip(fmt.Sprint(v), 120)
	}
	return clip(string(data), 120)
}

// undo is the command that takes back what a plan does; empty when none does.
func undo(p *preview.Plan) string {
	switch {
	case p.Request.Action == preview.RequestInstall:
		return fmt.Sprintf("kubectl operator uninstall %s -n %s", p.Release.Name, p.Release.Namespace)
	case p.Request.Action == preview.RequestUninstall || p.Base.Revision == 0:
		return ""
	}
	return fmt.Sprintf("kubectl operator rollback %s --to %d -n %s", p.Release.Name, p.Base.Revision, p.Release.Namespace)
}

// findingsOf lists the findings about an object.
func (m *review) findingsOf(b *builder, id string) {
	for n, i := range m.index.items[id] {
		if n == 0 {
			b.heading("Findings")
		}
		m.findingLine(b, i)
	}
}

// findingLine is one item of the board, in a document about something else.
func (m *review) findingLine(b *builder, i int) {
	it := m.board.items[i]
	sign, role := signOf(it.severity(), m.board.looked(i))
	title := it.first().Title
	if n := len(it.findings); n > 1 {
		what, _ := statement(it.first())
		title = fmt.Sprintf("%s (%d times)", what, n)
	}
	b.text(role, "   ", fmt.Sprintf("%s %s %s", strings.TrimSpace(sign), it.label, title))
}
