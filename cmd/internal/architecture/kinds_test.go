package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Code that judges objects knows their kinds by group and kind: any package can bring an
// object whose kind is called CustomResourceDefinition or ServiceAccount in its own
// group. So nothing there compares a kind with a literal; the typed kinds of package
// preview do, and the kinds of subjects, which have no group.
func TestKindsAreComparedWithTheirGroup(t *testing.T) {
	for _, dir := range []string{"access", "cloud", "engine", "installer", "risk", "schema"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "preview", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files of preview/%s: %v", dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, pos := range bareKinds(file) {
				t.Errorf("%s: a kind is compared without its group; use preview.IsKind or Is", set.Position(pos))
			}
		}
	}
}

// bareKinds finds kinds that are compared with, or switched over, string literals.
func bareKinds(file *ast.File) []token.Pos {
	var found []token.Pos
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (isKind(n.X) && isLiteral(n.Y) || isKind(n.Y) && isLiteral(n.X)) {
				found = append(found, n.Pos())
			}
		case *ast.SwitchStmt:
			if n.Tag == nil || !mentionsKind(n.Tag) {
				break
			}
			for _, clause := range n.Body.List {
				for _, value := range clause.(*ast.CaseClause).List {
					if isLiteral(value) && !strings.Contains(value.(*ast.BasicLit).Value, "/") {
						found = append(found, value.Pos())
					}
				}
			}
		}
		return true
	})
	return found
}

// isKind reports whether an expression is X.Kind, or String(X, "kind").
func isKind(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name == "Kind"
	case *ast.CallExpr:
		if len(e.Args) == 0 || !isLiteral(e.Args[len(e.Args)-1]) {
			return false
		}
		return e.Args[len(e.Args)-1].(*ast.BasicLit).Value == `"kind"`
	}
	return false
}

// mentionsKind is isKind of any part of an expression.
func mentionsKind(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if part, ok := n.(ast.Expr); ok && isKind(part) {
			found = true
		}
		return true
	})
	return found
}

func isLiteral(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING && lit.Value != `""`
}

func TestBareKindsAreFound(t *testing.T) {
	for text, want := range map[string]int{
		`o.Kind == "Secret"`:                          1,
		`"Secret" != o.Kind`:                          1,
		`preview.String(body, "kind") == "Secret"`:    1,
		`o.Is(preview.KindSecret)`:                    0,
		`o.Kind == ""`:                                0,
		`s.Kind == preview.SubjectGroup`:              0,
		`preview.String(body, "metadata") == "kinds"`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar _ = "+text, 0)
		if err != nil || len(bareKinds(file)) != want {
			t.Errorf("%s: %d found, want %d (%v)", text, len(bareKinds(file)), want, err)
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() { switch o.Kind + \".\" + g { case \"Service.\": } }", 0)
	if err != nil || len(bareKinds(file)) != 1 {
		t.Errorf("a switch over a kind was not found: %v", err)
	}
}
