package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// Finding is a finding, several that are alike, or a group with others in it.
type Finding struct {
	Label    string // such as C1; empty within a group
	Severity preview.Severity
	Title    string
	Why      string
	Evidence []preview.Piece
	// Account says what runs as the account of a group, and how it gains more rights.
	Account []Fact
	// From names the files that the objects come from; within a group only if they differ
	// from those of the group.
	From string
	// Reduce lists how to make the finding less severe: one way, or those of a group each
	// after the names of its rules.
	Reduce []string
	// Rule and Ref name the rule; both are empty for a group.
	Rule, Ref string
	Objects   []string
	// Accept are the values of --accept; empty where nothing is to be accepted.
	Accept []string
	// Judged says whether an earlier approval accepted it and how a policy changed it.
	Judged []Fact
	// Findings are those of a group.
	Findings []Finding
}

// ExplainText stands below findings, before the command that shows the page of a rule.
const ExplainText = "What a rule looks at, and when it is less severe: "

// findings returns the groups of findings of a plan, the most severe first.
func findings(p *preview.Plan) []Finding {
	r := NewReader(p)
	var out []Finding
	for _, g := range verdict.Groups(p.Findings, p.Access.Accounts) {
		out = append(out, r.Group(g))
	}
	return out
}

// Group returns a group of findings; a group of one is that finding.
func (r *Reader) Group(g verdict.Group) Finding {
	entries := g.Entries()
	if len(g.Findings) == 1 {
		f := r.entry(entries[0])
		f.Label, f.Title = g.Label(), g.First().Title
		return f
	}
	out := Finding{Label: g.Label(), Severity: g.Severity(), Title: g.Title(), Account: account(g), Reduce: r.reductions(g.Findings)}
	if places := r.places(g.Findings); len(places) > 0 {
		out.From = places[0]
	}
	for _, e := range entries {
		f := r.entry(e)
		if f.From == out.From {
			f.From = ""
		}
		out.Findings = append(out.Findings, f)
	}
	return out
}

// entry returns findings that are alike.
func (r *Reader) entry(e verdict.Entry) Finding {
	f := e.First()
	out := Finding{
		Severity: f.Severity, Title: e.Title, Why: commandline.Addressed(f.Why, r.cluster), Evidence: r.addressed(e.Evidence), From: strings.Join(r.places(e.Findings), ", "),
		Rule: f.Rule, Ref: f.Ref, Judged: judged(*f),
	}
	if way := r.Reduce(*f); way != "" {
		out.Reduce = []string{way}
	}
	for _, one := range e.Findings {
		out.Objects = append(out.Objects, one.Object)
		// What cannot be applied whatever is accepted is an obstacle, and is not offered.
		open := one.Severity == preview.NotKnown && !r.obstructed[one.Object]
		if (one.Severity == preview.Critical || open) && one.Rule != rules.NotAppliable.Name {
			out.Accept = append(out.Accept, one.ID+"="+one.Fingerprint)
		}
	}
	return out
}

// addressed returns evidence with the commands in it addressed to the cluster of the plan. The
// findings themselves know no cluster: their evidence is the same for all who review it.
func (r *Reader) addressed(pieces []preview.Piece) []preview.Piece {
	if len(r.cluster) == 0 {
		return pieces
	}
	out := slices.Clone(pieces)
	for i := range out {
		out[i].Text = commandline.Addressed(out[i].Text, r.cluster)
	}
	return out
}

// judged says whether an earlier approval accepted a finding, where else it is, and what a
// policy made of it.
func judged(f preview.Finding) []Fact {
	var rows []Fact
	if f.AcceptedIn > 0 {
		rows = append(rows, Fact{"accepted", fmt.Sprintf("earlier, in revision %d", f.AcceptedIn)})
	}
	if f.AlsoIn != "" {
		rows = append(rows, Fact{"also in", f.AlsoIn + ", unchanged"})
	}
	if j := f.Judged; j != nil {
		was := words.Prefixed("was ", string(j.Was))
		switch j.By {
		case preview.JudgedByWaiver:
			rows = append(rows, Fact{"waived", words.Joined("  ", was, "by "+j.Owner, "until "+j.Expires, j.Reason)})
		case preview.JudgedBySeverity:
			rows = append(rows, Fact{"policy", words.Joined("  ", was, j.Reason)})
		}
	}
	return rows
}

// account says what runs as the account of a group, and the steps that gain the account
// more rights; nil for a group that is not about an account.
func account(g verdict.Group) []Fact {
	if g.Account == nil {
		return nil
	}
	rows := []Fact{{"used by", strings.Join(labels(g.Account.Workloads), ", ")}}
	if verdict.ExtentText(*g.Account) != "" {
		rows = append(rows, Fact{"how", words.Steps(g.Account.Steps)})
	}
	return dropEmpty(rows)
}

func labels(ids []string) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, preview.IDLabel(id))
	}
	return out
}

// Severities returns the severities in the order of a review, with the title of the section
// of each.
func Severities() []struct {
	Severity preview.Severity
	Title    string
} {
	return []struct {
		Severity preview.Severity
		Title    string
	}{{preview.Critical, "CRITICAL"}, {preview.Warning, "WARNINGS"}, {preview.NotKnown, "NOT CHECKED"}, {preview.Info, "INFO"}}
}

// Of returns the groups of findings that have a severity.
func (d *Document) Of(s preview.Severity) []Finding {
	return slices.DeleteFunc(slices.Clone(d.Findings), func(f Finding) bool { return f.Severity != s })
}

// FindingCounts returns the number of groups of findings for each severity that occurs: "1
// critical, 2 warnings".
func (d *Document) FindingCounts() string {
	severities := make([]preview.Severity, 0, len(d.Findings))
	for _, f := range d.Findings {
		severities = append(severities, f.Severity)
	}
	return severityCounts(severities)
}

func severityCounts(severities []preview.Severity) string {
	counts := map[preview.Severity]int{}
	for _, s := range severities {
		counts[s]++
	}
	var found []string
	for _, form := range Severities() {
		n, word := counts[form.Severity], strings.ToLower(form.Title)
		if n == 1 {
			word = strings.TrimSuffix(word, "s")
		}
		if n > 0 {
			found = append(found, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(found, ", ")
}

// maxAccept is the most values of --accept that are listed (40).
const maxAccept = 40

// acceptSection lists the value of --accept for each critical finding and each object that
// could not be read, because a policy may demand that a person accepts them one by one.
func acceptSection(found []Finding) Section {
	s := Section{ID: Accept, Note: "what --accept takes for each of these findings", Columns: []Column{{Name: "finding"}, {Name: "accept", Whole: true}}}
	for _, f := range found {
		for _, one := range append([]Finding{f}, f.Findings...) {
			for _, value := range one.Accept {
				if len(s.Rows) == maxAccept {
					s.Tail = []string{"… more, -o json has them"}
					return s
				}
				s.Title, s.Rows = "ACCEPT", append(s.Rows, Row{Cells: []string{f.Label, value}})
			}
		}
	}
	return s
}
