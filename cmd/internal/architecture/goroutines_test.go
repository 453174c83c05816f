package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// mayStart are where goroutines start: the one helper that catches their panics,
// and what is no part of the program that writes.
var mayStart = []string{"preview/tasks", "k8s/sandbox", "cmd/sandbox", "cmd/demo", "preview/corpustest", "preview/source/sourcetest", "tui/tuitest", ".tools", "testdata"}

// TestGoroutinesArePanicSafe holds every goroutine of the program to package
// tasks: a panic on any other ends the process with an exit code that is not
// the truth about the target.
func TestGoroutinesArePanicSafe(t *testing.T) {
	root := corpustest.Repository(t)
	checked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			for _, dir := range mayStart {
				if below == filepath.FromSlash(dir) {
					return fs.SkipDir
				}
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		checked++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
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
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 100 {
		t.Errorf("%d files were looked at", checked)
	}
}
