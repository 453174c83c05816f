package architecture

import (
	"bytes"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// The most lines of a package, tests excluded. One that grows beyond them holds more
// than one thing.
const (
	maxPackageLines = 7000
	maxEngineLines  = 6000
)

func TestPackagesAreOfASizeToBeRead(t *testing.T) {
	root := corpustest.Repository(t)
	lines := map[string]int{}
	eachSource(t, wholeRepository, func(path string, _ *token.FileSet, _ *ast.File) {
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		lines[filepath.ToSlash(filepath.Dir(path))] += bytes.Count(data, []byte("\n"))
	})
	for dir, n := range lines {
		most := maxPackageLines
		if dir == "preview/engine" {
			most = maxEngineLines
		}
		if n > most {
			t.Errorf("%s has %d lines; at most %d: what is a thing of its own in it becomes a package", dir, n, most)
		}
	}
}
