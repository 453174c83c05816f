package pages

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
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
					t.Errorf("it has no %s; see %s", name, "preview/risk/pages")
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
			if p.Ref != "" && p.Source == "" {
				t.Errorf("%s has no source", p.Ref)
			}
		})
	}
}

// What is told of a rule that package risk no longer has would never be shown.
func TestNothingIsToldOfRulesThatAreNone(t *testing.T) {
	known := map[string]bool{}
	for _, rule := range risk.Rules() {
		known[rule.Name] = true
	}
	for name := range told() {
		if !known[name] {
			t.Errorf("words about %s, which is no rule", name)
		}
	}
	var raw map[string]Example
	if err := json.Unmarshal(exampleData, &raw); err != nil {
		t.Fatal(err)
	}
	for name := range raw {
		if !known[name] {
			t.Errorf("an example of %s, which is no rule", name)
		}
	}
}

// A rule is a constant named rule... or Rule..., or stands in a finding or
// note: the source code is searched for both, so that a rule cannot be added
// without its page.
func TestEveryRuleInTheSourceCodeHasAPage(t *testing.T) {
	book := New()
	root := corpustest.Repository(t)
	found := map[string]string{}
	for _, dir := range []string{"preview", "cmd/internal", "install"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			if strings.HasPrefix(path, filepath.Join(root, "preview", "risk", "pages")) {
				return nil
			}
			return rulesIn(path, found)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"not-appliable", "rbac-secrets-read", "manifest-replaced", "deprecated"} {
		if found[want] == "" {
			t.Errorf("the search misses %s", want)
		}
	}
	for rule, where := range found {
		if _, ok := book[rule]; !ok {
			t.Errorf("%s: rule %s has no page; write one in preview/risk/pages/others.go", where, rule)
		}
	}
}

func rulesIn(path string, found map[string]string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, data, 0)
	if err != nil {
		return err
	}
	add := func(e ast.Expr) {
		literal, ok := e.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return
		}
		if name, err := strconv.Unquote(literal.Value); err == nil && ruleName.MatchString(name) {
			found[name] = files.Position(e.Pos()).String()
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if strings.HasPrefix(strings.ToLower(name.Name), "rule") && i < len(n.Values) {
					add(n.Values[i])
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Rule" {
				add(n.Value)
			}
		}
		return true
	})
	return nil
}

func TestWhatVariesIsTold(t *testing.T) {
	for name, m := range risk.Matchings() {
		if m.Varies && told()[name].when == "" {
			t.Errorf("the severity of %s depends on more than its scope, and its page does not say on what", name)
		}
		if len(m.Any) == 0 && told()[name].looks == "" {
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

func TestNear(t *testing.T) {
	book := New()
	for word, want := range map[string]string{
		"rbac-secret-read": "rbac-secrets-read",
		"webhook":          "rbac-webhooks-delete",
		"exec":             "rbac-custom-exec",
		"pod-privleged":    "pod-privileged",
		"deprecate":        "deprecated",
	} {
		if got := book.Near(word); len(got) == 0 || got[0] != want || len(got) > maxNear {
			t.Errorf("Near(%q) = %v, want %s first", word, got, want)
		}
	}
	for _, word := range []string{"", "x", "zzzzzzzz", strings.Repeat("rbac", 1000)} {
		if got := book.Near(word); len(got) != 0 {
			t.Errorf("Near(%.20q) = %v", word, got)
		}
	}
}
