package rules

import (
	"encoding/json"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A row that its file does not keep under its own name could be raised by nothing.
func TestEachRuleHasAVariableOfItsName(t *testing.T) {
	variables := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			for _, spec := range specs(d) {
				for i := range spec.Names {
					if call, ok := valueOf(spec, i).(*ast.CallExpr); ok && isRow(call) {
						variables[strings.ToLower(spec.Names[i].Name)] = true
					}
				}
			}
		}
	}
	for _, r := range All() {
		if !variables[strings.ReplaceAll(r.Name, "-", "")] {
			t.Errorf("no variable is called as rule %s", r.Name)
		}
	}
	if len(variables) != len(All()) {
		t.Errorf("%d variables of %d rules", len(variables), len(All()))
	}
}

func specs(d ast.Decl) []*ast.ValueSpec {
	group, ok := d.(*ast.GenDecl)
	if !ok || group.Tok != token.VAR {
		return nil
	}
	var out []*ast.ValueSpec
	for _, s := range group.Specs {
		out = append(out, s.(*ast.ValueSpec))
	}
	return out
}

func valueOf(spec *ast.ValueSpec, i int) ast.Expr {
	if i < len(spec.Values) {
		return spec.Values[i]
	}
	return nil
}

func isRow(call *ast.CallExpr) bool {
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "row"
}

func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range All() {
		if seen[r.Name] {
			t.Errorf("rule %s stands twice in the table", r.Name)
		}
		seen[r.Name] = true
		if r.Level == None {
			t.Errorf("rule %s has no level", r.Name)
		}
		if r.Name != strings.ToLower(r.Name) || strings.Trim(r.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("rule %q: want a-z, 0-9 and -", r.Name)
		}
		if r.Title == "" || strings.HasSuffix(r.Title, ".") {
			t.Errorf("rule %s: title %q", r.Name, r.Title)
		}
		for _, text := range readable(r) {
			if word, _, _ := strings.Cut(text, " "); slices.Contains([]string{"It", "They", "Their", "Them", "Its", "Both", "Some"}, word) && !strings.HasPrefix(text, "Some Linux") {
				t.Errorf("rule %s: %q begins with a word for something that stands elsewhere", r.Name, text)
			}
		}
		if named, ok := Named(r.Name); !ok || named.Why != r.Why {
			t.Errorf("rule %s is not found by its name", r.Name)
		}
	}
}

// readable returns the sentences of a rule, each of which is read alone.
func readable(r Rule) []string {
	out := []string{r.Why, r.Reason, r.Reduce}
	for _, of := range r.Cases {
		out = append(out, of.Title, of.Why, of.Reduce)
	}
	return out
}

// Where all evidence is of one case, the case is what is said; else the rule is.
func TestAFindingOfOneCase(t *testing.T) {
	r := Rule{Title: "t", Why: "w", Cases: []Case{
		{For: "a", Title: "at", Why: "aw", Reduce: "ar"}, {For: "b", Title: "bt", Why: "bw"}, {For: "c", Why: "cw"},
	}, Reduce: "r"}
	if a, b := r.Worded(1).Reduce, r.Worded(2).Reduce; a != "ar" || b != "r" {
		t.Errorf("to reduce: %q for a, %q for b", a, b)
	}
	for title, cases := range map[string][]int{"t": nil, "at": {0}, "bt": {1}} {
		set := map[int]bool{}
		for _, at := range cases {
			set[at] = true
		}
		if got := r.Worded(r.CaseOf(set)); got.Title != title {
			t.Errorf("cases %v: %s, want %s", cases, got.Title, title)
		}
	}
	if got := r.Worded(3); got.Title != "t" || got.Why != "cw" {
		t.Errorf("a case without a title: %s, %s", got.Title, got.Why)
	}
	for _, set := range []map[int]bool{{0: true, 1: true}, {-1: true}, {-1: true, 0: true}, {3: true}} {
		if got := r.Worded(r.CaseOf(set)); got.Title != "t" || got.Why != "w" {
			t.Errorf("cases %v: %s", set, got.Title)
		}
	}
}

// An example of a rule that there is no more would never be shown, nor one that
// stands in a row too.
func TestExamples(t *testing.T) {
	var made map[string]Example
	if err := json.Unmarshal(exampleData, &made); err != nil {
		t.Fatal(err)
	}
	for name := range made {
		if rule, ok := Named(name); !ok || rule.Example.Title != "" {
			t.Errorf("examples.json has %s; known %v, with the example %q", name, ok, rule.Example.Title)
		}
	}
}

func TestAFindingOfARule(t *testing.T) {
	f := RecordUnreadable.WithReason("secret x -n y").Finding("core/Secret/y/x", preview.Claim{Predicate: "it cannot be read"}, preview.Piece{What: "x: y"})
	if f.ID != "record-unreadable/core/Secret/y/x" || !strings.HasSuffix(f.Why, "kubectl get secret x -n y -o yaml") || f.Severity != "warning" || f.Fingerprint == "" {
		t.Errorf("%+v", f)
	}
	if strings.Contains(RecordUnreadable.Why, "kubectl") {
		t.Errorf("the reason of one finding stays with the rule: %s", RecordUnreadable.Why)
	}
	other, known := Named("of-another-version")
	if f := other.Finding("a", preview.Claim{Predicate: "b"}, preview.Piece{What: "c"}); known || f.Rule != "of-another-version" || f.Severity != "info" || f.Why == "" {
		t.Errorf("known %v: %+v", known, f)
	}
}
