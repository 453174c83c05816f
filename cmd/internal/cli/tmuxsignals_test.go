package cli_test

import (
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// TestTerminalStoppingInMidApplyOnTheScreen stops an apply at the screen while a write
// is under way. ctrl+c asks first; the write under way is finished, and the same
// digest goes on. Signals are in TestTerminalHoweverAnApplyOnTheScreenEnds.
func TestTerminalStoppingInMidApplyOnTheScreen(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(p *pane){
		"s after ctrl+c": func(p *pane) { p.keys("C-c"); p.wait("stop after"); p.keys("s") },
		"ctrl+c twice":   func(p *pane) { p.keys("C-c"); p.wait("stop after"); p.keys("C-c") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := installer(t, 120, 36)
			reached, release := make(chan struct{}), make(chan struct{})
			var once sync.Once
			proxy := sandboxtest.NewProxy(t, p.box.Kubeconfig(), sandboxtest.ProxyOptions{Fault: func(r sandboxtest.Request) sandboxtest.Fault {
				if r.Persists() && strings.Contains(r.Path, "/serviceaccounts/") {
					once.Do(func() { close(reached) })
					return sandboxtest.Fault{Hold: release}
				}
				return sandboxtest.Fault{}
			}})
			p.run("export KUBECONFIG=" + proxy.Kubeconfig + "; clear")
			p.run(installCandidate)
			p.wait("CRITICAL")
			p.keys("a", "Space", "a")
			p.wait("Nothing has been changed yet.")
			p.typeName("mongodb")
			p.keys("Enter")
			<-reached
			p.wait("APPLYING")
			stop(p)
			close(release)
			p.wait("q leave") // the report stays on the screen to be read
			p.keys("q")
			screen := p.wait("exit=4")
			for _, want := range []string{"not applied", "--approve sha256:"} {
				if !strings.Contains(strings.ReplaceAll(screen, "\n", " "), want) {
					t.Errorf("the summary lacks %q:\n%s", want, screen)
				}
			}
			p.sane()
			p.run("clear; kubectl-operator status mongodb; echo exit=$?")
			if screen := p.wait("exit=3"); !strings.Contains(screen, "applying") {
				t.Errorf("the status does not say that it is applying:\n%s", screen)
			}
		})
	}
}

// installing returns the process that this pane's shell runs, not another pane's or
// another test run's.
func (p *pane) installing() string {
	p.t.Helper()
	shell := strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_pid}"))
	out, err := exec.Command("pgrep", "-P", shell, "-f", "kubectl-operator install").Output()
	if err != nil {
		p.t.Fatalf("the program is not running: %v", err)
	}
	return strings.Fields(string(out))[0]
}
