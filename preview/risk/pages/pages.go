// Package pages has one page for every rule of which a plan can hold a finding:
// what the rule looks at, why it matters, how severe it is and when, how to
// reduce it, where it comes from, and a finding as it looks.
//
// Rules of package risk say most of that themselves. Rules that the engine, the
// formats and the resolver raise are told of here. A test holds this package to
// every rule name that the source code mentions.
package pages

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/spelling"
)

// Page is the page of one rule. All of it is our own text, but for what an
// example quotes from the tests.
type Page struct {
	Rule string `json:"rule"`
	// Ref is the row of the catalogue of risks, such as RBAC-10; empty for
	// rules about the plan itself. Source is the URL of what it is based on.
	Ref    string `json:"ref,omitempty"`
	Source string `json:"source,omitempty"`
	// Severity is that of the rule at its most severe, When what changes it.
	Severity preview.Severity `json:"severity"`
	When     string           `json:"when"`
	Title    string           `json:"title"` // follows an object, such as "reads Secrets"
	Looks    string           `json:"looksAt"`
	Why      string           `json:"why"`
	Reduce   string           `json:"reduce"`
	Example  Example          `json:"example"`
}

// NothingToReduce stands where a rule has no advice.
const NothingToReduce = "There is nothing to reduce: it is told so that you know."

// Example is a finding of a rule.
type Example struct {
	Severity preview.Severity `json:"severity"`
	Title    string           `json:"title"`
	Evidence string           `json:"evidence"`
}

// All returns every page, sorted by rule.
func All() []Page {
	var out []Page
	for _, page := range index() {
		out = append(out, page)
	}
	slices.SortFunc(out, func(a, b Page) int { return strings.Compare(a.Rule, b.Rule) })
	return out
}

// Book is the pages by rule, for looking many up.
type Book map[string]Page

// New returns every page.
func New() Book { return index() }

// Find returns the pages that a word names: a rule, a row of the catalogue
// (RBAC-10) in any case, or the id of a finding, RULE/OBJECT.
func (b Book) Find(word string) []Page {
	rule, _, _ := strings.Cut(word, "/")
	if page, ok := b[strings.ToLower(rule)]; ok {
		return []Page{page}
	}
	var out []Page
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if page := b[name]; page.Ref != "" && strings.EqualFold(page.Ref, word) {
			out = append(out, page)
		}
	}
	return out
}

// maxNear bounds what [Book.Near] offers.
const maxNear = 3

// Near returns the rules whose names are most like a word, the nearest first:
// those that hold it, else those a few letters away.
func (b Book) Near(word string) []string {
	word = strings.ToLower(word)
	if len(word) > 100 { // no name of ours, and costly to compare
		return nil
	}
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for _, name := range slices.Sorted(maps.Keys(b)) {
		far := spelling.Distance(word, name, max(len(word), len(name)))
		if len(word) >= 3 && strings.Contains(name, word) {
			far = 0
		}
		if far <= max(2, len(word)/3) {
			found = append(found, candidate{name, far})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.far - b.far })
	var out []string
	for _, c := range found[:min(len(found), maxNear)] {
		out = append(out, c.name)
	}
	return out
}

//go:embed examples.json
var exampleData []byte

// examples are findings that the tests of package risk produce; they write the
// file.
func examples() map[string]Example {
	var out map[string]Example
	if err := json.Unmarshal(exampleData, &out); err != nil {
		return nil // a test holds the file to its form
	}
	return out
}

func index() Book {
	book, shown, matchings := Book{}, examples(), risk.Matchings()
	said := told()
	for _, rule := range risk.Rules() {
		page := Page{
			Rule: rule.Name, Ref: rule.Ref, Severity: rule.Level.Severity(),
			Title: rule.Title, Why: rule.Why, Reduce: rule.Reduce,
			Looks: said[rule.Name].looks, When: said[rule.Name].when,
			Example: shown[rule.Name],
		}
		if rule.Level == risk.None {
			page.Severity = preview.NotKnown
		}
		if m, ok := matchings[rule.Name]; ok {
			page.Looks, page.When = ofGrants(m, page)
		}
		if page.Example.Title == "" {
			page.Example = said[rule.Name].example
		}
		book[rule.Name] = page
	}
	for _, page := range append(others(), definitionRules()...) {
		if _, ours := book[page.Rule]; !ours {
			book[page.Rule] = page
		}
	}
	for name, page := range book {
		page.Source = source(page.Ref)
		if page.When == "" {
			page.When = "Always " + string(page.Severity) + "."
		}
		if page.Reduce == "" {
			page.Reduce = NothingToReduce
		}
		book[name] = page
	}
	return book
}

// modifiers are those of every rule about grants (catalogue of risks, section 2).
func modifiers(m risk.Matching) string {
	text := "One step less for a grant in one namespace, unless that namespace holds accounts as powerful as an administrator " +
		"(kube-system, default, openshift-*, olm*); "
	if m.ClusterOnly {
		text = "Only cluster-wide grants count, because the resources have no namespace. "
	}
	if !m.Fixed {
		text += "one step less when resource names restrict it; "
	}
	text += "one step more when the subject is a group or a default ServiceAccount."
	if m.ClusterOnly {
		before, after, _ := strings.Cut(text, ". o")
		text = before + ". O" + after
	}
	return text
}

// ofGrants says what a rule about grants matches, and how severe that is.
func ofGrants(m risk.Matching, page Page) (looks, when string) {
	looks = page.Looks
	if looks == "" {
		looks = "Every effective permission of the plan, role by binding, that includes " + strings.Join(m.Any, "; or ") + ". Wildcards include them."
	}
	if len(m.With) > 0 {
		looks += " The same subject must also hold " + strings.Join(m.With, " and ") + "."
	}
	when = modifiers(m)
	if page.Severity == preview.Info {
		when = "" // there is no step below
	}
	if page.When != "" {
		when = strings.TrimSpace(page.When + " " + when)
	}
	return looks, when
}

// source is what a part of the catalogue of risks is based on.
func source(ref string) string {
	chapter, _, _ := strings.Cut(ref, "-")
	switch chapter {
	case "RBAC":
		return "https://kubernetes.io/docs/concepts/security/rbac-good-practices/"
	case "BIND", "AGG":
		return "https://kubernetes.io/docs/reference/access-authn-authz/rbac/"
	case "POD":
		return "https://kubernetes.io/docs/concepts/security/pod-security-standards/"
	case "WH":
		return "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/"
	case "NET":
		return "https://kubernetes.io/docs/concepts/services-networking/service/"
	case "AWS":
		return "https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html"
	case "GCP":
		return "https://cloud.google.com/iam/docs/using-iam-securely"
	case "AZ":
		return "https://learn.microsoft.com/azure/role-based-access-control/best-practices"
	case "IBM", "VS", "ANY":
		return "https://github.com/openshift/cloud-credential-operator"
	}
	return ""
}
