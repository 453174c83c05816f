package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var namedFlag = regexp.MustCompile(`--[a-z][a-z-]+`)

// otherFlags are flags in messages that not every command with a plan of a
// release has, and why the message still names one that can be used.
var otherFlags = map[string]string{
	"--offline":            "only preview makes a plan without a cluster, and the message says to leave the flag out",
	"--receipt":            "asked for by uninstall --include-namespaces, which has it",
	"--include-namespaces": "about the plan that was made with it",
	"--type":               "of kubectl patch",
	"--cascade":            "of kubectl delete",
}

// A message of the gate, the apply and the planner may be about a plan of any command
// that makes one on content, so each flag that they name is one that all of these have,
// or stands behind the name of the command that has it.
func TestMessagesNameFlagsThatTheirCommandsHave(t *testing.T) {
	root := testRoot(t)
	has := map[string]map[string]bool{}
	walk(root, func(path string, cmd *cobra.Command) {
		has[path] = map[string]bool{}
		for _, name := range flagNames(cmd) {
			has[path][name] = true
		}
	})
	found := 0
	for _, dir := range []string{"install", "preview", "preview/engine", "preview/owners"} {
		for place, text := range literals(t, filepath.Join("..", "..", "..", dir)) {
			for _, at := range namedFlag.FindAllStringIndex(text, -1) {
				found++
				flag := text[at[0]:at[1]]
				ofCommand := func(word string) bool { return has[word][flag] }
				if slices.ContainsFunc(strings.Fields(text[:at[0]]), ofCommand) || otherFlags[flag] != "" {
					continue
				}
				for _, command := range []string{"install", "upgrade", "rollback"} {
					if !has[command][flag] {
						t.Errorf("%s: %q names %s, which %s does not have", place, text, flag, command)
					}
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d flags were found in messages: is this test still looking at them?", found)
	}
}

// literals are the texts of a package's Go files, by their place.
func literals(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Go files in %s: %v", dir, err)
	}
	out := map[string]string{}
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					out[set.Position(lit.Pos()).String()] = text
				}
			}
			return true
		})
	}
	return out
}

// flagNames are the flags of a command as they are typed.
func flagNames(cmd *cobra.Command) []string {
	names := map[string]bool{}
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.InheritedFlags()} {
		flags.VisitAll(func(f *pflag.Flag) { names["--"+f.Name] = true })
	}
	return slices.Sorted(maps.Keys(names))
}
