package right_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
)

// TestSlowEveryVerbOfTheCodeIsKnown reads out of the code of the API server of the sandbox
// which verbs it asks an authorizer about, and fails on any that the table has no right
// with. TestEveryRightIsJudged fails where such a right is in the table and not judged.
func TestSlowEveryVerbOfTheCodeIsKnown(t *testing.T) {
	slowtest.Skip(t, "reading the code of the API server")
	r := &verbReader{found: map[string]string{}, parameters: map[string]int{}, constants: map[string]string{}}
	files := filesAboutVerbs(t)
	paths := slices.Sorted(maps.Keys(files))
	for _, at := range paths {
		r.declare(files[at])
	}
	for _, at := range paths {
		r.read(at, files[at])
	}
	for _, verb := range []string{"escalate", "sign", "attest", "deletecollection", "unsafe-delete-ignore-read-errors", "impersonate:", "impersonate-on:", "associated-node:"} {
		if r.found[verb] == "" {
			t.Errorf("verb %s is in the code, and was not read", verb)
		}
	}
	for verb, at := range r.found {
		if !known(verb) {
			t.Errorf("verb %s of %s is in no row of asked.tsv", verb, at)
		}
	}
	t.Logf("%d verbs in %d files", len(r.found), len(files))
}

// known reports whether a right with the verb is known; a verb that ends in ":" is the
// beginning of others.
func known(verb string) bool {
	if !strings.HasSuffix(verb, ":") || verb == "impersonate-on:" { // rule rbac-impersonate-on is about them all
		return right.KnowsVerb(verb) || verb == "impersonate-on:"
	}
	for _, s := range right.Known() {
		if slices.ContainsFunc(s.Verbs, func(v string) bool { return strings.HasPrefix(v, verb) }) {
			return true
		}
	}
	return false
}

// filesAboutVerbs returns the files of the modules of an API server that ask an
// authorizer, or say which verb a request has, by their paths.
func filesAboutVerbs(t *testing.T) map[string]*ast.File {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "k8s.io/apiserver", "k8s.io/kubernetes", "k8s.io/kube-aggregator", "k8s.io/apiextensions-apiserver", "k8s.io/api")
	cmd.Dir = filepath.Join(corpustest.Repository(t), "cmd", "sandbox")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for modules := json.NewDecoder(bytes.NewReader(out)); ; {
		var module struct{ Path, Dir string }
		if err := modules.Decode(&module); errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		err := fs.WalkDir(os.DirFS(module.Dir), ".", func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "test" || d.Name() == "testdata"):
				return fs.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(filepath.Join(module.Dir, filepath.FromSlash(path)))
			if err != nil || !aboutVerbs.Match(text) {
				return err
			}
			files[module.Path+"/"+path], err = parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

var (
	aboutVerbs = regexp.MustCompile(`authorization/authorizer"|certauthorization"|requestInfo\.Verb = |VerbPrefix\w+ +=`)
	verbName   = regexp.MustCompile(`(?i)^\w*verbs?$`)
)

// verbReader reads verbs out of Go files: what is given to a field, variable or parameter
// whose name ends in "verb", what a method GetVerb returns, and constants that are named
// after verbs.
type verbReader struct {
	found map[string]string // verb, or the beginning of verbs → file
	// parameters says by the name of a function which of its parameters is a verb.
	parameters map[string]int
	constants  map[string]string // that are text, by name
}

// declare notes what the names mean that other files use.
func (r *verbReader) declare(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			at := 0
			for _, field := range n.Type.Params.List {
				for _, name := range field.Names {
					if verbName.MatchString(name.Name) {
						r.parameters[n.Name.Name] = at
					}
					at++
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					if text, ok := r.text(n.Values[i]); ok {
						r.constants[name.Name] = text
					}
				}
			}
		}
		return true
	})
}

func (r *verbReader) read(at string, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			r.give(at, n.Key, n.Value)
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				r.give(at, n.Lhs[i], n.Rhs[i])
			}
		case *ast.ValueSpec:
			for i := range min(len(n.Names), len(n.Values)) {
				if strings.HasPrefix(n.Names[i].Name, "VerbPrefix") {
					r.note(at, n.Values[i])
				}
			}
		case *ast.CallExpr:
			if i, ok := r.parameters[nameOf(n.Fun)]; ok && i < len(n.Args) {
				r.note(at, n.Args[i])
			}
		case *ast.FuncDecl:
			if n.Name.Name == "GetVerb" && n.Body != nil {
				ast.Inspect(n.Body, func(in ast.Node) bool {
					if back, ok := in.(*ast.ReturnStmt); ok && len(back.Results) == 1 {
						r.note(at, back.Results[0])
					}
					return true
				})
			}
		}
		return true
	})
}

// give notes a value that is given to a name.
func (r *verbReader) give(at string, to, value ast.Expr) {
	if !verbName.MatchString(nameOf(to)) {
		return
	}
	values := []ast.Expr{value}
	if list, ok := value.(*ast.CompositeLit); ok {
		values = list.Elts
	}
	for _, value := range values {
		r.note(at, value)
	}
}

func (r *verbReader) note(at string, e ast.Expr) {
	// In capitals it is the method of a request, for metrics.
	if text, ok := r.text(e); ok && text != strings.ToUpper(text) {
		r.found[text] = at
	}
}

// text returns the value of an expression that is text or a constant, or how it begins.
func (r *verbReader) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		return r.text(e.X)
	}
	text, ok := r.constants[nameOf(e)]
	return text, ok
}

// nameOf returns the last name of an expression, such as Verb of info.Verb.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
