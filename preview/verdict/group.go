package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// Group is a group of findings that a review shows, numbers and counts as one: those
// about one account, those about one CRD, more than a few of one rule, or a single
// finding.
type Group struct {
	// Number counts the groups of the same severity, from 1.
	Number int
	// Findings are the findings, the worst first.
	Findings []*preview.Finding
	// Account is the account that all findings are about; nil if they are not about one.
	Account *preview.Account
}

// Label returns the letter of the severity and the number, such as C1.
func (g Group) Label() string { return Letter(g.Severity()) + strconv.Itoa(g.Number) }

// First returns the worst finding.
func (g Group) First() *preview.Finding { return g.Findings[0] }

// Severity returns the severity of the worst finding.
func (g Group) Severity() preview.Severity { return g.Findings[0].Severity }

// Earlier reports whether the worst finding is a warning only because an earlier
// revision accepted it.
func (g Group) Earlier() bool {
	return g.Severity() == preview.Warning && g.First().AcceptedIn > 0
}

// OneRule reports whether all findings are of one rule.
func (g Group) OneRule() bool {
	return !slices.ContainsFunc(g.Findings, func(f *preview.Finding) bool { return f.Rule != g.First().Rule })
}

// Claim returns the account or object, and how far the account's rights go, or what was
// found; and in words what the other findings add to it, which may be nothing.
func (g Group) Claim() (claim preview.Claim, others string) {
	first := g.First()
	if len(g.Findings) == 1 {
		return first.Claim, ""
	}
	if g.Account != nil {
		if text := ExtentText(*g.Account); text != "" {
			return preview.Claim{Subject: g.Account.Subject.Kind + " " + g.Account.Subject.Name, Predicate: text}, ""
		}
	}
	claim = first.Claim
	if g.Account == nil && g.OneRule() {
		if !claim.Clause {
			claim.Subject = ""
		}
		return claim, fmt.Sprintf(" (%s)", preview.Plural(len(g.Findings), "time"))
	}
	return claim, fmt.Sprintf(", and %d more", len(g.Findings)-1)
}

// Title returns the claim of the group in one line.
func (g Group) Title() string {
	if len(g.Findings) == 1 {
		return g.First().Title
	}
	claim, others := g.Claim()
	return words.Title(claim) + others
}

// TitleOf returns the title of a finding of the group, without the account or object
// that the group's title names already.
func (g Group) TitleOf(f *preview.Finding) string {
	if same := f.Claim.Subject == g.First().Claim.Subject && f.Claim.Subject != ""; same && !f.Claim.Clause && len(g.Findings) > 1 {
		return words.Statement(f.Claim)
	}
	return f.Title
}

// ExtentText returns in words how far the rights of a very powerful account go; empty
// for others, because the titles of their findings say more.
func ExtentText(a preview.Account) string {
	text := ""
	switch a.Extent {
	case "cluster-admin":
		text = "cluster-admin in effect"
	case "every-secret":
		text = "can read the Secrets of every namespace"
	case "nodes":
		text = "can control nodes"
	default:
		return ""
	}
	if len(a.Steps) > 0 {
		text += ", through other accounts"
	}
	return text
}

// AmountText returns in words how far the rights of any account go.
func AmountText(a preview.Account) string {
	switch a.Extent {
	case "namespaces":
		return "any account or every Secret of " + named(a.Namespaces)
	case "cluster-writes":
		return "writes outside of its namespace"
	case "own-namespace":
		return "its own namespace"
	case "reads":
		return "reads"
	case "nothing":
		return "nothing"
	}
	return ExtentText(a)
}

// maxNamed is the most namespaces that are named; more are only counted.
const maxNamed = 4

func named(namespaces []string) string {
	if len(namespaces) > maxNamed {
		return preview.Plural(len(namespaces), "namespace")
	}
	if len(namespaces) == 1 {
		return "namespace " + namespaces[0]
	}
	return "namespaces " + strings.Join(namespaces, ", ")
}

// foldOver is the number of findings of one rule and severity above which they are one
// group. Findings about an account or a CRD are grouped by these.
const foldOver = 3

// Groups returns the groups of findings, sorted by their worst finding. A group about
// an account has its less severe findings too. Findings about what could not be read,
// and those accepted earlier, are in separate groups.
func Groups(findings []preview.Finding, accounts []preview.Account) []Group {
	sorted := make([]*preview.Finding, len(findings))
	for i := range findings {
		sorted[i] = &findings[i]
	}
	slices.SortStableFunc(sorted, compareFindings)
	b := grouping{
		groups: make([]Group, 0, len(sorted)), numbers: map[preview.Severity]int{}, accounts: map[preview.Subject]*preview.Account{},
		at: map[groupKey]int{}, times: map[string]int{}, folds: map[string]int{},
	}
	for i := range accounts {
		b.accounts[accounts[i].Subject] = &accounts[i]
	}
	for len(sorted) > 0 {
		end := slices.IndexFunc(sorted, func(f *preview.Finding) bool { return compareFindings(f, sorted[0]) != 0 })
		if end < 0 {
			end = len(sorted)
		}
		b.add(sorted[:end:end])
		sorted = sorted[end:]
	}
	for _, g := range b.groups {
		slices.SortStableFunc(g.Findings, func(a, b *preview.Finding) int {
			return cmp.Or(compareFindings(a, b), slices.Index(saysLeast, a.Rule)-slices.Index(saysLeast, b.Rule))
		})
	}
	return b.groups
}

// saysLeast are the rules whose findings come last among an account's findings that are as
// severe: most operators read and write Secrets, so that any other finding says more
// about one of them; and who writes Secrets critically reads them too.
var saysLeast = []string{rules.RBACSecretsWrite.Name, rules.RBACSecretsRead.Name}

// compareFindings compares findings for sorting, by severity, and those accepted
// earlier after others.
func compareFindings(a, b *preview.Finding) int {
	return cmp.Or(a.Severity.Rank()-b.Severity.Rank(), preview.FalseFirst(a.AcceptedIn > 0, b.AcceptedIn > 0))
}

// grouping builds the groups of findings.
type grouping struct {
	accounts map[preview.Subject]*preview.Account
	groups   []Group
	numbers  map[preview.Severity]int
	at       map[groupKey]int // indexes of groups about an account or a CRD
	// Of the present severity, by rule: the number of findings, and the index of their
	// common group.
	times, folds map[string]int
}

// groupKey is the account or CRD that a group is about. Findings accepted earlier have
// another key.
type groupKey struct {
	subject preview.Subject
	object  string
	earlier bool
}

// definitions is the prefix of the ids of CRDs.
const definitions = string(preview.KindCustomResourceDefinition) + "/"

// keyOf returns the key of the group for a finding; ok is false for findings that are
// not about an account or a CRD.
func keyOf(f *preview.Finding) (groupKey, bool) {
	earlier := f.AcceptedIn > 0
	switch {
	case f.Severity == preview.NotKnown:
		return groupKey{}, false
	case len(f.Subjects) > 0:
		return groupKey{subject: f.Subjects[0], earlier: earlier}, true
	case strings.HasPrefix(f.Object, definitions):
		return groupKey{object: f.Object, earlier: earlier}, true
	}
	return groupKey{}, false
}

// add adds the findings of one severity to their groups.
func (b *grouping) add(findings []*preview.Finding) {
	clear(b.times)
	clear(b.folds)
	for _, f := range findings {
		if _, shared := keyOf(f); !shared {
			b.times[f.Rule]++
		}
	}
	for i, f := range findings {
		key, shared := keyOf(f)
		at, known := b.at[key]
		if !shared {
			at, known = b.folds[f.Rule]
		}
		if known {
			b.groups[at].Findings = append(b.groups[at].Findings, f)
			continue
		}
		b.numbers[f.Severity]++
		g := Group{Number: b.numbers[f.Severity], Findings: findings[i : i+1 : i+1]}
		switch {
		case shared:
			b.at[key] = len(b.groups)
			g.Account = b.account(key.subject)
		case b.times[f.Rule] > foldOver:
			b.folds[f.Rule] = len(b.groups)
		}
		b.groups = append(b.groups, g)
	}
}

// account returns the account of a subject, with the subject alone if nothing more is
// known; nil for an empty subject.
func (b *grouping) account(s preview.Subject) *preview.Account {
	if s == (preview.Subject{}) {
		return nil
	}
	return cmp.Or(b.accounts[s], &preview.Account{Subject: s})
}

// Letter returns the letter for a severity in labels: C, W, U or I.
func Letter(s preview.Severity) string {
	switch s {
	case preview.Critical:
		return "C"
	case preview.Warning:
		return "W"
	case preview.NotKnown:
		return "U"
	}
	return "I"
}
