package cli_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A plan that is only looked at is on the same screen, without the question.
func TestTerminalPreviewAndShowOnTheScreen(t *testing.T) {
	t.Parallel()
	p := newPane(t, 120, 36, "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	bundle := filepath.Join(root(t), "testdata", "bundles", "mongodb", "1.11.0")
	p.run("kubectl-operator preview " + bundle + " --offline --out plan.tgz >/dev/null; echo saved=$?")
	p.wait("saved=0")
	for name, command := range map[string]string{
		"preview": "kubectl-operator preview " + bundle + " --offline --tui",
		"show":    "kubectl-operator show plan.tgz --tui",
		"in CI":   "CI=true kubectl-operator show plan.tgz --tui",
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			p.run("clear; " + command + "; echo exit=$?")
			p.wait("CRITICAL")
			screen := p.wait("read only") // the footer, which is drawn last
			if !strings.Contains(screen, "PREVIEW") {
				t.Errorf("the screen does not say that it only shows:\n%s", screen)
			}
			p.fits(120, 36)
			p.keys("a")
			p.wait("nothing can be approved here")
			p.keys("v")
			p.wait("v does nothing here: ? lists the keys")
			p.keys("4", "?")
			p.wait("This screen")
			p.keys("q") // closes the help
			p.wait("[4 Objects")
			p.keys("q")
			p.wait("exit=0")
			p.sane()
		})
	}
}

// A window that grew while the review was on it has nothing left of it afterwards.
func TestTerminalLeavingAGrownWindowLeavesNothing(t *testing.T) {
	t.Parallel()
	p := newPane(t, 80, 24, "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	p.run("clear; kubectl-operator preview " + filepath.Join(root(t), "testdata", "bundles", "mongodb", "1.11.0") + " --offline --tui; echo exit=$?")
	p.wait("read only")
	p.tmux("resize-window", "-x", "120", "-y", "36")
	p.until("the review in 120 columns", func(screen string) bool { return strings.Contains(screen, "[1 Summary]") })
	p.keys("q")
	screen := p.wait("exit=0")
	for _, line := range strings.Split(screen, "\n") {
		if strings.Contains(line, "─") || strings.Contains(line, "Summary") || strings.Contains(line, "mongodb 1.11.0") {
			t.Fatalf("the window still has %q:\n%s", line, screen)
		}
	}
}

// The pager has the terminal until it ends. It is shown what the screen shows, in a
// file of the user alone that is gone afterwards.
func TestTerminalThePagerShowsYAMLAndDiffs(t *testing.T) {
	t.Parallel()
	p := newPane(t, 120, 36, "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	p.file("pager", "echo paged; echo \"$1\" >file; stat -c 'mode %a' \"$1\" \"$(dirname \"$1\")\"; head -n 12 \"$1\"; echo leave; read key\n")
	p.file("objects/all.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: keys\nstringData:\n  password: hunter22\n")
	p.run("clear; PAGER=\"sh $PWD/pager\" kubectl-operator preview ./objects --offline --tui; echo exit=$?")
	p.wait("read only")
	for _, keys := range [][]string{{"4", "G", "o"}, {"4", "G", "e", "o"}, {"5", "G", "o"}} {
		p.keys(keys...)
		screen := p.wait("\nleave")
		if !strings.Contains(screen, "paged") || strings.Contains(screen, "hunter22") || strings.Contains(screen, "aHVudGVyMjI") || !strings.Contains(screen, "mode 600") || !strings.Contains(screen, "mode 700") {
			t.Errorf("after %v the pager shows:\n%s", keys, screen)
		}
		p.keys("Enter")
		p.wait("read only")
		file, err := os.ReadFile(filepath.Join(p.dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Dir(strings.TrimSpace(string(file)))); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after %v the file of the pager is still there: %v", keys, err)
		}
	}
	p.keys("q")
	p.wait("exit=0")
	p.sane()
}

// file writes a file below the directory of the shell.
func (p *pane) file(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}
