package architecture

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// printedCommand is a command of this program in a text.
var printedCommand = regexp.MustCompile(`kubectl operator [a-z]`)

// TestCommandsAreMadeByOnePackage holds that what is printed to be pasted is made by
// preview/commandline, which quotes words and repeats the flags that decide. Pages of
// help have commands as text, k8s knows no other package, and rules have no release.
func TestCommandsAreMadeByOnePackage(t *testing.T) {
	looked := 0
	eachSource(t, program, func(path string, _ *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			looked++
			text, err := strconv.Unquote(literal.Value)
			page := strings.Contains(text, "\n") || strings.Contains(text, "kubectl operator help") || strings.Contains(text, "kubectl operator sandbox")
			if err == nil && printedCommand.MatchString(text) && !page && !strings.HasPrefix(path, "preview/rules/") {
				t.Errorf("%s: %q; commandline.Operator makes commands", path, text)
			}
			return true
		})
	})
	if looked < 1000 {
		t.Errorf("only %d texts were looked at", looked)
	}
}
