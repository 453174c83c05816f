package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli/help"
)

var update = flag.Bool("update", false, "rewrite generated parts of documents")

// documents returns the texts for people, other than --help, by name.
func documents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, topic := range help.Topics() {
		out["help "+topic.Name] = topic.Text
	}
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", ".github", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, filepath.Join("..", "..", "..", "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(path)] = string(text)
	}
	return out
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```")
	codeSpan  = regexp.MustCompile("`([^`]+)`")
	comment   = regexp.MustCompile(`(?m)\s#.*$`)
	command   = regexp.MustCompile(`(?m)^ *kubectl[ -]operator [^ ].*$`)
)

// plain takes the quotes off, and gives variables values that parse.
var plain = strings.NewReplacer(`"`, "", "$RULESET", "5")

// Every call of the program in a document is one that the program takes.
func TestEveryCallInTheDocumentsParses(t *testing.T) {
	calls := 0
	for name, text := range documents(t) {
		t.Run(name, func(t *testing.T) {
			var code strings.Builder
			for _, block := range codeBlock.FindAllStringSubmatch(text, -1) {
				code.WriteString(strings.ReplaceAll(block[1], "\\\n", " ") + "\n")
			}
			for _, span := range codeSpan.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
				code.WriteString(strings.ReplaceAll(span[1], "\n", " ") + "\n")
			}
			lines := command.FindAllString(plain.Replace(comment.ReplaceAllString(code.String(), "")), -1)
			for _, args := range exampleCalls(strings.Join(lines, "\n")) {
				calls++
				parseExample(t, args)
			}
		})
	}
	if calls < 40 {
		t.Errorf("%d calls in all documents: they are not found", calls)
	}
}

// public are the registries, catalogs and charts that examples name: they exist, and a
// reader can paste what names them. example.com is what a reader has instead: a
// registry for plans or of signed packages, or a server of a host of plugins.
var (
	public = []string{
		"quay.io/operatorhubio/catalog", "quay.io/operatorhubio/argocd-operator", "registry.redhat.io/redhat/community-operator-index",
		"chart+https://charts.jetstack.io/cert-manager",
	}
	ownPlace = []string{"oci://registry.example.com/plans/", "registry.example.com/bundles/mongodb:v1.10.0 --verify-key", "https://optimus.example.com/", "https://files.example.com/mongodb/", "git+https://git.example.com/", "https://git.example.com/policies/", "git@git.example.com"}
	hosted   = regexp.MustCompile(`[ '"=][a-z0-9+]*(?:://)?[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:io|com|org|dev)(?::\d+)?/[^ ]+`)
)

func TestExamplesNameWhatExists(t *testing.T) {
	texts := documents(t)
	eachCommand(testRoot(t), func(c *cobra.Command) { texts[c.CommandPath()+" --help"] = "```\n" + c.Example + "\n```\n" })
	found := 0
	for name, text := range texts {
		for _, block := range codeBlock.FindAllStringSubmatch(text, -1) {
			for _, line := range command.FindAllString(block[1], -1) {
				for _, at := range hosted.FindAllStringIndex(line, -1) {
					place := line[at[0]:]
					found++
					named := func(known string) bool { return strings.HasPrefix(place[1:], known) }
					if !slices.ContainsFunc(public, named) && !slices.ContainsFunc(ownPlace, named) {
						t.Errorf("%s: %q is not known to exist", name, place)
					}
				}
			}
		}
	}
	if found < 12 {
		t.Errorf("%d references in all examples: they are not found", found)
	}
}

func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, below := range c.Commands() {
		eachCommand(below, visit)
	}
}

func TestTheReadmeIsShortAndListsTheTopics(t *testing.T) {
	path := filepath.Join("..", "..", "..", "README.md")
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(readme), "\n"); n > 250 {
		t.Errorf("README.md has %d lines, at most 250 are read", n)
	}
	const head = "| topic | about |\n| --- | --- |\n"
	var want strings.Builder
	for _, topic := range help.Topics() {
		fmt.Fprintf(&want, "| [%s](cmd/internal/cli/help/%[1]s.md) | %s |\n", topic.Name, topic.Summary)
	}
	before, rest, found := strings.Cut(string(readme), head)
	rows, after, _ := strings.Cut(rest, "\n\n")
	switch rows += "\n"; {
	case !found:
		t.Fatalf("README.md has no table %q", head)
	case rows == want.String():
	case *update:
		if err := os.WriteFile(path, []byte(before+head+want.String()+"\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the topics in README.md are not those of the manual; run go test -update. Want:\n%s", want.String())
	}
}

func TestHelp(t *testing.T) {
	tests := []struct {
		name string
		args []string
		code int
		out  string
		err  string
	}{
		{"of the program lists commands and topics", nil, exitDone, "\n  exit-codes ", ""},
		{"of a command is its own", []string{"plugin", "install"}, exitDone, "kubectl operator plugin install", ""},
		{"of a topic is its page", []string{"exit-codes"}, exitDone, "interrupted, detached or timed out", ""},
		{"of what is nearly a topic names it", []string{"sourcs"}, exitError, "", "there is the topic sources"},
		{"of what there is not says where they are listed", []string{"nothing", "of", "this"}, exitError, "", "kubectl operator help lists them"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := runMain(t, append([]string{"help"}, tt.args...)...)
			if code != tt.code || !strings.Contains(stdout, tt.out) || !strings.Contains(stderr, tt.err) {
				t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
			}
		})
	}
	offered := completions(t, "help", "")
	if !slices.Contains(offered, "install") || !slices.Contains(offered, "sources") {
		t.Errorf("completion offers %q", offered)
	}
	if offered := completions(t, "help", "plugin", ""); !slices.Contains(offered, "clean") || slices.Contains(offered, "sources") {
		t.Errorf("completion of a group of commands offers %q", offered)
	}
}
