package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Without a command a terminal shows what is installed and how to begin; without a
// terminal it is the help.
func TestTerminalHomeWithoutACluster(t *testing.T) {
	t.Parallel()
	p := newPane(t, 80, 24, "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	if err := os.CopyFS(filepath.Join(p.dir, "bundle"), os.DirFS(filepath.Join(root(t), "testdata", "bundles", "mongodb", "1.11.0"))); err != nil {
		t.Fatal(err)
	}
	p.cleared("kubectl-operator")
	p.wait("no kubeconfig")
	p.wait("BEGIN")
	p.fits(80, 24)
	p.keys("Enter") // the first way that there is without a cluster
	p.wait("review:")
	p.text("./bundle")
	p.keys("Enter")
	p.wait("CRITICAL")
	p.keys("q")
	p.wait("exit=0")
	p.wait("$ kubectl operator preview ./bundle --offline --tui")
	p.sane()
	p.cleared("kubectl-operator")
	p.wait("BEGIN")
	p.keys("q")
	p.wait("exit=0")
	p.sane()
	p.cleared("CI=1 kubectl-operator install ./bundle")
	p.wait("CI is set, so that nothing is asked: review with")
	p.cleared("CI=1 kubectl-operator")
	p.wait("exit=0")
	if screen := p.screen(); !strings.Contains(screen, "kubectl operator COMMAND --help") {
		t.Errorf("no help where nothing can be asked:\n%s", screen)
	}
}

func TestTerminalHomeShowsReleases(t *testing.T) {
	t.Parallel()
	p := installer(t, 120, 36)
	p.run("kubectl-operator catalog add demo ./cat && kubectl-operator preview mongodb --channel candidate --version 1.10.0 --plain-http --out plan.tgz > preview.txt; " +
		"kubectl-operator install --plan plan.tgz --yes --no-wait --plain-http > install.txt; echo exit=$?")
	p.wait("exit=0")
	p.cleared("kubectl-operator")
	p.wait("healthy")
	p.fits(120, 36)
	p.keys("Enter")
	p.wait("upgrade")
	p.keys("Down", "Down")
	p.until("the command of status", func(s string) bool { return strings.Contains(s, "kubectl operator status mongodb -n mongodb") })
	p.keys("Enter")
	p.wait("$ kubectl operator status mongodb -n mongodb")
	p.wait("objects ready")
	p.sane()
}
