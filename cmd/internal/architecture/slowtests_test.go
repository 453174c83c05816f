package architecture

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// TestShortIsAskedInOnePlace holds tests that -short leaves out to package
// slowtest, which holds them to a name: a slow test with another name would run
// in the first part of "make test", without what it needs.
func TestShortIsAskedInOnePlace(t *testing.T) {
	root := corpustest.Repository(t)
	asked := "testing" + ".Short()"
	var places []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(data, []byte(asked)) {
			below, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			places = append(places, filepath.ToSlash(below))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "k8s/sandbox/slowtest/slowtest.go"; len(places) != 1 || places[0] != want {
		t.Errorf("%s is asked in %v, want %s alone: call slowtest.Skip or slowtest.Short", asked, places, want)
	}
}

// soakLine is a line of "make soak", with the pattern of its tests and their packages.
var soakLine = regexp.MustCompile(`\$\(SOAK\) .*-run '?([^' ]+)'? (.*)`)

// TestSoakRunsWholeWhatIsSampled holds "make soak" to every test that leaves cases out of
// the usual run.
func TestSoakRunsWholeWhatIsSampled(t *testing.T) {
	root := corpustest.Repository(t)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	soaked := map[string][]*regexp.Regexp{} // by package
	for _, line := range soakLine.FindAllStringSubmatch(string(makefile), -1) {
		top, _, _ := strings.Cut(line[1], "/") // what follows is the pattern of its subtests
		for _, dir := range strings.Fields(line[2]) {
			soaked[dir] = append(soaked[dir], regexp.MustCompile(top))
		}
	}
	sampled := 0
	for dir, all := range testFunctions(t) {
		for name := range asking(all, "InSample", "Soak", "Runs", "Turn") {
			if !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") {
				continue
			}
			sampled++
			if !slices.ContainsFunc(soaked[dir], func(r *regexp.Regexp) bool { return r.MatchString(name) }) {
				t.Errorf("%s of %s takes a sample, and \"make soak\" does not run it: add it to a line of %s in the Makefile", name, dir, dir)
			}
		}
	}
	if sampled < 10 {
		t.Errorf("%d tests take a sample: they are not found", sampled)
	}
}

// TestShortLeavesOutWhatIsSlow holds tests that are named after taking long to asking for
// it: -short would run them whole.
func TestShortLeavesOutWhatIsSlow(t *testing.T) {
	slow := 0
	for dir, all := range testFunctions(t) {
		asks := asking(all, "Skip", "Short")
		for _, function := range all {
			name := function.Name.Name
			if !strings.HasPrefix(name, "TestSlow") {
				continue
			}
			if slow++; !asks[name] {
				t.Errorf("%s of %s runs whole with -short: call slowtest.Skip, or slowtest.Short and try fewer cases", name, dir)
			}
		}
	}
	if slow < 20 {
		t.Errorf("%d tests take long: they are not found", slow)
	}
}

// testFunctions returns the functions of tests, by package.
func testFunctions(t *testing.T) map[string][]*ast.FuncDecl {
	t.Helper()
	functions := map[string][]*ast.FuncDecl{}
	root := corpustest.Repository(t)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		dir := "./" + filepath.ToSlash(below)
		for _, decl := range file.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && function.Recv == nil {
				functions[dir] = append(functions[dir], function)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return functions
}

// asking returns the names of those functions of a package that call one of these
// functions of package slowtest, or a function that does.
func asking(functions []*ast.FuncDecl, asked ...string) map[string]bool {
	found := map[string]bool{}
	for before := -1; before < len(found); {
		before = len(found)
		for _, function := range functions {
			ast.Inspect(function.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					from, ok := n.X.(*ast.Ident)
					if ok && from.Name == "slowtest" && slices.Contains(asked, n.Sel.Name) {
						found[function.Name.Name] = true
					}
				case *ast.CallExpr:
					if called, ok := n.Fun.(*ast.Ident); ok && found[called.Name] {
						found[function.Name.Name] = true
					}
				}
				return true
			})
		}
	}
	return found
}

// A test whose cases are chosen by a function next to it takes a sample, too.
func TestASampleOfAnotherFunctionIsFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "a_test.go", `package a
func TestAll(t *testing.T) { all() }
func TestSome(t *testing.T) { for range some() {} }
func TestOne(t *testing.T) { if slowtest.Soak() {} }
func TestOther(t *testing.T) { other.InSample(1, 2); x.some() }
func some() []int { return few() }
func few() []int { if slowtest.InSample(1, 2) {}; return nil }
func all() {}
`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var functions []*ast.FuncDecl
	for _, decl := range file.Decls {
		functions = append(functions, decl.(*ast.FuncDecl))
	}
	want := map[string]bool{"TestSome": true, "TestOne": true, "some": true, "few": true}
	if got := asking(functions, "InSample", "Soak", "Runs", "Turn"); !maps.Equal(got, want) {
		t.Errorf("a sample is taken by %v, want %v", got, want)
	}
}
