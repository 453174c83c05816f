package report

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
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
	doc := &document{limit: MarkdownLimit - cutReserve}
	doc.add("## " + code(textsafe.Truncate(line(title(p)), maxCell)) + "\n\n" + verdictBlock(p) + "\n" + summaryTable(p) + accountTable(p))
	if !doc.add(permissionTable(p)) {
		doc.cut = append(doc.cut, "the table of permissions")
	}
	for _, form := range severities {
		if form.severity == preview.Critical || form.severity == preview.NotKnown {
			doc.findings(p, form)
		}
	}
	if len(p.Findings) > 0 {
		doc.add("\n" + prose(explainText) + code(explainCommand("RULE")) + "\n")
	}
	l := layout{width: codeWidth}
	install := installSection(p, l)
	doc.add(installBlock(p, install.title))
	for _, s := range byWeight(sections(p, l)) {
		if s.title != "CRITICAL" && s.title != "NOT CHECKED" && s.title != install.title {
			doc.details(s)
		}
	}
	if len(doc.cut) > 0 {
		doc.text.WriteString("\n**This report is cut.** Not shown: " + strings.Join(doc.cut, "; ") +
			". `-o text`, `-o html` and `-o json` show everything.\n")
	}
	return doc.text.String()
}

// byWeight sorts sections by importance, so that the least important ones are cut off
// first.
func byWeight(list []section) []section {
	weight := map[string]int{openTitle: -3, "WARNINGS": -2, "YOU LACK": -1, "IMAGES": 1, "PACKAGE": 2, "INFO": 3, detailTitle: 4}
	slices.SortStableFunc(list, func(a, b section) int { return weight[a.title] - weight[b.title] })
	return list
}

func installBlock(p *preview.Plan, title string) string {
	block := "\n### " + heading(section{title: title}) + "\n\n"
	if hasCommand(p) {
		words := Command(p)
		if len(words) > maxCommand {
			words = commandline.Operator(command(p), planFlag, orDefault(p.SavedAs, "PLANFILE"), "--yes")
			block += "The command with everything it takes is too long to be shown here; `-o text` has it.\n\n"
		}
		block += fence("sh", strings.Split(words, "\n")) + "\n"
	}
	if p.AppliedBy != nil {
		if own := ownCommand(p); own != "" {
			block += fence("sh", []string{own}) + "\n"
		}
	}
	for _, note := range installNotes(p) {
		block += prose(textsafe.Truncate(note, maxWhy)) + "\n"
	}
	if p.AppliedBy != nil {
		block += "\n" + prose(takeOverText) + " " + code(takeOver(p)) + "\n"
	}
	return block
}

// document is a Markdown text that stays below a size limit.
type document struct {
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

func (d *document) findings(p *preview.Plan, form severityForm) {
	found := groupsOf(groups(p), form.severity)
	if len(found) == 0 {
		return
	}
	whole := d.limit
	d.limit = min(d.limit, findRoom)
	defer func() { d.limit = whole }()
	name := heading(section{title: form.title})
	d.add(fmt.Sprintf("\n### %s (%d)\n", name, len(found)))
	r := newReader(p)
	for i, g := range found {
		if d.group(g, r) {
			continue
		}
		more := fmt.Sprintf("%d more of %s", len(found)-i, strings.ToLower(name))
		d.cut = append(d.cut, more)
		d.limit = whole
		d.add("\n**… " + more + ", see** `-o json`\n")
		return
	}
}

// group appends a group of findings, or returns false if not even its worst finding
// fits. Further findings of the group are appended as far as there is room, else
// counted.
func (d *document) group(g verdict.Group, r *reader) bool {
	head := fmt.Sprintf("\n#### %s %s\n", g.Label(), prose(textsafe.Truncate(line(g.Title()), maxTitle)))
	if len(g.Findings) == 1 {
		return d.add(head + findingBlock(*g.First(), r))
	}
	usual := ""
	if places := r.places(g.Findings); len(places) > 0 {
		usual = places[0]
	}
	for _, row := range accountFacts(g) {
		head += "\n" + prose(row.name+": "+textsafe.Truncate(line(row.value), maxWhy)) + "\n"
	}
	if usual != "" {
		head += "\nfrom: " + clippedCode(usual) + "\n"
	}
	shown := 0
	for _, e := range g.Entries() {
		if d.add(head + entryBlock(e, usual, r)) {
			head = ""
			shown += len(e.Findings)
			continue
		}
		if shown == 0 {
			return false
		}
		d.cut = append(d.cut, fmt.Sprintf("%s of %s", preview.Plural(len(g.Findings)-shown, "finding"), g.Label()))
		break
	}
	if ways := r.reductions(g.Findings); len(ways) > 0 {
		d.add("\n**To reduce them:**\n- " + strings.Join(proseLines(ways), "\n- ") + "\n")
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

// entryBlock returns Markdown for the findings of a group that are alike: title and
// rule, reason, evidence, and the file of the objects if that is not usual, the group's
// own.
func entryBlock(e verdict.Entry, usual string, r *reader) string {
	f := e.First()
	block := fmt.Sprintf("\n**%s: %s** %s\n\n", f.Severity, prose(textsafe.Truncate(line(e.Title), maxTitle)), clippedCode(joinTexts(", ", f.Rule, f.Ref)))
	block += reasonBlock(f.Why, e.Evidence)
	if places := r.places(e.Findings); len(places) > 1 || len(places) == 1 && places[0] != usual {
		block += "from " + clippedCode(strings.Join(places, ", ")) + "\n"
	}
	return block
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
func findingBlock(f preview.Finding, r *reader) string {
	block := "\n" + reasonBlock(f.Why, f.Shown())
	var rows []string
	if where := r.where(f); where != "" {
		rows = append(rows, "from "+clippedCode(where))
	}
	if reduce := r.reduce(f); reduce != "" {
		rows = append(rows, "**To reduce it:** "+prose(reduce))
	}
	rows = append(rows, "rule "+clippedCode(joinTexts("  ", f.Rule, f.Ref, f.Object)))
	return block + strings.Join(rows, "  \n") + "\n"
}

// clippedCode returns a code span of at most 800 cells. No id of an object is longer,
// because Kubernetes limits each of its parts.
func clippedCode(s string) string { return code(textsafe.Truncate(line(s), 2*maxCell)) }

// details appends a section that is collapsed at first, cut to the room that is left.
func (d *document) details(s section) {
	// Within the HTML of the summary Markdown's escapes do not count, and
	// no user is mentioned in code.
	head := html.EscapeString(heading(section{title: s.title}))
	if s.subject != "" {
		head += " <code>" + html.EscapeString(textsafe.Truncate(line(s.subject), maxCell)) + "</code>"
	}
	if note := strings.Trim(s.note, "()"); note != "" {
		head += " (" + html.EscapeString(note) + ")"
	}
	if len(s.lines) == 0 {
		d.add("\n" + prose(heading(s)) + "\n")
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
func (s section) missing(kept int) string {
	objects := 0
	for _, n := range s.items[min(kept, len(s.items)):] {
		objects += n
	}
	if objects > 0 {
		return preview.Plural(objects, "more object")
	}
	return preview.Plural(len(s.lines)-kept, "more line")
}

// heading returns the heading of a section in Markdown: "Access (3 grants)" for
// "ACCESS".
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

// maxTable is the size in bytes from which on the summary table leaves out rows. Rows
// that identify what is approved, such as the digest, are always there.
const maxTable = 10_000

func summaryTable(p *preview.Plan) string {
	var out strings.Builder
	out.WriteString("| | |\n| --- | --- |\n")
	dropped, always := 0, true
	for _, row := range headFacts(p) {
		if row.name != "" {
			always = slices.Contains([]string{"release", "set", "location", "installed", "cluster", "mode", "content", "review", "ruleset"}, row.name)
		}
		if out.Len() > maxTable && !always {
			dropped++
			continue
		}
		out.WriteString("| " + row.name + " | " + cell(row.value) + " |\n")
	}
	if dropped > 0 {
		out.WriteString("| | … " + preview.Plural(dropped, "more row") + ", see `-o json` |\n")
	}
	what := "objects"
	if p.OnMachine() {
		what = "files"
	}
	out.WriteString("| " + what + " | " + cell(countText(p)) + " |\n")
	out.WriteString("| findings | " + orDefault(findingCounts(p), "none") + " |\n")
	if !p.Complete {
		out.WriteString("| **not complete** | " + preview.Plural(len(p.Unknowns), "thing") + " could not be read |\n")
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
