package architecture

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"testing"
)

// maxMethods is the most methods of a type. One with more is several things that
// share their fields.
const maxMethods = 80

func TestTypesAreOfASizeToBeRead(t *testing.T) {
	methods := map[string]int{}
	eachSource(t, wholeRepository, func(path string, _ *token.FileSet, file *ast.File) {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[filepath.ToSlash(filepath.Dir(path))+"."+receiver(f.Recv.List[0].Type)]++
			}
		}
	})
	if methods["preview.Object"] < 10 {
		t.Fatalf("preview.Object has %d methods: they are not counted", methods["preview.Object"])
	}
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d methods; at most %d: what has fields of its own in it becomes a type", name, n, maxMethods)
		}
	}
}

// receiver returns the name of the type of a method's receiver.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	}
	return ""
}
