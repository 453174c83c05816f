package architecture

import (
	"go/ast"
	"go/token"
	"regexp"
	"testing"
)

var (
	// elsewhere are documents that a clone of the repository lacks.
	elsewhere = regexp.MustCompile(`EXACTNESS|DESIGN( section|\.md)|STYLE\.md|UX\.md|catalogue of risks`)
	person    = regexp.MustCompile(`(?i)\b(somebody|nobody|whoever|anybody|tells|told)\b`)
)

// Comments name who or what is meant, and cite what a reader has.
func TestComments(t *testing.T) {
	read := 0
	eachSource(t, wholeRepository, func(_ string, files *token.FileSet, file *ast.File) {
		for _, group := range file.Comments {
			read++
			judgeComment(t, files.Position(group.Pos()).String(), group)
		}
	})
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
	if word := person.FindString(text); word != "" {
		t.Errorf("%s has %q: name who or what is meant", where, word)
	}
}
