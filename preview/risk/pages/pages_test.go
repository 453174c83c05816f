package pages

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

func TestEveryPageIsWhole(t *testing.T) {
	for _, p := range All() {
		t.Run(p.Rule, func(t *testing.T) {
			for name, text := range map[string]string{
				"title": p.Title, "looks": p.Looks, "why": p.Why, "when": p.When, "reduce": p.Reduce,
				"example": p.Example.Title, "evidence": p.Example.Evidence,
			} {
				if text == "" {
					t.Errorf("it has no %s; see package rules", name)
				}
			}
			for name, text := range map[string]string{"looks": p.Looks, "why": p.Why, "reduce": p.Reduce, "when": p.When} {
				if !strings.HasSuffix(text, ".") {
					t.Errorf("%s is no sentence: %s", name, text)
				}
			}
			if !ruleName.MatchString(p.Rule) || !slices.Contains([]preview.Severity{preview.Critical, preview.Warning, preview.Info, preview.NotKnown}, p.Severity) {
				t.Errorf("rule %q of severity %q", p.Rule, p.Severity)
			}
			if p.Example.Severity.Rank() < p.Severity.Rank() {
				t.Errorf("the example is %s, more severe than the rule, which is %s", p.Example.Severity, p.Severity)
			}
			if rule, _ := rules.Named(p.Rule); rule.Source != "" && p.Source != rule.Source {
				t.Errorf("it is based on %s, and says %q", rule.Source, p.Source)
			}
			if p.Ref != "" && p.Source == "" {
				t.Errorf("%s has no source", p.Ref)
			}
		})
	}
}

func TestEveryRuleHasAPage(t *testing.T) {
	book := New()
	for _, r := range rules.All() {
		if page := book[r.Name]; page.Severity != r.Severity() || page.Title != r.Title || page.Why != r.Why {
			t.Errorf("the page of %s says something else: %+v", r.Name, page)
		}
	}
	if len(book) != len(rules.All()) {
		t.Errorf("%d pages of %d rules", len(book), len(rules.All()))
	}
}

func TestWhatVariesIsTold(t *testing.T) {
	for name, m := range risk.Matchings() {
		rule, _ := rules.Named(name)
		if m.Varies && rule.When == "" {
			t.Errorf("the severity of %s depends on more than its scope, and its page does not say on what", name)
		}
		if len(m.Any) == 0 && rule.Looks == "" {
			t.Errorf("what %s looks at is said nowhere", name)
		}
	}
	if when := New()["rbac-nodes-proxy"].When; when != "Only cluster-wide grants count, because the resources have no namespace. "+
		"One step less when resource names restrict it; one step more when the subject is a group or a default ServiceAccount." {
		t.Error(when)
	}
}

func TestFind(t *testing.T) {
	book := New()
	for word, want := range map[string]string{
		"rbac-secrets-read": "rbac-secrets-read",
		"RBAC-Secrets-Read": "rbac-secrets-read",
		"RBAC-10":           "rbac-secrets-read",
		"rbac-10":           "rbac-secrets-read",
		"POD-04":            "pod-host-network pod-host-port",
		"rbac-secrets-read/rbac.authorization.k8s.io/ClusterRole/-/x": "rbac-secrets-read",
		"":        "",
		"secrets": "",
		"/":       "",
	} {
		var got []string
		for _, p := range book.Find(word) {
			got = append(got, p.Rule)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("Find(%q) = %v, want %s", word, got, want)
		}
	}
}
