package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
)

// command returns the command on the screen that follows a word, with the lines joined
// that the terminal broke.
func (p *pane) command(after string) string {
	p.t.Helper()
	screen := p.tmux("capture-pane", "-p", "-J")
	found := regexp.MustCompile(regexp.QuoteMeta(after) + ` +(kubectl operator .*)`).FindStringSubmatch(screen)
	if found == nil {
		p.t.Fatalf("no command after %q:\n%s", after, screen)
	}
	return strings.TrimSpace(found[1])
}

// asKubectl lets the shell of a pane run this program as a plugin of kubectl.
func (p *pane) asKubectl() { p.run(`kubectl() { shift; kubectl-operator "$@"; }`) }

// TestTerminalCommandsOfScreens carries out the commands that screens name: the review
// that was left, the end of an apply, and the list of releases. The kubeconfig's own
// context is of a cluster that is not there.
func TestTerminalCommandsOfScreens(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "tests in a terminal")
	p := newPane(t, 160, 40, "KUBECONFIG="+elsewhere(t, sandboxtest.Borrow(t).Kubeconfig()))
	for _, version := range []string{"one", "two"} {
		dir := filepath.Join(p.dir, version)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(strings.Replace(refusalFiles["one/a.yaml"], "key: one", "key: "+version, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.asKubectl()
	const flags = " -n app --context kubectl-operator-sandbox"
	// approved opens a review, approves it, and returns two commands of the end, each as
	// the screen and what stays on the terminal have it.
	approved := func(line string) (status, back string) {
		t.Helper()
		p.cleared(line)
		p.wait("CRITICAL")
		p.keys("a")
		p.wait("Nothing has been changed yet.")
		p.typeName("y")
		p.keys("Enter")
		p.wait("DONE")
		status, back = p.command("status"), p.command("rollback")
		p.keys("q")
		p.wait("exit=0")
		if left := p.command("status"); left != status {
			t.Errorf("what stays has %q, the screen %q", left, status)
		}
		if left := p.command("rollback"); left != back {
			t.Errorf("what stays has %q, the screen %q", left, back)
		}
		return status, back
	}
	p.cleared("kubectl operator install ./one app" + flags)
	p.wait("CRITICAL")
	p.keys("q")
	p.wait("exit=2")
	status, _ := approved(p.command("review again"))
	p.cleared(status)
	p.wait("exit=0")
	_, back := approved("kubectl operator upgrade app ./two" + flags)
	status, back = approved(back)
	p.cleared(status)
	p.wait("exit=0")

	// The list of releases shows the command of a row, and runs it with the same flags.
	p.cleared("kubectl operator --context kubectl-operator-sandbox")
	p.wait("healthy")
	p.keys("Enter")
	p.wait("upgrade")
	p.keys("Down", "Down")
	const listed = "kubectl operator status app -n app --context=kubectl-operator-sandbox"
	p.wait(listed)
	p.keys("Enter")
	p.wait("$ " + listed)
	p.wait("exit=0")

	// The last apply is undone by the command that its screen showed.
	p.cleared(back + " --yes")
	p.wait("exit=0")
	p.sane()
}
