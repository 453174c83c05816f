package report

import (
	"fmt"
	"sort"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// A long evidence is folded to this many lines, as on the screen.
const evidenceLines = 20

// severityGroup holds the title and symbol of the findings of one severity.
type severityGroup struct {
	severity preview.Severity
	title    string
	label    string // of the first letter of C1, W1, …
	mark     string
	color    string
}

var severityGroups = [...]severityGroup{
	{preview.Critical, "CRITICAL", "C", "!!", yellow},
	{preview.Warning, "WARNINGS", "W", " !", yellow},
	{preview.NotKnown, "NOT CHECKED", "U", " ?", yellow},
	{preview.Info, "INFO", "I", "  ", ""},
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

func findingSections(p *preview.Plan, l layout) []section {
	var out []section
	r := newReader(p)
	for _, group := range severityGroups {
		if s := findingSection(p, group, r, l); s.title != "" {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return []section{{title: "FINDINGS", note: "none: no rule matched"}}
	}
	last := &out[len(out)-1]
	last.lines = append(last.lines, l.wrap("  ", explainLine)...)
	return out
}

func findingSection(p *preview.Plan, group severityGroup, r *reader, l layout) section {
	found := findingsOf(p, group.severity)
	if len(found) == 0 {
		return section{}
	}
	s := section{title: group.title, note: fmt.Sprintf("(%d)", len(found))}
	for i, f := range found {
		label := fmt.Sprintf("%s%d", group.label, i+1)
		s.lines = append(s.lines, findingLines(f, group, label, r, l)...)
	}
	return s
}

// evidence formats as many pieces of evidence as there is room for, and counts the
// rest. Line breaks in evidence are made visible.
func (l layout) evidence(first, indent, text string) []string {
	pieces := preview.EvidencePieces(text)
	of := func(n int) []string { return l.wrap(first, line(strings.Join(pieces[:n], preview.EvidenceMark))) }
	if all := of(len(pieces)); len(all) <= evidenceLines+1 {
		return all
	}
	kept := sort.Search(len(pieces), func(n int) bool { return len(of(n+1)) > evidenceLines })
	if kept == 0 {
		return fold(of(len(pieces)), evidenceLines, indent)
	}
	return append(of(kept), indent+preview.EvidenceRest(pieces[kept:]))
}

func findingLines(f preview.Finding, group severityGroup, label string, r *reader, l layout) []string {
	head := fmt.Sprintf("  %s %-4s", group.mark, label)
	indent := strings.Repeat(" ", len(head))
	if f.Severity == preview.Info {
		out := l.wrap(head, line(f.Title)+"  ("+line(f.Rule)+")")
		if f.EvidenceText() != "" {
			out = append(out, l.evidence(indent, indent, f.EvidenceText())...)
		}
		return out
	}
	out := l.wrap(head, line(f.Title))
	out[0] = l.paint(group.color, head) + strings.TrimPrefix(out[0], head)
	if f.Why != "" {
		out = append(out, l.wrap(indent, f.Why)...)
	}
	if f.EvidenceText() != "" {
		out = append(out, l.evidence(indent+"evidence  ", indent, f.EvidenceText())...)
	}
	if where := r.where(f); where != "" {
		out = append(out, l.wrap(indent+"where     ", line(where))...)
	}
	if reduce := r.reduce(f); reduce != "" {
		out = append(out, l.wrap(indent+"reduce    ", reduce)...)
	}
	if f.Severity != preview.Critical && f.Severity != preview.NotKnown {
		out = append(out, indent+"rule      "+line(joinTexts("  ", f.Rule, f.Ref, f.Object)))
	} else {
		// The id names the object already.
		out = append(out, indent+"rule      "+line(joinTexts("  ", f.Rule, f.Ref)), indent+"accept    "+line(f.ID+"="+f.Fingerprint))
	}
	if f.AcceptedIn > 0 {
		out = append(out, fmt.Sprintf("%saccepted  earlier, in revision %d", indent, f.AcceptedIn))
	}
	for _, row := range judgedFacts(f) {
		out = append(out, l.wrap(indent+fmt.Sprintf("%-10s", row.name), line(row.value))...)
	}
	return out
}
