// Package pages makes the documentation of the rules: a page for each rule, with what
// it matches, why that matters, how severe it is, how to reduce it, what it is based
// on, and an example of a finding. For rules about grants, the words for what they
// match are made from the matcher in package risk.
package pages

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Page is the documentation page of one rule. Its text is our own, except for what an
// example quotes from the tests.
type Page struct {
	Rule string `json:"rule"`
	// Ref is the short reference of the rule, such as RBAC-10; empty for rules about the
	// plan itself. Source is the URL of the document that the rule is based on.
	Ref    string `json:"ref,omitempty"`
	Source string `json:"source,omitempty"`
	// Severity is the highest severity of the rule's findings; When says what changes
	// it.
	Severity preview.Severity `json:"severity"`
	When     string           `json:"when"`
	Title    string           `json:"title"` // words that follow an object's name, such as "reads Secrets"
	Looks    string           `json:"looksAt"`
	Why      string           `json:"why"`
	Reduce   string           `json:"reduce"`
	Example  rules.Example    `json:"example"`
}

// NothingToReduce is the text in place of advice, for rules without any.
const NothingToReduce = "Informational."

// All returns every page, sorted by rule.
func All() []Page {
	var out []Page
	for _, page := range index() {
		out = append(out, page)
	}
	slices.SortFunc(out, func(a, b Page) int { return strings.Compare(a.Rule, b.Rule) })
	return out
}

// Index holds the pages by the name of their rule.
type Index map[string]Page

// Reduce returns how to make a finding less severe, as the page of its rule says or, for
// what the finding is about, the rule; empty if there is no page or no way.
func (b Index) Reduce(f preview.Finding) string {
	rule, _ := rules.Named(f.Rule)
	if way := rule.Worded(f.Case).Reduce; way != rule.Reduce {
		return way
	}
	if page := b[f.Rule]; page.Reduce != NothingToReduce {
		return page.Reduce
	}
	return ""
}

// New returns the pages of all rules.
func New() Index { return index() }

// Find returns the pages for a word: the name of a rule, a reference such as RBAC-10 in
// any case, or the id of a finding, RULE/OBJECT. It returns nil if there is none.
func (b Index) Find(word string) []Page {
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

func index() Index {
	book, matchings := Index{}, risk.Matchings()
	for _, rule := range rules.All() {
		page := Page{
			Rule: rule.Name, Ref: rule.Ref, Source: cmp.Or(rule.Source, sourceText(rule.Ref)), Severity: rule.Severity(), When: rule.When,
			Title: rule.Title, Looks: rule.Looks, Why: rule.Why, Reduce: rule.Reduce, Example: rule.Example,
		}
		if m, ok := matchings[rule.Name]; ok {
			page.Looks, page.When = grantText(m, page)
		}
		if page.When == "" {
			page.When = "Always " + string(page.Severity) + "."
		}
		if page.Reduce == "" {
			page.Reduce = NothingToReduce
		}
		book[rule.Name] = page
	}
	return book
}

// modifiers returns the text about what raises or lowers the severity of a rule about
// grants.
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

// grantText returns the texts of a page for what a rule about grants matches, and for
// its severity.
func grantText(m risk.Matching, page Page) (looks, when string) {
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

// sourceText returns the URL of the document that the rules of a reference's chapter,
// such as RBAC, are based on.
func sourceText(ref string) string {
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
