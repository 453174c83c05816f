package report

import (
	"fmt"
	"html"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// MarkdownLimit is the size in bytes that a Markdown report stays under:
// review systems cut or refuse comments beyond 64 KiB.
const MarkdownLimit = 60_000

const (
	cutReserve = 400    // for saying what was cut
	findRoom   = 40_000 // for the findings that must be looked at
	maxCell    = 400    // cells of one table cell
	codeWidth  = 110    // of lines in code blocks
)

// markdown builds the report. Text from outside stands in code spans and code
// blocks, or with every character escaped that means something in Markdown or
// HTML.
func markdown(p *preview.Plan) string {
	doc := &document{limit: MarkdownLimit - cutReserve}
	doc.add("## " + code(title(p)) + "\n\n" + summaryTable(p))
	for _, group := range severityGroups {
		if group.severity == preview.Critical || group.severity == preview.NotKnown {
			doc.findings(p, group)
		}
	}
	l := layout{width: codeWidth}
	install := installSection(p, l)
	doc.add(installBlock(p, install.title))
	for _, s := range sections(p, l) {
		if s.title != "MUST LOOK" && s.title != "NOT KNOWN" && s.title != install.title {
			doc.details(s)
		}
	}
	if doc.cut > 0 {
		doc.text.WriteString(fmt.Sprintf("\n**This report is cut**: %s not shown. `-o text` and `-o json` show everything.\n",
			plural(doc.cut, "line")))
	}
	return doc.text.String()
}

func installBlock(p *preview.Plan, title string) string {
	block := "\n### " + heading(section{title: title}) + "\n\n"
	if p.Summary.Blocked == 0 && !nothingToDo(p) {
		block += fence("sh", []string{Command(p)}) + "\n"
	}
	for _, note := range installNotes(p) {
		block += prose(note) + "\n"
	}
	return block
}

// document is a Markdown text that does not grow beyond its limit.
type document struct {
	text  strings.Builder
	limit int
	cut   int // lines left out
}

func (d *document) room() int { return d.limit - d.text.Len() }

// add appends a block as a whole, or counts it as cut.
func (d *document) add(block string) {
	if len(block) > d.room() {
		d.cut += strings.Count(block, "\n")
		return
	}
	d.text.WriteString(block)
}

func (d *document) findings(p *preview.Plan, group severityGroup) {
	found := findingsOf(p, group.severity)
	if len(found) == 0 {
		return
	}
	whole := d.limit
	d.limit = min(d.limit, findRoom)
	d.add(fmt.Sprintf("\n### %s (%d)\n", heading(section{title: group.title}), len(found)))
	for i, f := range found {
		block := fmt.Sprintf("\n#### %s%d %s\n\n", group.label, i+1, prose(f.Title))
		if f.Why != "" {
			block += prose(f.Why) + "\n\n"
		}
		if f.Evidence != "" {
			block += fence("text", fold(strings.Split(textsafe.Block(f.Evidence), "\n"), evidenceLines, "")) + "\n"
		}
		block += code(joined("  ", f.Rule, f.Ref, f.Object)) + "  \naccept " + code(f.ID+"="+f.Fingerprint) + "\n"
		d.add(block)
	}
	d.limit = whole
}

// details adds a section that is folded away, cut to the room that is left.
func (d *document) details(s section) {
	// Within the HTML of the summary Markdown's escapes do not count.
	head := "\n<details><summary>" + html.EscapeString(heading(s)) + "</summary>\n\n"
	const tail = "\n</details>\n"
	lines := s.lines
	for len(lines) > 0 && len(head)+len(fence("text", lines))+len(tail) > d.room() {
		lines = lines[:len(lines)*9/10]
	}
	d.cut += len(s.lines) - len(lines)
	switch {
	case len(lines) > 0:
		d.add(head + fence("text", lines) + tail)
	case len(s.lines) == 0:
		d.add("\n" + prose(heading(s)) + "\n")
	}
}

// heading turns that of a section into one of Markdown: "Access (3 grants)".
func heading(s section) string {
	words := strings.ToLower(s.title)
	words = strings.ToUpper(words[:1]) + words[1:]
	if s.note == "" {
		return words
	}
	if strings.HasPrefix(s.note, "(") {
		return words + " " + s.note
	}
	return words + " (" + s.note + ")"
}

func summaryTable(p *preview.Plan) string {
	var out strings.Builder
	out.WriteString("| | |\n| --- | --- |\n")
	for _, row := range facts(p) {
		out.WriteString("| " + row.name + " | " + cell(row.value) + " |\n")
	}
	out.WriteString("| objects | " + cell(countText(p)) + " |\n")
	var found []string
	for _, group := range severityGroups {
		if n := len(findingsOf(p, group.severity)); n > 0 {
			found = append(found, fmt.Sprintf("%d %s", n, strings.ToLower(group.title)))
		}
	}
	if len(found) == 0 {
		found = []string{"none"}
	}
	out.WriteString("| findings | " + strings.Join(found, ", ") + " |\n")
	if !p.Complete {
		out.WriteString("| **not complete** | " + plural(len(p.Unknowns), "thing") + " could not be read |\n")
	}
	return out.String()
}

// code is a code span around any text.
func code(s string) string {
	s = line(s)
	if s == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// cell is a code span in a table, where a bar ends the cell even in code.
func cell(s string) string {
	return strings.ReplaceAll(code(textsafe.Truncate(line(s), maxCell)), "|", `\|`)
}

// fence is a code block around lines, with a fence that none of them closes.
func fence(language string, lines []string) string {
	longest := 2
	for _, l := range lines {
		longest = max(longest, longestRun(l, '`'))
	}
	ticks := strings.Repeat("`", longest+1)
	return ticks + language + "\n" + strings.Join(lines, "\n") + "\n" + ticks + "\n"
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// prose escapes text so that Markdown shows it as it is: no markup, no HTML,
// no link, and nobody is mentioned.
func prose(s string) string {
	var out strings.Builder
	safe := line(s)
	for i, r := range safe {
		switch {
		case r == '<':
			out.WriteString("&lt;")
		case r == '>':
			out.WriteString("&gt;")
		case r == '&':
			out.WriteString("&amp;")
		case r == '@':
			// A mention is looked for after escapes are resolved, but not in code.
			out.WriteString("`@`")
		case strings.ContainsRune("\\`*_{}[]#|~:$", r), startsBlock(safe[:i], r),
			r == '.' && strings.HasSuffix(strings.ToLower(safe[:i]), "www"):
			out.WriteString(`\` + string(r))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// startsBlock reports whether a character makes a list or a rule of the text
// that starts with what is before it.
func startsBlock(before string, r rune) bool {
	switch strings.TrimSpace(strings.Trim(before, "0123456789")) {
	case "":
		return strings.ContainsRune("-+=.)", r)
	}
	return false
}
