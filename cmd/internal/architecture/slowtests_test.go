package architecture

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
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
			test, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(test.Name.Name, "Test") && !strings.HasPrefix(test.Name.Name, "Fuzz") || !leavesOut(test) {
				continue
			}
			sampled++
			if !slices.ContainsFunc(soaked[dir], func(r *regexp.Regexp) bool { return r.MatchString(test.Name.Name) }) {
				t.Errorf("%s of %s takes a sample, and \"make soak\" does not run it: add it to a line of %s in the Makefile", test.Name.Name, dir, dir)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if sampled < 10 {
		t.Errorf("%d tests take a sample: they are not found", sampled)
	}
}

// leavesOut reports whether a test asks package slowtest for a sample of its cases.
func leavesOut(test *ast.FuncDecl) bool {
	found := false
	ast.Inspect(test, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		from, ok := call.X.(*ast.Ident)
		found = found || ok && from.Name == "slowtest" && slices.Contains([]string{"InSample", "Soak", "Runs"}, call.Sel.Name)
		return true
	})
	return found
}
