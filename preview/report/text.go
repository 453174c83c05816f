package report

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

const (
	defaultWidth = 100
	minWidth     = 40
	maxColumn    = 36 // cells of a column; a longer value moves those after it
	maxName      = 30 // cells of the first column, likewise
	minName      = 10 // cells of the names of facts
)

func writeText(w io.Writer, p *preview.Plan, o Options) error {
	l := layout{width: o.Width, color: o.Color, narrow: o.Width > 0}
	if l.width <= 0 {
		l.width = defaultWidth
	}
	l.width = max(l.width, minWidth)
	safe := textsafe.NewWriter(w)
	if o.Color {
		safe = textsafe.NewColorWriter(w)
	}
	if o.ASCII {
		safe = safe.ASCII()
	}
	if _, err := io.WriteString(safe, strings.Join(l.document(review.Of(p), o.Brief), "\n")+"\n"); err != nil {
		return err
	}
	return safe.Flush()
}

// document returns the lines of a review; brief leaves the head and the findings that count.
func (l layout) document(d *review.Document, brief bool) []string {
	out := []string{l.paint(bold, line(d.Title))}
	for _, fact := range d.Head {
		out = append(out, fmt.Sprintf("  %-10s  %s", fact.Name, line(fact.Value))) // not wrapped: it is copied
	}
	out = append(append(out, ""), l.wrap("", line(d.Verdict))...)
	for _, s := range d.Top {
		out = append(append(out, ""), l.section(s)...)
	}
	out = append(out, "", d.Counts)
	if d.Incomplete != "" {
		out = append(out, l.paint(yellow, "NOT COMPLETE  ")+d.Incomplete+" could not be read; see NOT CHECKED")
	}
	out = append(out, l.findings(d, brief)...)
	for _, s := range d.Sections {
		switch {
		case s.ID == review.Permissions: // ACCESS has them
		case !brief || s.ID == review.Details || s.ID == review.Accept:
			out = append(append(out, ""), l.section(s)...)
		}
	}
	if !brief { // which is what stays on the screen
		out = append(append(append(out, ""), l.wrap("", line(d.Verdict))...), d.Counts)
	}
	return out
}

// section returns the lines of a section: its title, the sentences before the rows, the
// rows, and what follows them.
func (l layout) section(s review.Section) []string {
	head := l.paint(bold, words.Joined(" ", s.Title, line(s.Subject)))
	if s.Note != "" {
		head += "  " + line(s.Note)
	}
	body, _ := l.body(s)
	return append([]string{head}, body...)
}

// body returns the lines of a section without its title, and how many objects begin in each.
func (l layout) body(s review.Section) (out []string, objects []int) {
	add := func(lines ...string) {
		out, objects = append(out, lines...), append(objects, make([]int, len(lines))...)
	}
	for _, text := range s.Lead {
		add(l.wrap("  ", text)...)
	}
	t := l.table(s)
	quiet := 0
	for _, row := range s.Rows {
		if row.Tone == review.Quiet {
			quiet++
			continue
		}
		at := len(out)
		add(t.headings(row)...)
		lines, names := t.row(row)
		add(lines...)
		switch {
		case len(names) > 0:
			copy(objects[len(out)-len(lines):], names)
		case len(out) > at:
			objects[at] = row.Objects
		}
	}
	if quiet > 0 {
		add(fmt.Sprintf("  … %d unchanged, -o json lists them", quiet))
	}
	for _, c := range s.Commands {
		if c.For != "" {
			add("  " + c.For)
		}
		for _, text := range strings.Split(c.Text, "\n") {
			add("  " + line(text)) // not wrapped: it is copied as a whole
		}
	}
	for _, text := range s.Tail {
		add(l.wrap("  ", text)...)
	}
	return out, objects
}

// factColumn is the name of the column with the names of facts.
const factColumn = "name"

// table draws the rows of a section, one after the other.
type table struct {
	layout
	columns []review.Column
	widths  []int
	marked  bool     // rows have a symbol
	headed  int      // columns that are headings
	last    []string // headings above the row drawn last
}

func (l layout) table(s review.Section) *table {
	t := &table{layout: l, columns: s.Columns, widths: make([]int, len(s.Columns))}
	for _, column := range s.Columns {
		if column.Use == review.Heading {
			t.headed++
		}
	}
	t.last = make([]string, t.headed)
	for i, column := range s.Columns {
		if column.Name == factColumn {
			t.widths[i] = minName
		}
	}
	for _, row := range s.Rows {
		t.marked = t.marked || row.Mark != ""
		for i, cell := range row.Cells {
			most := maxColumn
			if i == t.headed {
				most = maxName
			}
			if row.Tone != review.Quiet {
				t.widths[i] = max(t.widths[i], min(textsafe.Width(line(cell)), most))
			}
		}
	}
	return t
}

// headings returns the headings of a row that are not above it yet.
func (t *table) headings(row review.Row) []string {
	if t.headed == 0 || slices.Equal(row.Cells[:t.headed], t.last) {
		return nil
	}
	var out, rest []string
	if row.Cells[0] != t.last[0] {
		out = t.hang("  ", "    ", row.Cells[0])
		out[0] = "  " + t.paint(bold, strings.TrimPrefix(out[0], "  "))
	}
	t.last = row.Cells[:t.headed]
	for i := 1; i < t.headed; i++ {
		rest = append(rest, words.Prefixed(marked(t.columns[i].Mark), row.Cells[i]))
	}
	if text := words.Joined(", ", rest...); text != "" {
		out = append(out, t.hang("    ", "      ", text)...)
	}
	return out
}

// depth returns how many lines of headings stand above a row.
func (t *table) depth() int { return min(t.headed, 2) }

// row returns the lines of a row: its cells and names, and below them its further cells,
// lines and changes. Of names it returns how many begin in each line.
func (t *table) row(row review.Row) (lines []string, names []int) {
	head := strings.Repeat("  ", t.depth()+1)
	if t.marked {
		mark := fmt.Sprintf("%-2s", line(row.Mark))
		if sign := strings.TrimSpace(mark); row.Tone == review.Caution {
			mark = t.paint(yellow, sign) + strings.Repeat(" ", len(mark)-len(sign))
		}
		head += mark
	}
	var beside []int
	for i, column := range t.columns {
		if column.Use == review.Cell && i < len(row.Cells) {
			beside = append(beside, i)
		}
	}
	indent := strings.Repeat(" ", t.indent())
	switch {
	case len(row.Names) > 0:
		return t.names(head+pad(line(row.Cells[beside[0]]), t.widths[beside[0]])+"  ", indent, row.Names)
	case len(beside) > 1:
		lines = t.cells(head+pad(line(row.Cells[beside[0]]), t.widths[beside[0]])+"  ", row, beside[1:])
	case len(beside) == 1:
		lines = t.hang(head, head+"  ", row.Cells[beside[0]])
	}
	if t.headed > 0 || len(beside) < 2 { // what is below has no room beside a heading's rows
		indent = strings.Repeat(" ", 2*(t.depth()+1)+2)
	}
	return append(lines, t.below(indent, row)...), nil
}

// names returns names on as few lines as hold them, and how many are on each.
func (t *table) names(head, indent string, names []string) (lines []string, counts []int) {
	text, n := head, 0
	for _, name := range names {
		name = line(name)
		if n > 0 && textsafe.Width(text)+2+textsafe.Width(name) > t.width {
			lines, counts = append(lines, text), append(counts, n)
			text, n = indent, 0
		}
		if n > 0 {
			text += "  "
		}
		text, n = text+name, n+1
	}
	return append(lines, text), append(counts, n)
}

// indent returns where the second cell of a row begins.
func (t *table) indent() int {
	n := 2*(t.depth()+1) + 2
	if t.headed < len(t.widths) {
		n += t.widths[t.headed]
	}
	if t.marked {
		n += 2
	}
	return n
}

// cells returns a line with cells beside each other, after head. Whole values are not
// wrapped.
func (t *table) cells(head string, row review.Row, beside []int) []string {
	var parts []string
	whole := false
	for n, i := range beside {
		text := line(row.Cells[i])
		if n < len(beside)-1 {
			text = pad(text, t.widths[i])
		}
		parts, whole = append(parts, text), whole || t.columns[i].Whole
	}
	text := strings.TrimRight(strings.Join(parts, "  "), " ")
	switch {
	case text == "":
		return []string{strings.TrimRight(head, " ")}
	case whole:
		return []string{head + text}
	}
	return t.hang(head, strings.Repeat(" ", t.indent()), text)
}

// below returns what stands below the cells of a row.
func (t *table) below(indent string, row review.Row) []string {
	var out []string
	for i, column := range t.columns {
		if column.Use != review.Below || i >= len(row.Cells) || row.Cells[i] == "" {
			continue
		}
		mark := marked(column.Mark)
		if column.Whole {
			out = append(out, indent+mark+line(row.Cells[i]))
			continue
		}
		out = append(out, t.wrap(indent+mark, row.Cells[i])...)
	}
	for _, below := range row.Lines {
		if below.Whole {
			out = append(out, indent+marked(below.Mark)+line(below.Text))
			continue
		}
		out = append(out, t.hang(indent+marked(below.Mark), indent+"  ", below.Text)...)
	}
	for _, c := range row.Changes {
		out = append(out, changeLinesAt(indent, c, t.layout)...)
	}
	if row.Rest != "" {
		out = append(out, t.hang(indent, indent+"  ", "… "+row.Rest)...)
	}
	return out
}

// marked returns a symbol with a space after it; empty without one.
func marked(mark string) string {
	if mark == "" {
		return ""
	}
	return mark + " "
}

// pad returns text filled up with spaces to a width in cells.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-textsafe.Width(text)))
}

// severityForm is how findings of a severity are drawn: their symbol and its colour.
func severityForm(s preview.Severity) (mark, color string) {
	switch s {
	case preview.Critical:
		return "!!", red
	case preview.Warning:
		return " !", yellow
	case preview.NotKnown:
		return " ?", yellow
	}
	return "  ", ""
}

// evidenceLines is the most lines of evidence that are shown of one finding (20), as on
// the screen.
const evidenceLines = 20

// evidenceInJSON says where what a report omits is.
const evidenceInJSON = "-o json has all"

// findings returns the sections of findings, or that there are none.
func (l layout) findings(d *review.Document, brief bool) []string {
	if len(d.Findings) == 0 {
		return []string{"", l.paint(bold, "FINDINGS") + "  none: no rule matched"}
	}
	var out []string
	for _, form := range review.Severities() {
		found := d.Of(form.Severity)
		if len(found) == 0 || brief && form.Severity == preview.Info {
			continue
		}
		out = append(out, "", fmt.Sprintf("%s  (%d)", l.paint(bold, form.Title), len(found)))
		out = append(out, l.findingLines(found)...)
	}
	return append(out, l.wrap("  ", review.ExplainText+review.ExplainCommand("RULE"))...)
}

func (l layout) findingLines(found []review.Finding) []string {
	var out []string
	for _, f := range found {
		out = append(out, l.finding(f)...)
	}
	return out
}

// finding returns the lines of a finding, or of a group with its findings.
func (l layout) finding(f review.Finding) []string {
	mark, color := severityForm(f.Severity)
	head := fmt.Sprintf("  %s %-4s", mark, f.Label)
	indent, title := strings.Repeat(" ", len(head)), line(f.Title)
	within := f.Label == ""
	if within {
		head = "       " + mark + " "
		indent = strings.Repeat(" ", len(head))
	}
	switch {
	case within:
		title += "  (" + line(words.Joined(", ", f.Rule, f.Ref)) + ")"
	case f.Severity == preview.Info && f.Rule != "":
		title += "  (" + line(f.Rule) + ")"
	}
	out := l.wrap(head, title)
	out[0] = l.paint(color, head) + strings.TrimPrefix(out[0], head)
	if f.Why != "" && f.Severity != preview.Info {
		out = append(out, l.wrap(indent, f.Why)...)
	}
	if len(f.Evidence) > 0 {
		first, later := indent+"evidence  ", indent
		if within {
			first, later = indent+"- ", indent+"  "
		} else if f.Severity == preview.Info {
			first = indent
		}
		out = append(out, l.evidence(first, later, f.Evidence)...)
	}
	if f.Severity == preview.Info && f.Rule != "" { // of which no more is of interest
		return append(out, l.labelledAll(indent, f.Judged)...)
	}
	out = append(out, l.labelledAll(indent, append(slices.Clone(f.Account), review.Fact{Name: "from", Value: f.From}))...)
	for _, one := range f.Findings {
		out = append(out, l.finding(one)...)
	}
	if !within {
		for i, way := range f.Reduce {
			name := "reduce"
			if i > 0 {
				name = ""
			}
			out = append(out, l.labelled(indent, review.Fact{Name: name, Value: way})...)
		}
		if f.Rule != "" {
			out = append(out, indent+"rule      "+line(words.Joined("  ", f.Rule, f.Ref, strings.Join(f.Objects, " "))))
		}
	}
	return append(out, l.labelledAll(indent, f.Judged)...)
}

func (l layout) labelledAll(indent string, facts []review.Fact) []string {
	var out []string
	for _, fact := range facts {
		out = append(out, l.labelled(indent, fact)...)
	}
	return out
}

// labelled returns a value after its name; nothing without a value.
func (l layout) labelled(indent string, fact review.Fact) []string {
	if fact.Value == "" {
		return nil
	}
	return l.wrap(indent+fmt.Sprintf("%-10s", fact.Name), line(fact.Value))
}

// evidence returns evidence on at most [evidenceLines] lines, the last of which counts
// the pieces that did not fit. Line breaks in evidence are made visible.
func (l layout) evidence(first, indent string, pieces []preview.Piece) []string {
	of := func(n int) []string { return l.wrap(first, line(preview.EvidenceText(pieces[:n]))) }
	if all := of(len(pieces)); len(all) <= evidenceLines+1 {
		return all
	}
	kept := sort.Search(len(pieces), func(n int) bool { return len(of(n+1)) > evidenceLines })
	if kept == 0 {
		return fold(of(len(pieces)), evidenceLines, indent)
	}
	return append(of(kept), indent+words.EvidenceRest(pieces[kept:], evidenceInJSON))
}
