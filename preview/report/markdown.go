package report

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// MarkdownLimit is the largest size in bytes of a Markdown report: review systems cut
// or refuse comments of more than 64 KiB.
const MarkdownLimit = 60_000

const (
	cutReserve = 1000   // for saying what was cut
	findRoom   = 40_000 // for the findings that must be looked at
	maxCell    = 400    // cells of one table cell
	codeWidth  = 110    // of lines in code blocks

	// What one finding may take, so that a long one does not push out others.
	maxTitle    = 300
	maxWhy      = 600
	maxEvidence = 12 // lines
	maxPiece    = 300
	// maxCommand is the most bytes of a command that is shown; in place of a longer one
	// there is the command that names the plan's file.
	maxCommand = 8000
)

func writeMarkdown(w io.Writer, p *preview.Plan, _ Options) error {
	_, err := textsafe.NewWriter(w).Write([]byte(markdown(p)))
	return err
}

// markdown returns the report. Untrusted text is in code spans or blocks, or escaped.
// The most important parts come first, because the end may be cut off.
func markdown(p *preview.Plan) string {
	d := review.Of(p)
	doc := &document{limit: MarkdownLimit - cutReserve, layout: layout{width: codeWidth}}
	head := "## " + code(textsafe.Truncate(line(d.Title), maxCell)) + "\n\n**" + prose(line(d.Verdict)) + "**\n"
	for _, s := range d.Top {
		head += doc.block(s)
		if s.ID == review.Changes {
			head += diffBlock(p)
		}
	}
	doc.add(head + "\n" + summaryTable(d))
	for _, id := range []review.ID{review.Accounts, review.Permissions} {
		if s := d.Section(id); s != nil && !doc.add(markdownTable(*s)) {
			doc.cut = append(doc.cut, "the table of "+strings.ToLower(s.Title))
		}
	}
	doc.findings(d, preview.Critical)
	doc.findings(d, preview.NotKnown)
	if len(d.Findings) > 0 {
		doc.add("\n" + prose(review.ExplainText) + code(review.ExplainCommand("RULE")) + "\n")
	}
	doc.add(applyBlock(p, *d.Section(review.Apply)))
	for _, s := range doc.folded(d) {
		doc.details(s)
	}
	if len(doc.cut) > 0 {
		doc.text.WriteString("\n**This report is cut.** Not shown: " + strings.Join(doc.cut, "; ") +
			". `-o text`, `-o html` and `-o json` show everything.\n")
	}
	return doc.text.String()
}

// block returns a section that stands with the verdict.
func (d *document) block(s review.Section) string {
	out := "\n### " + heading(s) + "\n\n"
	if s.ID == review.Obstacles {
		for _, text := range s.Texts() {
			out += "- " + prose(line(text)) + "\n"
		}
		for _, c := range s.Commands {
			out += "\n" + prose(c.For) + " " + code(c.Text) + "\n"
		}
		return out
	}
	lines, _ := d.body(s)
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return out + fence("text", lines)
}

// folded returns the sections that are collapsed at first, the least important last, which
// are cut first.
func (d *document) folded(of *review.Document) []foldedSection {
	weight := map[review.ID]int{review.Open: -3, review.Missing: -1, review.Images: 1, review.Package: 2, review.Details: 4, review.Steps: 4}
	var out []foldedSection
	for _, form := range review.Severities() {
		if found := of.Of(form.Severity); len(found) > 0 && (form.Severity == preview.Warning || form.Severity == preview.Info) {
			at := map[preview.Severity]int{preview.Warning: -2, preview.Info: 3}[form.Severity]
			out = append(out, foldedSection{weight: at, title: form.Title, note: strconv.Itoa(len(found)), lines: d.findingLines(found)})
		}
	}
	for _, s := range of.Sections {
		switch s.ID {
		case review.Accounts, review.Permissions, review.Apply:
			continue
		}
		f := foldedSection{weight: weight[s.ID], title: s.Title, subject: s.Subject, note: s.Note}
		f.lines, f.after = d.body(s)
		for i := len(f.after) - 2; i >= 0; i-- {
			f.after[i] += f.after[i+1]
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b foldedSection) int { return a.weight - b.weight })
	return out
}

// foldedSection is a section in a code block that is collapsed at first.
type foldedSection struct {
	weight               int
	title, subject, note string
	lines                []string
	after                []int // for each line, the objects that begin in it or after it
}

// applyBlock returns the command that applies the plan, and the remarks about it.
func applyBlock(p *preview.Plan, s review.Section) string {
	block := "\n### " + heading(s) + "\n\n"
	for _, c := range s.Commands {
		command := c.Text
		if len(command) > maxCommand {
			command = review.CommandOfFile(p)
			block += "The command with everything it takes is too long to be shown here; `-o text` has it.\n\n"
		}
		if c.For != "" {
			block += "\n" + prose(c.For) + "\n\n"
		}
		block += fence("sh", strings.Split(command, "\n")) + "\n"
	}
	for _, note := range s.Tail {
		block += prose(textsafe.Truncate(note, maxWhy)) + "\n"
	}
	return block
}

// document is a Markdown text that stays below a size limit.
type document struct {
	layout
	text  strings.Builder
	limit int
	cut   []string // what was left out, such as "12 lines of Access"
}

func (d *document) room() int { return d.limit - d.text.Len() }

// add appends a whole block, or appends nothing and returns false if it does not fit.
func (d *document) add(block string) bool {
	if len(block) > d.room() {
		return false
	}
	d.text.WriteString(block)
	return true
}

// findings appends the findings of a severity.
func (d *document) findings(of *review.Document, severity preview.Severity) {
	found := of.Of(severity)
	if len(found) == 0 {
		return
	}
	whole := d.limit
	d.limit = min(d.limit, findRoom)
	defer func() { d.limit = whole }()
	name := ""
	for _, form := range review.Severities() {
		if form.Severity == severity {
			name = sentenceCase(form.Title)
		}
	}
	d.add(fmt.Sprintf("\n### %s (%d)\n", name, len(found)))
	if len(found) > 1 { // so that a long one below hides no other
		d.add(findingTable(found))
	}
	for i, f := range found {
		if d.group(f) {
			continue
		}
		more := fmt.Sprintf("%d more of %s", len(found)-i, strings.ToLower(name))
		d.cut = append(d.cut, more)
		d.limit = whole
		d.add("\n**… " + more + ", see** `-o json`\n")
		return
	}
}

// findingTable returns a table of findings, a row for each.
func findingTable(found []review.Finding) string {
	s := review.Section{Columns: []review.Column{{Name: "finding"}, {Name: "rule"}}}
	for _, f := range found {
		rules := []string{f.Rule}
		for i, one := range f.Findings {
			if i == 0 {
				rules = nil
			}
			if !slices.Contains(rules, one.Rule) {
				rules = append(rules, one.Rule)
			}
		}
		s.Rows = append(s.Rows, review.Row{Mark: f.Label, Cells: []string{f.Title, strings.Join(rules, ", ")}})
	}
	return "\n" + tableOf(s)
}

// group appends a finding or a group, or returns false if not even the worst of its findings
// fits. Further findings of a group are appended as far as there is room, else counted.
func (d *document) group(f review.Finding) bool {
	head := fmt.Sprintf("\n#### %s %s\n", f.Label, prose(textsafe.Truncate(line(f.Title), maxTitle)))
	if len(f.Findings) == 0 {
		return d.add(head + findingBlock(f))
	}
	for _, fact := range f.Account {
		head += "\n" + prose(fact.Name+": "+textsafe.Truncate(line(fact.Value), maxWhy)) + "\n"
	}
	if f.From != "" {
		head += "\nfrom: " + clippedCode(f.From) + "\n"
	}
	for i, one := range f.Findings {
		block := fmt.Sprintf("\n**%s: %s** %s\n\n", one.Severity, prose(textsafe.Truncate(line(one.Title), maxTitle)), clippedCode(words.Joined(", ", one.Rule, one.Ref)))
		block += reasonBlock(one.Why, one.Evidence)
		if one.From != "" {
			block += "from " + clippedCode(one.From) + "\n"
		}
		if d.add(head + block) {
			head = ""
			continue
		}
		if i == 0 {
			return false
		}
		left := 0
		for _, rest := range f.Findings[i:] {
			left += len(rest.Objects)
		}
		d.cut = append(d.cut, fmt.Sprintf("%s of %s", preview.Plural(left, "finding"), f.Label))
		break
	}
	if len(f.Reduce) > 0 {
		d.add("\n**To reduce them:**\n- " + strings.Join(proseLines(f.Reduce), "\n- ") + "\n")
	}
	return true
}

func proseLines(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = prose(text)
	}
	return out
}

// reasonBlock returns Markdown for why a finding matters, and for the first pieces of
// its evidence.
func reasonBlock(why string, pieces []preview.Piece) string {
	block := ""
	if why != "" {
		block += prose(textsafe.Truncate(line(why), maxWhy)) + "\n\n"
	}
	if len(pieces) == 0 {
		return block
	}
	shown := make([]string, 0, maxEvidence+1)
	for _, piece := range pieces[:min(len(pieces), maxEvidence)] {
		shown = append(shown, textsafe.Truncate(line(piece.Text), maxPiece))
	}
	if len(pieces) > len(shown) {
		shown = append(shown, words.EvidenceRest(pieces[len(shown):], evidenceInJSON))
	}
	return block + fence("text", shown) + "\n"
}

// findingBlock returns Markdown for a finding that is in no group with others, without
// its title.
func findingBlock(f review.Finding) string {
	block := "\n" + reasonBlock(f.Why, f.Evidence)
	var rows []string
	if f.From != "" {
		rows = append(rows, "from "+clippedCode(f.From))
	}
	for _, way := range f.Reduce {
		rows = append(rows, "**To reduce it:** "+prose(way))
	}
	rows = append(rows, "rule "+clippedCode(words.Joined("  ", f.Rule, f.Ref, strings.Join(f.Objects, " "))))
	return block + strings.Join(rows, "  \n") + "\n"
}

// clippedCode returns a code span of at most 800 cells. No id of an object is longer,
// because Kubernetes limits each of its parts.
func clippedCode(s string) string { return code(textsafe.Truncate(line(s), 2*maxCell)) }

// details appends a section that is collapsed at first, cut to the room that is left.
func (d *document) details(s foldedSection) {
	// Within the HTML of the summary Markdown's escapes do not count, and
	// no user is mentioned in code.
	head := html.EscapeString(sentenceCase(s.title))
	if s.subject != "" {
		head += " <code>" + html.EscapeString(textsafe.Truncate(line(s.subject), maxCell)) + "</code>"
	}
	if s.note != "" {
		head += " (" + html.EscapeString(line(s.note)) + ")"
	}
	if len(s.lines) == 0 {
		d.add("\n" + prose(heading(review.Section{Title: s.title, Note: s.note})) + "\n")
		return
	}
	head = "\n<details><summary>" + head + "</summary>\n\n"
	const tail = "\n</details>\n"
	kept, rest := len(s.lines), ""
	for kept > 0 && len(head)+len(fence("text", s.lines[:kept]))+len(rest)+len(tail) > d.room() {
		kept = kept * 9 / 10
		rest = "\n… " + s.missing(kept) + ", see `-o json`\n"
	}
	if kept < len(s.lines) {
		d.cut = append(d.cut, html.EscapeString(s.missing(kept))+" of "+strings.ToLower(s.title))
	}
	if kept > 0 {
		d.add(head + fence("text", s.lines[:kept]) + rest + tail)
	}
}

// missing returns how many objects or lines of a section are left out if only the first
// kept lines are shown.
func (s foldedSection) missing(kept int) string {
	if kept < len(s.after) && s.after[kept] > 0 {
		return preview.Plural(s.after[kept], "more object")
	}
	return preview.Plural(len(s.lines)-kept, "more line")
}

// heading returns the heading of a section in Markdown: "Access (3 grants)" for
// "ACCESS".
func heading(s review.Section) string {
	return words.Joined(" ", sentenceCase(s.Title), words.Enclosed(s.Note))
}

// sentenceCase returns "Could not be known" for "COULD NOT BE KNOWN".
func sentenceCase(title string) string {
	title = strings.ToLower(title)
	return strings.ToUpper(title[:1]) + title[1:]
}

// maxTable is the size in bytes from which on the summary table leaves out rows.
const maxTable = 10_000

func summaryTable(d *review.Document) string {
	var out strings.Builder
	out.WriteString("| | |\n| --- | --- |\n")
	for i, fact := range d.Head {
		if out.Len() > maxTable {
			out.WriteString("| | … " + preview.Plural(len(d.Head)-i, "more row") + ", see `-o json` |\n")
			break
		}
		out.WriteString("| " + fact.Name + " | " + cell(fact.Value) + " |\n")
	}
	out.WriteString("| contents | " + cell(d.Counts) + " |\n")
	out.WriteString("| findings | " + cmp.Or(d.FindingCounts(), "none") + " |\n")
	if d.Incomplete != "" {
		out.WriteString("| **not complete** | " + d.Incomplete + " could not be read |\n")
	}
	return out.String()
}

// maxRows is the most rows of a table (20); the others are counted.
const maxRows = 20

// markdownTable returns a section as a table below its heading.
func markdownTable(s review.Section) string { return "\n### " + heading(s) + "\n\n" + tableOf(s) }

// tableOf returns the rows of a section as a table.
func tableOf(s review.Section) string {
	var out strings.Builder
	out.WriteString("| |")
	for _, column := range s.Columns {
		out.WriteString(" " + column.Name + " |")
	}
	out.WriteString("\n|" + strings.Repeat(" --- |", len(s.Columns)+1) + "\n")
	for i, row := range s.Rows {
		if i == maxRows {
			out.WriteString("| | … " + strconv.Itoa(len(s.Rows)-i) + " more, see `-o json` |" + strings.Repeat(" |", len(s.Columns)-1) + "\n")
			break
		}
		out.WriteString("| " + code(row.Mark) + " |")
		for _, text := range row.Cells {
			out.WriteString(" " + cell(text) + " |")
		}
		out.WriteString("\n")
	}
	return out.String()
}

// code returns text as a code span.
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

// cell returns text as a code span for a cell of a table, with "|" escaped: in tables
// it ends the cell even within code.
func cell(s string) string {
	return strings.ReplaceAll(code(textsafe.Truncate(line(s), maxCell)), "|", `\|`)
}

// fence returns lines as a code block whose fence is longer than any run of backticks
// in them.
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

// prose escapes text so that Markdown shows it unchanged: as neither markup nor HTML
// nor link, and without mentioning a user or an issue.
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
		case r == '@' || r == '#' || r == '-' && strings.HasSuffix(strings.ToLower(safe[:i]), "gh"):
			// Mentions of people and issues are looked for after escapes are
			// resolved, but not in code.
			out.WriteString("`" + string(r) + "`")
		case strings.ContainsRune("\\`*_{}[]|~:$", r), startsBlock(safe[:i], r),
			r == '.' && strings.HasSuffix(strings.ToLower(safe[:i]), "www"):
			out.WriteString(`\` + string(r))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// startsBlock reports whether r, after the text before it on the line, would make
// Markdown start a list or draw a rule.
func startsBlock(before string, r rune) bool {
	switch strings.TrimSpace(strings.Trim(before, "0123456789")) {
	case "":
		return strings.ContainsRune("-+=.)", r)
	}
	return false
}
