// Package rules is the one table of rules: for each kind of finding its name, how
// severe it is, and every sentence that is said of it, each once. What finds
// something raises it through the rule's value,
//
//	rules.HelmRecordStays.Finding(o.ID, title, evidence)
//	rules.ImageLocked.Note(o.ID, text)
//
// and "explain" shows the same value. A new rule is a row in one of the files here;
// its variable has the rule's name.
package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Rule is a row of the table: one kind of finding.
type Rule struct {
	Name string // as findings carry it, such as rbac-secrets-read
	Ref  string // reference of the rule, such as RBAC-10; empty for rules about the plan itself
	// Level is the grade at its most severe: for rights, in the whole cluster and
	// without restriction. A rule that nothing modifies is Critical, Medium or Notice.
	Level Level
	Title string // follows an object, such as "can read Secrets"
	Why   string // it matters, one sentence
	// Cases are worded in place of Title and Why where all evidence of a finding
	// is of one case.
	Cases []Case
	// Reason is the format for [Rule.WithReason] where a finding's reason
	// names something of its own, in place of Why.
	Reason string
	// Text is the format for [Rule.NoteText] where all notes of the rule are
	// worded alike.
	Text   string
	Reduce string // what makes the finding go away or less severe; empty for nothing
	// Looks describes what the rule examines, When what changes its
	// severity. Both may be empty for rules about grants, whose matchers say
	// it.
	Looks, When string
	Source      string // URL of what it is based on, where Ref does not say it
	Example     Example
}

// Case is the wording of a rule for one kind of its evidence.
type Case struct {
	// For lists, separated by spaces, what the case is about: resources, verbs,
	// API groups or cloud actions. For rules about objects it is the beginning
	// of a piece of evidence.
	For   string
	Title string // empty for that of the rule
	Why   string
}

// Example is a finding of a rule as it looks. That of a rule of package risk is
// made by its test where the row has none.
type Example struct {
	Severity preview.Severity `json:"severity"` // empty in a row for that of the rule
	Title    string           `json:"title"`
	Evidence string           `json:"evidence"`
	// Of describes, in place of Title, what the title of a finding is made from.
	Of string `json:"-"`
}

// Severity returns the highest severity of the rule.
func (r Rule) Severity() preview.Severity { return r.Level.Severity() }

// String returns the name of the rule.
func (r Rule) String() string { return r.Name }

// ID returns the id of a finding about an object.
func (r Rule) ID(object string) string { return r.Name + "/" + object }

// Finding returns a finding about one object with its whole evidence, as severe
// as the rule.
func (r Rule) Finding(object, title, evidence string) preview.Finding {
	return r.FindingOf(r.Severity(), object, title, evidence)
}

// FindingOf returns a finding with a severity of its own.
func (r Rule) FindingOf(severity preview.Severity, object, title, evidence string) preview.Finding {
	return preview.Finding{
		ID: r.ID(object), Rule: r.Name, Ref: r.Ref, Severity: severity, Title: title, Why: r.Why,
		Object: object, Evidence: evidence, Fingerprint: preview.FindingFingerprint(r.Name, evidence),
	}
}

// WithReason returns the rule with the reason of one finding, which names the
// arguments.
func (r Rule) WithReason(args ...any) Rule {
	r.Why = fmt.Sprintf(r.Reason, args...)
	return r
}

// Worded returns the rule with title and reason of the case that all evidence
// belongs to, given as indexes in Cases. If there is none, or several, it returns
// the rule itself.
func (r Rule) Worded(cases map[int]bool) Rule {
	if len(cases) != 1 {
		return r
	}
	for at := range cases {
		if at >= 0 && at < len(r.Cases) {
			r.Title, r.Why = cmp.Or(r.Cases[at].Title, r.Title), r.Cases[at].Why
		}
	}
	return r
}

// NoteText returns the text of a note that names the arguments.
func (r Rule) NoteText(args ...any) string { return fmt.Sprintf(r.Text, args...) }

// Note returns a note for resolving and rendering, of which the plan makes a
// finding.
func (r Rule) Note(object, text string) preview.Note {
	return preview.Note{Rule: r.Name, Object: object, Text: text}
}

// table is every rule. It is complete once the package is initialized, and nothing
// changes it afterwards.
var table []Rule

// row adds a rule to the table.
func row(r Rule) Rule {
	if r.Example.Of != "" {
		r.Example.Title = r.Example.Of + " " + r.Title
	}
	if r.Example.Title != "" && r.Example.Severity == "" {
		r.Example.Severity = r.Severity()
	}
	table = append(table, r)
	return r
}

// noteExample returns the example of a rule whose findings are titled by their
// note.
func noteExample(object, text string) Example {
	about := strings.Replace(object, "/", " ", 1)
	if _, kind, _, name, err := preview.ParseID(object); err == nil {
		about = kind + " " + name
	}
	return Example{Title: about + ": " + text, Evidence: object + ": " + text}
}

// example returns the rule with a note about an object as its example.
func (r Rule) example(object string, args ...any) Rule {
	r.Example = noteExample(object, r.NoteText(args...))
	return r
}

// All returns every rule, sorted by name.
func All() []Rule {
	out, made := slices.Clone(table), examples()
	for i := range out {
		if out[i].Example.Title == "" {
			out[i].Example = made[out[i].Name]
		}
	}
	slices.SortFunc(out, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Named returns the rule with a name. For an unknown name, such as one from
// another version of the program, it returns a rule that says so.
func Named(name string) (r Rule, known bool) {
	if at := slices.IndexFunc(table, func(r Rule) bool { return r.Name == name }); at >= 0 {
		return table[at], true
	}
	return Rule{Name: name, Level: Notice, Why: "This version of the program does not know the rule."}, false
}
