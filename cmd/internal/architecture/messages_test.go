package architecture

import (
	"flag"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

var update = flag.Bool("update", false, "rewrite testdata/messages.golden")

// Every text that may reach a person is in one file, so that a change of wording
// is seen in review, and is searched for words that are of no field.
func TestMessages(t *testing.T) {
	golden := filepath.Join(corpustest.Repository(t), "testdata", "messages.golden")
	messages := messages(t)
	if len(messages) < 1000 {
		t.Fatalf("%d messages: they are not found", len(messages))
	}
	text := strings.Join(messages, "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")); difference != "" {
		t.Errorf("%s is not what the program says; rewrite it by go test ./cmd/internal/architecture -update, and read the difference\n%s", golden, difference)
	}
	for _, message := range messages {
		if word := dialect.FindString(message); word != "" {
			t.Errorf("%q has %q: name who or what is meant", message, word)
		}
	}
}

// dialect matches words that no other tool uses.
var dialect = regexp.MustCompile(`(?i)\b(somebody|nobody|whoever|anybody|of yours)\b`)

// messages returns "PACKAGE: TEXT" for every text in the program, sorted, without
// doubles.
func messages(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	eachSource(t, program, func(path string, _ *token.FileSet, file *ast.File) {
		for _, text := range texts(file) {
			seen[filepath.ToSlash(filepath.Dir(path))+": "+text] = true
		}
	})
	out := make([]string, 0, len(seen))
	for message := range seen {
		out = append(out, message)
	}
	slices.Sort(out)
	return out
}

// sentence is a literal of at least two words; names, paths and formats of one word
// are none.
var sentence = regexp.MustCompile(`[A-Za-z]{2,}[,;:]? +(%[a-z]|[A-Za-z]{2,})`)

// texts are the literals of a file that are sentences, on one line each. Parts that
// are added up in the source are one text.
func texts(file *ast.File) []string {
	var out []string
	added := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil
		case *ast.BinaryExpr:
			if text, ok := sum(n, added); ok && !added[n] {
				out = appendText(out, text)
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && !added[n] {
				out = appendText(out, text)
			}
		}
		return true
	})
	return out
}

func appendText(out []string, text string) []string {
	if !sentence.MatchString(text) {
		return out
	}
	quoted := strconv.Quote(strings.Join(strings.Fields(text), " "))
	return append(out, strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`))
}

// sum is the text of literals that are added up, which it notes; other operands become
// an ellipsis.
func sum(n ast.Expr, added map[ast.Node]bool) (text string, hasText bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(n.Value)
		added[n] = added[n] || err == nil
		return text, err == nil && n.Kind == token.STRING
	case *ast.BinaryExpr:
		if n.Op != token.ADD {
			break
		}
		left, leftHas := sum(n.X, added)
		right, rightHas := sum(n.Y, added)
		for _, part := range []ast.Expr{n.X, n.Y} {
			if _, isSum := part.(*ast.BinaryExpr); isSum {
				added[part] = true
			}
		}
		return left + right, leftHas || rightHas
	}
	return "…", false
}
