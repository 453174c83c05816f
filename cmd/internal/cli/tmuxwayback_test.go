package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
)

// CONFIRM and the findings show the effect of a failure; a rollback is reviewed and
// approved on the screen like an install.
func TestTerminalWayBackOnTheScreen(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "tests in a terminal")
	p := newPane(t, 120, 36, "KUBECONFIG="+sandboxtest.Borrow(t).Kubeconfig())
	for _, version := range []string{"one", "two"} {
		dir := filepath.Join(p.dir, version)
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {mode: " + version + "}\n"
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	approve := func() {
		t.Helper()
		p.typeName("y") // nothing here must be looked at
		p.keys("Enter")
		p.wait("DONE")
		p.keys("q")
		p.wait("exit=0")
		p.sane()
		p.run("clear")
		p.until("an empty screen", func(s string) bool { return !strings.Contains(s, "exit=") })
	}
	p.run("kubectl-operator install ./one app --on-failure rollback; echo exit=$?")
	p.wait("CRITICAL")
	p.keys("a")
	if screen := p.wait("Nothing has been changed yet."); !strings.Contains(screen, "a failure   removes what it created automatically") {
		t.Errorf("CONFIRM does not say what a failure leads to:\n%s", screen)
	}
	approve()
	p.run("kubectl-operator upgrade app ./two --on-failure rollback; echo exit=$?")
	p.wait("CRITICAL")
	p.keys("2")
	p.wait("the record of revision 1 is not verified")
	p.keys("j") // past the group, to the finding below it
	p.wait("a failure goes back to revision 1: 1 update")
	p.keys("a")
	if screen := p.wait("Nothing has been changed yet."); !strings.Contains(screen, "a failure   rolls back to revision 1 automatically") {
		t.Errorf("CONFIRM does not say what a failure leads to:\n%s", screen)
	}
	approve()
	p.run("kubectl-operator rollback app; echo exit=$?")
	p.wait("CRITICAL")
	p.keys("a")
	p.wait("Nothing has been changed yet.")
	approve()
	p.run("kubectl-operator status app; kubectl-operator history app; echo exit=$?")
	if screen := p.wait("exit=0"); !strings.Contains(screen, "revision 3 applied") || !strings.Contains(screen, "screen") {
		t.Errorf("after the rollback:\n%s", screen)
	}
}
