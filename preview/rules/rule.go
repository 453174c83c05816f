// Package rules is the table of all rules: for each kind of finding its name, its
// severity, and every sentence about it, once. Code that finds something makes the
// finding from the rule's variable,
//
//	rules.HelmRecordStays.Finding(o.ID, claim, pieces...)
//	rules.ImageLocked.Note(o.ID, text)
//
// and "explain" shows the same variable. A new rule is a row in one of the files here;
// its variable is named like the rule.
package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// Rule is a row of the table: one kind of finding.
type Rule struct {
	Name string // in findings, such as rbac-secrets-read
	Ref  string // reference of the rule, such as RBAC-10; empty for rules about the plan itself
	// Level is the level of the most severe match: for rights, in the whole cluster
	// without resourceNames. Rules whose level never changes are Critical, Medium or
	// Notice.
	Level Level
	Title string // words that follow an object's name, such as "can read Secrets"
	Why   string // why it matters, in one sentence
	// Cases have other words in place of Title and Why, for findings whose evidence is
	// all about one case.
	Cases []Case
	// Reason is the format for [Rule.WithReason]: a text in place of Why that names
	// something of the finding; empty for rules that need none.
	Reason string
	// Text is the format for [Rule.NoteText], if all notes of the rule have the same
	// words.
	Text   string
	Reduce string // how to make the finding less severe; may be empty
	// Looks says what the rule matches, When what changes its severity. Both may be
	// empty for rules about grants, whose matchers describe this.
	Looks, When string
	Source      string // URL of the document it is based on, if not by Ref
	Example     Example
}

// Case is the words of a rule for a part of what it matches.
type Case struct {
	// For says what the case is about, separated by spaces: resources, verbs, API groups
	// or cloud actions. For rules about objects it is the beginning of a piece of
	// evidence.
	For   string
	Title string // empty for the rule's title
	Why   string
	// Reduce says how to make the case's finding less severe; empty for what the rule
	// says.
	Reduce string
}

// Example is an example of a rule's finding. For a rule of package risk without one
// here, the tests of that package produce it.
type Example struct {
	Severity preview.Severity `json:"severity"` // empty in a row of the table: the rule's severity
	Title    string           `json:"title"`
	Evidence string           `json:"evidence"`
	// Of is the object, such as "Job cleanup:", that the rule's title follows in the
	// title of the example; empty if Title is set.
	Of string `json:"-"`
}

// Severity returns the severity of the rule's most severe finding.
func (r Rule) Severity() preview.Severity { return r.Level.Severity() }

// String returns the name of the rule.
func (r Rule) String() string { return r.Name }

// ID returns the id that a finding of the rule about an object has: RULE/OBJECT.
func (r Rule) ID(object string) string { return r.Name + "/" + object }

// Finding returns a finding about one object, with the severity of the rule. The pieces
// are all of its evidence, in the order shown.
func (r Rule) Finding(object string, claim preview.Claim, evidence ...preview.Piece) preview.Finding {
	return r.FindingOf(r.Severity(), object, claim, evidence...)
}

// FindingOf is [Rule.Finding] with another severity.
func (r Rule) FindingOf(severity preview.Severity, object string, claim preview.Claim, evidence ...preview.Piece) preview.Finding {
	f := preview.Finding{
		ID: r.ID(object), Rule: r.Name, Ref: r.Ref, Severity: severity, Claim: claim, Title: words.Title(claim), Why: r.Why, Object: object,
	}
	f.SetEvidence(words.Evidence(evidence...))
	return f
}

// Of returns the claim that the title of the rule makes of a subject, as one clause:
// "ConfigMap web is not applied".
func (r Rule) Of(subject string) preview.Claim {
	return preview.Claim{Subject: subject, Predicate: r.Title, Clause: true}
}

// Said returns pieces of evidence that are words alone.
func Said(texts ...string) []preview.Piece {
	pieces := make([]preview.Piece, len(texts))
	for i, text := range texts {
		pieces[i].What = text
	}
	return pieces
}

// WithReason returns a copy of the rule with Reason, formatted with the arguments, in
// place of Why.
func (r Rule) WithReason(args ...any) Rule {
	r.Why = fmt.Sprintf(r.Reason, args...)
	return r
}

// CaseOf returns the number of the only case, counted from 1, that a finding is about; 0 if
// it is about none, or several. cases has the indexes of those that its evidence is about.
func (r Rule) CaseOf(cases map[int]bool) int {
	if len(cases) == 1 {
		for at := range cases {
			if at >= 0 && at < len(r.Cases) {
				return at + 1
			}
		}
	}
	return 0
}

// Worded returns a copy of the rule with title, reason and reduction of a case, counted
// from 1; the rule as it is for 0 and for a case of another version of the program.
func (r Rule) Worded(number int) Rule {
	if number < 1 || number > len(r.Cases) {
		return r
	}
	of := r.Cases[number-1]
	r.Title, r.Why, r.Reduce = cmp.Or(of.Title, r.Title), of.Why, cmp.Or(of.Reduce, r.Reduce)
	return r
}

// NoteText returns Text formatted with the arguments.
func (r Rule) NoteText(args ...any) string { return fmt.Sprintf(r.Text, args...) }

// Note returns a note about an object, made while resolving or rendering. The plan has
// a finding of the rule for it.
func (r Rule) Note(object, text string) preview.Note {
	return preview.Note{Rule: r.Name, Object: object, Text: text}
}

// table has all rules. It is complete once the package is initialized, and never
// modified afterwards.
var table []Rule

// row adds a rule to the table and returns it.
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

// noteExample returns the example of a rule whose findings have the text of a note as
// title.
func noteExample(object, text string) Example {
	about := strings.Replace(object, "/", " ", 1)
	if _, kind, _, name, err := preview.ParseID(object); err == nil {
		about = kind + " " + name
	}
	return Example{Title: about + ": " + text, Evidence: object + ": " + text}
}

// example returns the rule with an example: the finding of a note about an object, with
// Text formatted with args.
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

// Named returns the rule with a name. For an unknown name, such as one from another
// version of the program, it returns a rule that says this, and known is false.
func Named(name string) (r Rule, known bool) {
	if at := slices.IndexFunc(table, func(r Rule) bool { return r.Name == name }); at >= 0 {
		return table[at], true
	}
	return Rule{Name: name, Level: Notice, Why: "This version of the program does not know the rule."}, false
}
