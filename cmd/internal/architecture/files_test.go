package architecture

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// maxFilePairs is the most pairs of files, in the packages below a folder, of which one
// uses a name that the other declares: a function, a type, a method or a field. With
// more of them a change is read in more files.
var maxFilePairs = map[string]int{"cmd/internal": 290, "tui": 435}

func TestFilesUseFewOthers(t *testing.T) {
	root := corpustest.Repository(t)
	all := newDeclarations(root)
	for top, most := range maxFilePairs {
		var pairs int
		err := filepath.WalkDir(filepath.Join(root, top), func(dir string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() || entry.Name() == "testdata" {
				return err
			}
			below, err := filepath.Rel(root, dir)
			if err != nil {
				return err
			}
			used, err := all.pairs(path.Join(module, filepath.ToSlash(below)))
			pairs += len(used)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case pairs < 100:
			t.Errorf("%d pairs of files below %s: they are not counted", pairs, top)
		case pairs > most:
			t.Errorf("%d pairs of files below %s, of which one uses the other; at most %d: what is always used together becomes one file, or a package with few doors", pairs, top, most)
		}
		t.Logf("%s: %d pairs of files", top, pairs)
	}
}

// declarations checks the types of our packages, which says where a name that a file
// uses is declared. Other modules' packages are empty: nothing is declared there that
// counts.
type declarations struct {
	root     string
	files    *token.FileSet
	packages map[string]*types.Package
	uses     map[string]map[*ast.Ident]types.Object
}

func newDeclarations(root string) *declarations {
	return &declarations{
		root: root, files: token.NewFileSet(),
		packages: map[string]*types.Package{"unsafe": types.Unsafe}, uses: map[string]map[*ast.Ident]types.Object{},
	}
}

// Import is for [types.Config].
func (d *declarations) Import(at string) (*types.Package, error) {
	if known, ok := d.packages[at]; ok {
		return known, nil
	}
	below, ours := strings.CutPrefix(at, module+"/")
	if !ours {
		d.packages[at] = types.NewPackage(at, path.Base(at))
		d.packages[at].MarkComplete()
		return d.packages[at], nil
	}
	names, err := filepath.Glob(filepath.Join(d.root, below, "*.go"))
	if err != nil {
		return nil, err
	}
	var parsed []*ast.File
	for _, name := range names {
		built, err := build.Default.MatchFile(filepath.Split(name))
		if err != nil {
			return nil, err
		}
		if !built || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(d.files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	uses := map[*ast.Ident]types.Object{}
	config := types.Config{Importer: d, Error: func(error) {}} // of names in empty packages
	checked, _ := config.Check(at, d.files, parsed, &types.Info{Uses: uses})
	d.packages[at], d.uses[at] = checked, uses
	return checked, nil
}

// pair is a file that uses a name, and the file of the same package that declares it.
type pair struct{ user, declarer string }

func (d *declarations) pairs(at string) (map[pair]bool, error) {
	if _, err := d.Import(at); err != nil {
		return nil, err
	}
	out := map[pair]bool{}
	for name, object := range d.uses[at] {
		if object.Pkg() == nil || object.Pkg().Path() != at || !object.Pos().IsValid() || !isShared(object) {
			continue
		}
		p := pair{d.files.Position(name.Pos()).Filename, d.files.Position(object.Pos()).Filename}
		if p.user != p.declarer {
			out[p] = true
		}
	}
	return out, nil
}

// isShared reports whether other files can use an object: it is no variable or type of
// a function.
func isShared(object types.Object) bool {
	if variable, ok := object.(*types.Var); ok && variable.IsField() {
		return true
	}
	if function, ok := object.(*types.Func); ok && function.Signature().Recv() != nil {
		return true
	}
	return object.Parent() == object.Pkg().Scope()
}
