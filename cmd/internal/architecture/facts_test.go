package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sentenceFields are the fields that hold words for people: the program does not read them.
var sentenceFields = []string{"Title", "Text", "Evidence", "Why"}

// wordOwners are the packages whose types have such fields.
var wordOwners = []string{
	"preview", "preview/rules", "preview/access", "preview/escalation", "preview/schema", "preview/risk/", "preview/verdict",
}

// phrasebooks are the packages that may take words apart, to make others of them, or to draw
// them; the one that puts flags into printed commands; and one that tests alone use.
var phrasebooks = []string{"preview/words", "preview/textsafe", "tui/widget", "preview/findingtest", "preview/commandline"}

// contents are types whose field Text is what a package holds, and no sentence.
var contents = []string{"File"}

// keepsWhole are the functions of package strings that take no text apart.
var keepsWhole = []string{"Join", "Repeat", "ToUpper", "ToLower", "Compare", "NewReader", "WriteString"}

// masks are functions that take secrets out of any text.
var masks = []string{module + "/preview.MaskText"}

// The program's decisions follow from typed facts. A sentence that is cut, searched or
// compared has become an interface: a better preposition in it changes a decision.
func TestNoSentenceIsRead(t *testing.T) {
	readers := sentenceReaders(t)
	for _, at := range readers {
		t.Errorf("%s reads a sentence: decide by a typed field", at)
	}
}

// checkedPackage is a package of ours with its types.
type checkedPackage struct {
	path  string
	files []*ast.File
	info  *types.Info
}

// typedPackages type-checks the packages of the program from their sources, with what the
// compiler exported of those that they import.
func typedPackages(t *testing.T) (*token.FileSet, []checkedPackage) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,Module", "./...")
	cmd.Dir = filepath.Join("..", "..", "..")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		Module                  *struct{ Path string }
	}
	exports := map[string]string{}
	var ours []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Path == module {
			ours = append(ours, p)
		}
	}
	set := token.NewFileSet()
	from := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var checked []checkedPackage
	for _, p := range ours {
		c := checkedPackage{path: strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/"), info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
			Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		}}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			c.files = append(c.files, file)
		}
		if _, err := (&types.Config{Importer: from}).Check(p.ImportPath, set, c.files, c.info); err != nil {
			t.Fatal(err)
		}
		checked = append(checked, c)
	}
	return set, checked
}

// sentenceReaders returns the places where a sentence is read: as a field, as a variable, or as
// the argument or the result of a function.
func sentenceReaders(t *testing.T) []string {
	set, packages := typedPackages(t)
	packages = slices.DeleteFunc(packages, func(p checkedPackage) bool { return covers(phrasebooks, module+"/"+p.path) })
	all := sentenceFlow{holds: map[types.Object]bool{}, takes: map[string]bool{}, returns: map[string]bool{}}
	for before := -1; before != all.size(); {
		before = all.size()
		for _, p := range packages {
			(&sentenceReader{p, &all}).follow()
		}
	}
	var out []string
	for _, p := range packages {
		r := sentenceReader{p, &all}
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				if what := r.reads(n); what != "" {
					at := set.Position(n.Pos())
					out = append(out, fmt.Sprintf("%s/%s:%d: %s", p.path, filepath.Base(at.Filename), at.Line, what))
				}
				return true
			})
		}
	}
	slices.Sort(out)
	return out
}

// sentenceFlow is where sentences are, in all packages.
type sentenceFlow struct {
	holds   map[types.Object]bool // variables
	takes   map[string]bool       // parameters of functions, as NAME#INDEX
	returns map[string]bool       // functions whose only result is a sentence
}

func (f *sentenceFlow) size() int { return len(f.holds) + len(f.takes) + len(f.returns) }

// sentenceReader finds the sentences of one package.
type sentenceReader struct {
	checkedPackage
	*sentenceFlow
}

// isSentence reports whether an expression is a sentence: a field, a variable that holds
// one, or words made of it.
func (r *sentenceReader) isSentence(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return r.holds[r.info.ObjectOf(e)]
	case *ast.SelectorExpr:
		s := r.info.Selections[e]
		return s != nil && s.Kind() == types.FieldVal && slices.Contains(sentenceFields, e.Sel.Name) && isText(s.Type()) && r.ownsWords(s)
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (r.isSentence(e.X) || r.isSentence(e.Y))
	case *ast.SliceExpr:
		return r.isSentence(e.X)
	case *ast.IndexExpr:
		return r.isSentence(e.X)
	case *ast.CallExpr:
		of := r.called(e)
		return of != nil && r.returns[of.FullName()]
	}
	return false
}

// ownsWords reports whether the struct with a selected field is one of those that hold words.
func (r *sentenceReader) ownsWords(s *types.Selection) bool {
	of := s.Recv()
	if pointer, ok := of.(*types.Pointer); ok {
		of = pointer.Elem()
	}
	named, ok := of.(*types.Named)
	return s.Obj().Pkg() != nil && covers(wordOwners, s.Obj().Pkg().Path()) && !(ok && slices.Contains(contents, named.Obj().Name()))
}

func isText(of types.Type) bool {
	if list, ok := of.Underlying().(*types.Slice); ok {
		of = list.Elem()
	}
	basic, ok := of.Underlying().(*types.Basic)
	return ok && basic.Kind() == types.String
}

// follow adds the variables, parameters and results of the package that hold sentences.
func (r *sentenceReader) follow() {
	for _, file := range r.files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, value := range n.Rhs {
					if len(n.Lhs) == len(n.Rhs) && r.isSentence(value) {
						r.hold(n.Lhs[i])
					}
				}
			case *ast.RangeStmt:
				if r.isSentence(n.X) && n.Value != nil {
					r.hold(n.Value)
				}
			case *ast.CallExpr:
				r.pass(n)
			case *ast.FuncDecl:
				r.declare(n)
			}
			return true
		})
	}
}

func (r *sentenceReader) hold(e ast.Expr) {
	if name, ok := ast.Unparen(e).(*ast.Ident); ok {
		if v, ok := r.info.ObjectOf(name).(*types.Var); ok && isText(v.Type()) {
			r.holds[v] = true
		}
	}
}

// pass marks the parameters of a function of ours that a call gives sentences to.
func (r *sentenceReader) pass(call *ast.CallExpr) {
	called := r.called(call)
	if called == nil || called.Pkg() == nil || !under(module, called.Pkg().Path()) || slices.Contains(masks, called.FullName()) {
		return
	}
	params := called.Signature().Params()
	for i, arg := range call.Args {
		if i < params.Len() && r.isSentence(arg) && isText(params.At(i).Type()) {
			r.takes[fmt.Sprintf("%s#%d", called.FullName(), i)] = true
		}
	}
}

// declare marks the parameters of a function that take sentences, and whether it returns one.
func (r *sentenceReader) declare(f *ast.FuncDecl) {
	of := r.info.Defs[f.Name].(*types.Func)
	params, results := of.Signature().Params(), of.Signature().Results()
	for i := range params.Len() {
		if r.takes[fmt.Sprintf("%s#%d", of.FullName(), i)] {
			r.holds[params.At(i)] = true
		}
	}
	if f.Body == nil || results.Len() != 1 || !isText(results.At(0).Type()) {
		return
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if is, ok := n.(*ast.ReturnStmt); ok && len(is.Results) == 1 && r.isSentence(is.Results[0]) {
			r.returns[of.FullName()] = true
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
}

func (r *sentenceReader) called(call *ast.CallExpr) *types.Func {
	var name *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = f
	case *ast.SelectorExpr:
		name = f.Sel
	default:
		return nil
	}
	of, _ := r.info.ObjectOf(name).(*types.Func)
	return of
}

// reads says how a node reads a sentence; empty if it does not.
func (r *sentenceReader) reads(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		of := r.called(n)
		if of == nil || of.Pkg() == nil || !slices.ContainsFunc(n.Args, r.isSentence) {
			return ""
		}
		cuts := of.Pkg().Path() == "strings" && !slices.Contains(keepsWhole, of.Name())
		if cuts || of.Pkg().Path() == "regexp" {
			return of.FullName()
		}
	case *ast.BinaryExpr:
		compares := slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.GTR}, n.Op)
		if compares && (r.isSentence(n.X) || r.isSentence(n.Y)) && !r.isEmpty(n.X) && !r.isEmpty(n.Y) {
			return n.Op.String()
		}
	case *ast.SwitchStmt:
		if n.Tag != nil && r.isSentence(n.Tag) {
			return "switch"
		}
	}
	return ""
}

// isEmpty reports whether an expression is "" or nil.
func (r *sentenceReader) isEmpty(e ast.Expr) bool {
	of := r.info.Types[e]
	return of.IsNil() || of.Value != nil && of.Value.String() == `""`
}
