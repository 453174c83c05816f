package cli_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// upgradeAnswers are what an upgrade would do, and how its first screen says so.
type upgradeAnswers struct {
	Package string `json:"package"`
	From    string `json:"from"`
	To      string `json:"to"`
	Answers []struct {
		Does   string `json:"does"`
		Shown  string `json:"shown"`
		Absent string `json:"absent"`
	} `json:"answers"`
}

// The digest of a plan follows from the version of the program's rules.
var planDigest = regexp.MustCompile(`plan [0-9a-f]{4}…[0-9a-f]{4}`)

// TestTerminalTheFirstScreenSaysWhatAnUpgradeWouldDo looks at upgrades of real packages
// in a terminal of 80x24, and asks of the first screen what was found out by hand.
func TestTerminalTheFirstScreenSaysWhatAnUpgradeWouldDo(t *testing.T) {
	t.Parallel()
	p := newPane(t, 80, 24, "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	bundles, golden := corpustest.Dir(t, "bundles"), filepath.Join(root(t), "testdata", "upgrades")
	raw, err := os.ReadFile(filepath.Join(golden, "answers.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var upgrades []upgradeAnswers
	if err := yaml.UnmarshalStrict(raw, &upgrades); err != nil {
		t.Fatal(err)
	}
	for _, u := range upgrades {
		t.Run(u.Package, func(t *testing.T) {
			p.t = t
			dir := filepath.Join(bundles, u.Package)
			p.run("cd " + dir + "; clear; kubectl-operator preview ./" + u.To + " --against ./" + u.From + " --offline --tui; echo exit=$?")
			p.wait("enter open")
			screen := planDigest.ReplaceAllString(p.screen(), "plan xxxx…xxxx")
			p.keys("q")
			p.wait("exit=0")
			checkUpgradeFrame(t, filepath.Join(golden, u.Package+".golden"), screen)
			words := strings.Join(strings.Fields(screen), " ")
			for _, answer := range u.Answers {
				if !strings.Contains(words, answer.Shown) {
					t.Errorf("the first screen does not say that %s: %q is not on it\n%s", answer.Does, answer.Shown, screen)
				}
				if answer.Absent != "" && strings.Contains(words, answer.Absent) {
					t.Errorf("%s, and the first screen says %q\n%s", answer.Does, answer.Absent, screen)
				}
			}
		})
	}
}

func checkUpgradeFrame(t *testing.T, path, screen string) {
	t.Helper()
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(path, []byte(screen), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != screen {
		t.Errorf("the first screen differs from %s; rewrite it with -update if that is meant. It is\n%s", path, screen)
	}
}
