package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// Where [eachSource] looks.
var (
	wholeRepository = []string{"."}
	program         = []string{"cmd/internal", "cmd/kubectl-operator", "cmd/docs", "install", "k8s", "preview", "tui"}
)

// parsedSources are what [eachSource] has parsed, by path: most tests look at all of it, and
// none changes it.
var parsedSources = map[string]struct {
	files *token.FileSet
	file  *ast.File
}{}

// eachSource parses the Go files below the folders tops, comments included and tests
// excluded. Paths are relative to the repository; folders in but are left out.
func eachSource(t *testing.T, tops []string, look func(path string, files *token.FileSet, file *ast.File), but ...string) {
	t.Helper()
	root := corpustest.Repository(t)
	looked := 0
	for _, top := range tops {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			below, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			if entry.IsDir() && slices.Contains(but, filepath.ToSlash(below)) {
				return fs.SkipDir
			}
			if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			source, known := parsedSources[path]
			if !known {
				source.files = token.NewFileSet()
				if source.file, err = parser.ParseFile(source.files, path, nil, parser.ParseComments|parser.SkipObjectResolution); err != nil {
					return err
				}
				parsedSources[path] = source
			}
			looked++
			look(below, source.files, source.file)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 100 {
		t.Fatalf("%d files below %s: they are not found", looked, tops)
	}
}
