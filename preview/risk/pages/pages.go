// Package pages shows the table of rules: a page for each rule of which a plan can
// hold a finding, with what it looks at, why it matters, how severe it is and when,
// how to reduce it, where it comes from, and a finding as it looks. What a rule
// about grants looks at is worded from its matcher in package risk.
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

// Page is the documentation page of one rule. All of it is our own text, but for
// what an example quotes from the tests.
type Page struct {
	Rule string `json:"rule"`
	// Ref is the reference of the rule, such as RBAC-10; empty for
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
	Example  rules.Example    `json:"example"`
}

// NothingToReduce stands where a rule has no advice.
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

// Index finds the page of a rule by its name.
type Index map[string]Page

// New returns every page.
func New() Index { return index() }

// Find returns the pages that a word names: a rule, a row of the catalogue
// (RBAC-10) in any case, or the id of a finding, RULE/OBJECT.
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

// modifiers returns the severity modifiers that every rule about grants has.
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

// grantText returns what a rule about grants matches, and its severity.
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

// sourceText names the documents that the rules of a kind are based on.
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
