package architecture

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// oldestKubectl is the minor version of the oldest supported kubectl, 1.26: it completes
// the commands of plugins (help page "configuration").
const oldestKubectl = 26

// sinceMinor has, of what messages use of kubectl itself, the minor version that brought it
// (CHANGELOG-1.x.md of Kubernetes); 0 is in all that there still are. Such as "auth whoami"
// (1.28), "wait --for=create" (1.31) would be too new.
var sinceMinor = map[string]int{
	"auth can-i": 0, "config use-context": 0, "delete": 0, "describe": 0, "edit": 0, "explain": 0, "get": 0, "label": 0,
	"patch": 0, "rollout restart": 15, "wait": 0,
	"--all-namespaces": 0, "-A": 14, "--for=delete": 0, "--show-managed-fields": 21, "--type": 0,
}

var (
	kubectlPart = regexp.MustCompile(`\bkubectl (?:(auth|config|rollout|create) )?([a-z][a-z-]*)([^"'` + "`" + `()]*)`)
	kubectlFlag = regexp.MustCompile(`(?:^|\s)(--for=[a-z]+|--[a-z-]+|-A\b)`)
)

// TestPrintedCommandsWorkWithAnOldKubectl reads all texts of the program: the kubectl
// features they use are in the table, and no newer than the oldest kubectl.
func TestPrintedCommandsWorkWithAnOldKubectl(t *testing.T) {
	used := map[string]string{}
	eachSource(t, append(slices.Clone(program), "cmd/piped-plugin"), func(path string, _ *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			literal, ok := node.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil || !kubectlVerb.MatchString(text) {
				return true
			}
			for _, match := range kubectlPart.FindAllStringSubmatch(text, -1) {
				verb := match[2]
				if match[1] != "" {
					verb = match[1] + " " + verb
				}
				if verb == "operator" {
					continue
				}
				used[verb] = path
				for _, flag := range kubectlFlag.FindAllStringSubmatch(match[3], -1) {
					used[flag[1]] = path
				}
			}
			return true
		})
	})
	for _, part := range slices.Sorted(maps.Keys(used)) {
		since, known := sinceMinor[part]
		switch {
		case !known:
			t.Errorf("%s prints a command with %q of kubectl; add a row with the version that brought it", used[part], part)
		case since > oldestKubectl:
			t.Errorf("%s prints a command with %q, which kubectl has since 1.%d; a user's may be 1.%d", used[part], part, since, oldestKubectl)
		}
	}
	for part := range sinceMinor {
		if used[part] == "" {
			t.Errorf("no message uses %q; delete its row", part)
		}
	}
}
