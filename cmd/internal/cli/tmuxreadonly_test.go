package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// A plan that is only looked at is on the same screen, without the question.
func TestTerminalPreviewAndShowOnTheScreen(t *testing.T) {
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
			screen := p.wait("CRITICAL")
			if !strings.Contains(screen, "PREVIEW") || !strings.Contains(screen, "read only") {
				t.Errorf("the screen does not say that it only shows:\n%s", screen)
			}
			p.fits(120, 36)
			p.keys("a")
			p.wait("nothing can be approved here")
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
