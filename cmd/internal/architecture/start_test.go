package architecture

import (
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// TestPackagesCompileNoExpressions holds what every command starts with to expressions
// that are compiled when they are used, and compiles each of them.
func TestPackagesCompileNoExpressions(t *testing.T) {
	compiled := 0
	eachSource(t, program, func(_ string, files *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				ast.Inspect(d, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok && calls(call, "regexp", "MustCompile") {
						t.Errorf("%s compiles an expression at each start: use lazyregexp.New", files.Position(n.Pos()))
					}
					_, function := n.(*ast.FuncLit)
					return !function
				})
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 || !calls(call, "lazyregexp", "New") && !calls(call, "", "expr") {
				return true
			}
			if text, ok := constant(call.Args[0]); ok {
				compiled++
				if _, err := regexp.Compile(text); err != nil {
					t.Errorf("%s: %v", files.Position(n.Pos()), err)
				}
			}
			return true
		})
	}, "k8s/sandbox", "tui/tuitest")
	if compiled < 100 {
		t.Errorf("%d expressions are found: the test looks past them", compiled)
	}
}

// calls reports whether an expression is a call of a function of a package, or of this
// one.
func calls(call *ast.CallExpr, pkg, name string) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return pkg == "" && f.Name == name
	case *ast.SelectorExpr:
		x, ok := f.X.(*ast.Ident)
		return ok && x.Name == pkg && f.Sel.Name == name
	}
	return false
}

// What packages may allocate before main runs, in bytes: for each of ours, and for all
// together; half of that are libraries linked for other reasons.
const (
	eachInit = 400 << 10
	ourInits = 1 << 20
	allInits = 10 << 20
)

// TestSlowStart counts what the program allocates before main runs. It is the same on
// each machine, unlike time: a package that parses a schema or compiles expressions at
// initialization shows at once.
func TestSlowStart(t *testing.T) {
	slowtest.Skip(t, "what needs the program built")
	built := filepath.Join(corpustest.Repository(t), "bin", "kubectl-operator")
	if _, err := os.Stat(built); err != nil {
		t.Skip("skipped: bin/kubectl-operator is not built; run make build")
	}
	cmd := exec.CommandContext(t.Context(), built, "version")
	// With GOGC package headroom reserves nothing, which is never touched and costs no time.
	cmd.Env = []string{"GODEBUG=inittrace=1", "GOGC=100", "HOME=" + t.TempDir()}
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, trace)
	}
	ours, all := 0, 0
	for line := range strings.Lines(string(trace)) {
		found := initLine.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		bytes, err := strconv.Atoi(found[2])
		if err != nil {
			t.Fatal(err)
		}
		all += bytes
		if strings.HasPrefix(found[1], module) {
			ours += bytes
			if bytes > eachInit {
				t.Errorf("%s allocates %d bytes before main runs, at most %d", found[1], bytes, eachInit)
			}
		}
	}
	t.Logf("%d bytes, of which ours %d", all, ours)
	if all == 0 || all > allInits || ours > ourInits {
		t.Errorf("packages allocate %d bytes before main runs, ours %d; at most %d and %d", all, ours, allInits, ourInits)
	}
}

var initLine = regexp.MustCompile(`^init (\S+) @.* ms clock, (\d+) bytes`)
