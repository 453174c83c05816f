package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

var (
	// elsewhere are documents that a clone of the repository lacks.
	elsewhere = regexp.MustCompile(`EXACTNESS|DESIGN( section|\.md)|STYLE\.md|UX\.md|catalogue of risks`)
	person    = regexp.MustCompile(`(?i)\b(somebody|nobody|whoever|anybody|tells|told)\b`)
)

// Comments name who or what is meant, and cite what a reader has.
func TestComments(t *testing.T) {
	repository := corpustest.Repository(t)
	read := 0
	for _, top := range []string{"cmd/internal", "cmd/kubectl-operator", "cmd/docs", "install", "k8s", "preview", "tui"} {
		err := filepath.WalkDir(filepath.Join(repository, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			for _, group := range file.Comments {
				read++
				judgeComment(t, files.Position(group.Pos()).String(), group)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 3000 {
		t.Errorf("%d comments: they are not found", read)
	}
}

func judgeComment(t *testing.T, where string, group *ast.CommentGroup) {
	t.Helper()
	text := group.Text()
	if cited := elsewhere.FindString(text); cited != "" {
		t.Errorf("%s cites %q, which is not in the repository", where, cited)
	}
	// Told is a method; what is named is no prose.
	if word := person.FindString(strings.ReplaceAll(text, "Told returns", "")); word != "" {
		t.Errorf("%s has %q: name who or what is meant", where, word)
	}
}
