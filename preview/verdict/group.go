package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Group is one entry of a review: the findings about one account, about one CRD,
// several of one rule, or a single one. Every form numbers and counts groups.
type Group struct {
	// Number is that among the groups of its severity, from 1.
	Number int
	// Findings has the worst first.
	Findings []*preview.Finding
	// Account is the subject that all findings are about; nil for others.
	Account *preview.Account
}

// Label is the letter of the severity and the number in it, such as C1.
func (g Group) Label() string { return Letter(g.Severity()) + strconv.Itoa(g.Number) }

// First returns the worst finding.
func (g Group) First() *preview.Finding { return g.Findings[0] }

// Severity is that of the worst finding.
func (g Group) Severity() preview.Severity { return g.Findings[0].Severity }

// Earlier reports whether the group is what an earlier revision accepted.
func (g Group) Earlier() bool {
	return g.Severity() == preview.Warning && g.First().AcceptedIn > 0
}

// OneRule reports whether all findings are of one rule.
func (g Group) OneRule() bool {
	return !slices.ContainsFunc(g.Findings, func(f *preview.Finding) bool { return f.Rule != g.First().Rule })
}

// Title says in one line who or what it is about and what that comes to.
func (g Group) Title() string {
	first := g.First()
	if len(g.Findings) == 1 {
		return first.Title
	}
	who, what, _ := strings.Cut(first.Title, ": ")
	if g.Account != nil {
		if text := ExtentText(*g.Account); text != "" {
			return g.Account.Subject.Kind + " " + g.Account.Subject.Name + ": " + text
		}
	}
	if g.Account == nil && g.OneRule() {
		return fmt.Sprintf("%s (%s)", cmp.Or(what, who), preview.Plural(len(g.Findings), "time"))
	}
	return fmt.Sprintf("%s, and %d more", first.Title, len(g.Findings)-1)
}

// TitleOf returns the title of a finding below that of its group, which says already
// who or what it is about.
func (g Group) TitleOf(f *preview.Finding) string {
	who, _, _ := strings.Cut(g.First().Title, ": ")
	if rest, same := strings.CutPrefix(f.Title, who+": "); same && len(g.Findings) > 1 {
		return rest
	}
	return f.Title
}

// ExtentText says what an account with much power comes to, and empty for others,
// whose findings say more.
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

// AmountText says what an account comes to, whatever that is.
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

// maxNamed namespaces are named, others counted.
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

// foldOver findings of one rule and severity, which are about no account and no
// CRD, are one group.
const foldOver = 3

// Groups returns the groups of findings in the order of their worst: a group about
// an account is where its worst finding is, and has those that are less severe too.
// What could not be read, and what was accepted earlier, are groups of their own.
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
	return b.groups
}

// compareFindings orders findings by severity, those accepted earlier last.
func compareFindings(a, b *preview.Finding) int {
	return cmp.Or(a.Severity.Rank()-b.Severity.Rank(), preview.FalseFirst(a.AcceptedIn > 0, b.AcceptedIn > 0))
}

// grouping collects groups.
type grouping struct {
	accounts map[preview.Subject]*preview.Account
	groups   []Group
	numbers  map[preview.Severity]int
	at       map[groupKey]int // positions of groups about an account or a CRD
	// Of one severity: findings of a rule, and the positions of folds.
	times, folds map[string]int
}

// groupKey is the account or the CRD that the findings of a group are about.
type groupKey struct {
	subject preview.Subject
	object  string
	earlier bool
}

// definitions begins the ids of CRDs.
const definitions = string(preview.KindCustomResourceDefinition) + "/"

// keyOf returns the account or CRD that a finding is about; false for others.
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

// add takes in the findings of one severity.
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

// account returns what is known of a subject; nil for none.
func (b *grouping) account(s preview.Subject) *preview.Account {
	if s == (preview.Subject{}) {
		return nil
	}
	return cmp.Or(b.accounts[s], &preview.Account{Subject: s})
}

// Letter begins the labels of a severity.
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
