package report

import (
	"fmt"
	"sort"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// evidenceLines is the most lines of evidence that are shown of one finding (20), as on
// the screen.
const evidenceLines = 20

// acceptLines is the most findings that are listed with the option that accepts each
// (40); the others are counted.
const acceptLines = 40

// severityForm is how findings of a severity are shown: title of their section, symbol
// and colour.
type severityForm struct {
	severity preview.Severity
	title    string
	mark     string
	color    string
}

var severities = [...]severityForm{
	{preview.Critical, "CRITICAL", "!!", red},
	{preview.Warning, "WARNINGS", " !", yellow},
	{preview.NotKnown, "NOT CHECKED", " ?", yellow},
	{preview.Info, "INFO", "  ", ""},
}

func formOf(s preview.Severity) severityForm {
	for _, form := range severities {
		if form.severity == s {
			return form
		}
	}
	return severities[len(severities)-1]
}

func findingsOf(p *preview.Plan, s preview.Severity) []preview.Finding {
	var out []preview.Finding
	for _, f := range p.Findings {
		if f.Severity == s {
			out = append(out, f)
		}
	}
	return out
}

// groupsOf returns the groups of findings that have a severity.
func groupsOf(groups []verdict.Group, s preview.Severity) []verdict.Group {
	var out []verdict.Group
	for _, g := range groups {
		if g.Severity() == s {
			out = append(out, g)
		}
	}
	return out
}

func groups(p *preview.Plan) []verdict.Group {
	return verdict.Groups(p.Findings, p.Access.Accounts)
}

func findingSections(p *preview.Plan, l layout) []section {
	var out []section
	r, all := newReader(p), groups(p)
	for _, severity := range severities {
		if s := findingSection(groupsOf(all, severity.severity), severity, r, l); s.title != "" {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return []section{{title: "FINDINGS", note: "none: no rule matched"}}
	}
	last := &out[len(out)-1]
	last.lines = append(last.lines, l.wrap("  ", explainText+explainCommand("RULE"))...)
	return out
}

func findingSection(found []verdict.Group, severity severityForm, r *reader, l layout) section {
	if len(found) == 0 {
		return section{}
	}
	s := section{title: severity.title, note: fmt.Sprintf("(%d)", len(found))}
	for _, g := range found {
		if len(g.Findings) == 1 {
			s.lines = append(s.lines, findingLines(*g.First(), g.Label(), r, l)...)
			continue
		}
		s.lines = append(s.lines, groupLines(g, severity, r, l)...)
	}
	return s
}

// groupLines returns the lines of a group of findings. The file that most of its
// objects come from is named once, above the findings, and each way to reduce them
// once, below.
func groupLines(g verdict.Group, severity severityForm, r *reader, l layout) []string {
	usual := ""
	if places := r.places(g.Findings); len(places) > 0 {
		usual = places[0]
	}
	out := groupHead(g, severity, usual, l)
	for _, e := range g.Entries() {
		out = append(out, entryLines(e, usual, r, l)...)
	}
	indent := strings.Repeat(" ", len("  !! C1  "))
	for i, way := range r.reductions(g.Findings) {
		name := ""
		if i == 0 {
			name = "reduce"
		}
		out = append(out, l.wrap(indent+fmt.Sprintf("%-10s", name), way)...)
	}
	return out
}

// entryLines returns the lines of the findings of a group that are alike: title and
// rule, reason, evidence, and the file of the objects if that is not usual, the group's
// own.
func entryLines(e verdict.Entry, usual string, r *reader, l layout) []string {
	f := *e.First()
	form := formOf(f.Severity)
	head := "       " + form.mark + " "
	indent := strings.Repeat(" ", len(head))
	out := l.wrap(head, line(e.Title)+"  ("+line(joinTexts(", ", f.Rule, f.Ref))+")")
	out[0] = l.paint(form.color, head) + strings.TrimPrefix(out[0], head)
	if f.Why != "" && f.Severity != preview.Info {
		out = append(out, l.wrap(indent, f.Why)...)
	}
	if len(e.Evidence) > 0 {
		out = append(out, l.evidence(indent+"- ", indent+"  ", e.Evidence)...)
	}
	if places := r.places(e.Findings); len(places) > 1 || len(places) == 1 && places[0] != usual {
		out = append(out, l.wrap(indent+"  from ", line(strings.Join(places, ", ")))...)
	}
	return append(out, judgedLines(f, indent, l)...)
}

// judgedLines returns lines that say whether an earlier approval accepted a finding and
// how a policy changed it.
func judgedLines(f preview.Finding, indent string, l layout) []string {
	var out []string
	if f.AcceptedIn > 0 {
		out = append(out, fmt.Sprintf("%saccepted  earlier, in revision %d", indent, f.AcceptedIn))
	}
	for _, row := range judgedFacts(f) {
		out = append(out, l.wrap(indent+fmt.Sprintf("%-10s", row.name), line(row.value))...)
	}
	return out
}

// acceptSection lists the value of --accept for each critical finding and each of what
// could not be read, because a policy may demand that a person accepts them one by one.
// What cannot be applied whatever is accepted is not offered: it is an obstacle.
func acceptSection(p *preview.Plan) section {
	s := section{title: "ACCEPT", note: "what --accept takes for each of these findings"}
	obstructed := map[string]bool{}
	for _, o := range verdict.For(p).Obstacles {
		obstructed[o.Object] = true
	}
	for _, g := range groups(p) {
		for _, f := range g.Findings {
			open := f.Severity == preview.NotKnown && !obstructed[f.Object]
			if (f.Severity == preview.Critical || open) && f.Rule != rules.NotAppliable.Name {
				s.lines = append(s.lines, fmt.Sprintf("  %-4s", g.Label())+line(f.ID+"="+f.Fingerprint))
			}
		}
	}
	if len(s.lines) == 0 {
		return section{}
	}
	s.lines = fold(s.lines, acceptLines, "  ")
	return s
}

// groupHead returns the first lines of a group of findings: which account, object or
// rule it is about, and the file that most of its objects come from (place).
func groupHead(g verdict.Group, severity severityForm, place string, l layout) []string {
	head := fmt.Sprintf("  %s %-4s", severity.mark, g.Label())
	out := l.wrap(head, line(g.Title()))
	out[0] = l.paint(severity.color, head) + strings.TrimPrefix(out[0], head)
	indent := strings.Repeat(" ", len(head))
	for _, row := range dropEmpty(append(accountFacts(g), fact{"from", place})) {
		out = append(out, l.wrap(indent+fmt.Sprintf("%-10s", row.name), line(row.value))...)
	}
	return out
}

// accountFacts returns what runs as the account of a group, and the steps by which the
// account gains more rights; nil for a group that is not about an account.
func accountFacts(g verdict.Group) []fact {
	if g.Account == nil {
		return nil
	}
	var workloads []string
	for _, id := range g.Account.Workloads {
		workloads = append(workloads, preview.IDLabel(id))
	}
	rows := []fact{{"used by", strings.Join(workloads, ", ")}}
	if verdict.ExtentText(*g.Account) != "" {
		rows = append(rows, fact{"how", words.Steps(g.Account.Steps)})
	}
	return dropEmpty(rows)
}

// evidenceInJSON says where what a report omits is.
const evidenceInJSON = "-o json has all"

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

// findingLines returns the lines of a finding that is in no group with others.
func findingLines(f preview.Finding, label string, r *reader, l layout) []string {
	form := formOf(f.Severity)
	head := fmt.Sprintf("  %s %-4s", form.mark, label)
	indent := strings.Repeat(" ", len(head))
	evidence := f.Shown()
	if f.Severity == preview.Info {
		out := l.wrap(head, line(f.Title)+"  ("+line(f.Rule)+")")
		if len(evidence) > 0 {
			out = append(out, l.evidence(indent, indent, evidence)...)
		}
		return out
	}
	out := l.wrap(head, line(f.Title))
	out[0] = l.paint(form.color, head) + strings.TrimPrefix(out[0], head)
	if f.Why != "" {
		out = append(out, l.wrap(indent, f.Why)...)
	}
	if len(evidence) > 0 {
		out = append(out, l.evidence(indent+"evidence  ", indent, evidence)...)
	}
	if where := r.where(f); where != "" {
		out = append(out, l.wrap(indent+"from      ", line(where))...)
	}
	if reduce := r.reduce(f); reduce != "" {
		out = append(out, l.wrap(indent+"reduce    ", reduce)...)
	}
	out = append(out, indent+"rule      "+line(joinTexts("  ", f.Rule, f.Ref, f.Object)))
	return append(out, judgedLines(f, indent, l)...)
}
