package architecture

import (
	"go/ast"
	"go/token"
	"testing"
)

// mayStart lists the places that may start goroutines: the one helper that catches their
// panics, and code outside the program that writes.
var mayStart = []string{"preview/tasks", "k8s/sandbox", "cmd/sandbox", "cmd/demo", "preview/corpustest", "preview/source/sourcetest", "tui/tuitest", ".tools", "testdata"}

// TestGoroutinesArePanicSafe holds every goroutine of the program to package
// tasks: a panic on any other ends the process with an exit code that is not
// the truth about the target.
func TestGoroutinesArePanicSafe(t *testing.T) {
	eachSource(t, wholeRepository, func(_ string, files *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine without package tasks", files.Position(n.Pos()))
			case *ast.ImportSpec:
				if n.Path.Value == `"golang.org/x/sync/errgroup"` {
					t.Errorf("%s imports errgroup; tasks.Group catches panics", files.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "sync" && n.Sel.Name == "WaitGroup" {
					t.Errorf("%s has a sync.WaitGroup; tasks.Group catches panics", files.Position(n.Pos()))
				}
			}
			return true
		})
	}, mayStart...)
}
