package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// sources parses the files of the program outside of tests.
func sources(t *testing.T, visit func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			visit(path, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Facts are made from keys of the table alone, each with as many arguments as its words
// take, and the table has no words that nothing uses.
func TestEachKeyHasWordsAndIsSeen(t *testing.T) {
	formats, used := map[string]string{}, map[string]bool{}
	sources(t, func(_ string, file *ast.File) {
		if file.Name.Name != "words" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			if call, ok := spec.Values[0].(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "seen" {
					formats[spec.Names[0].Name] = call.Args[1].(*ast.BasicLit).Value
				}
			}
			return true
		})
	})
	sources(t, func(path string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok && of.Name == "words" {
					used[n.Sel.Name] = true
				}
			case *ast.CallExpr:
				name := calledKey(n)
				if format, ok := formats[name]; ok && !n.Ellipsis.IsValid() {
					if want := strings.Count(format, "%s") + strings.Count(format, "%q"); want != len(n.Args) {
						t.Errorf("%s: words.%s has %d arguments, its words take %d", path, name, len(n.Args), want)
					}
				}
			case *ast.CompositeLit:
				if of, ok := n.Type.(*ast.SelectorExpr); ok && of.Sel.Name == "Seen" && len(n.Elts) > 0 && file.Name.Name != "words" && isPackage(of.X, "preview") {
					t.Errorf("%s makes a fact without a key of package words", path)
				}
			}
			return true
		})
	})
	for name := range formats {
		if !used[name] && name != "Name" {
			t.Errorf("words.%s has words, and nothing sees it", name)
		}
	}
	if len(formats) < 100 {
		t.Fatalf("the table was not found: %d keys", len(formats))
	}
}

func isPackage(e ast.Expr, name string) bool {
	of, ok := e.(*ast.Ident)
	return ok && of.Name == name
}

// calledKey returns NAME of a call words.NAME.Of(...); else empty.
func calledKey(call *ast.CallExpr) string {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Of" {
		return ""
	}
	key, ok := method.X.(*ast.SelectorExpr)
	if !ok || !isPackage(key.X, "words") {
		return ""
	}
	return key.Sel.Name
}

// The arguments of a fact are of the package: they neither begin a line, nor show what looks
// like a credential, nor are they longer than a line of evidence.
func TestArgumentsOfAFactAreBounded(t *testing.T) {
	for name, test := range map[string]struct {
		arg, text string
		key       string
	}{
		"a name":                    {"web", "nodeName web", "node-name"},
		"line breaks":               {"a\nb\u2028c", "nodeName a␤b␤c", "node-name"},
		"verbs of formats":          {"%s %q", "nodeName %s %q", "node-name"},
		"a credential":              {"--password=hunter2", "nodeName --password=(secret)", "node-name"},
		"more than a line":          {strings.Repeat("x", 3*maxLine), "", "node-name"},
		"the words of another fact": {"web; privileged", "nodeName web; privileged", "node-name"},
		"a credential by its words": {"https://user:hunter2@example.com", preview.MaskText("nodeName https://user:hunter2@example.com"), "node-name"},
	} {
		t.Run(name, func(t *testing.T) {
			piece := SortedEvidence(Saw(NodeName.Of(test.arg)))[0]
			if test.text != "" && piece.Text != test.text {
				t.Errorf("the text is %q, want %q", piece.Text, test.text)
			}
			if piece.Seen.Key != test.key || len(piece.Seen.Args) != 1 || len(piece.Seen.Args[0]) > maxLine+100 {
				t.Errorf("the fact is %+v", piece.Seen)
			}
			if shown := piece.Seen.Args[0] + piece.What + piece.Text; strings.ContainsAny(shown, "\n\r\u2028") || strings.Contains(shown, "hunter2") {
				t.Errorf("shown: %q", shown)
			}
		})
	}
}

// A fact whose argument reads as the words of another one does not hide that one.
func TestFactsWithTheSameWordsAreBothKept(t *testing.T) {
	pieces := SortedEvidence(Saw(NodeName.Of("web"), Name.Of("nodeName web"), NodeName.Of("web")))
	if len(pieces) != 2 || pieces[0].Seen.Key == pieces[1].Seen.Key {
		t.Errorf("the pieces are %+v", pieces)
	}
}

// Evidence that was made before is shown again as it was.
func TestEvidenceIsNotMaskedTwice(t *testing.T) {
	once := SortedEvidence(Saw(NodeName.Of("--password=hunter2")))
	if again := Evidence(once...); again[0].Text != "nodeName --password=(secret)" {
		t.Errorf("the text is %q", again[0].Text)
	}
}

// A key of another version of the program, and one with other arguments, are shown as they are.
func TestUnknownKeyIsShown(t *testing.T) {
	for want, fact := range map[string]preview.Seen{
		"of-later a, b": {Key: "of-later", Args: []string{"a", "b"}},
		"node-name":     {Key: "node-name"},
	} {
		if text := Seen(fact); text != want {
			t.Errorf("%+v is shown as %q, want %q", fact, text, want)
		}
	}
}
