package cli_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// The review in lines on a real terminal: no screen is switched to, and however
// it is left the shell is as it was.
func TestTerminalInstallInLinesOnATerminal(t *testing.T) {
	t.Parallel()
	p := installer(t, 120, 200)
	command := "kubectl-operator install mongodb --catalog ./cat --channel candidate --plain-http --plain; echo exit=$?"
	for name, leave := range map[string]func(){
		"q":                     func() { p.run("q") },
		"the end of input":      func() { p.keys("C-d") },
		"ctrl+c":                func() { p.keys("C-c") },
		"SIGTERM":               func() { sendSignal(p.t, "-TERM", p.installing()) },
		"SIGHUP":                func() { sendSignal(p.t, "-HUP", p.installing()) },
		"ctrl+d after the name": func() { p.text("mongodb"); p.keys("C-d", "C-d") },
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			p.run("clear; " + command)
			p.wait("q quit:")
			if on := strings.TrimSpace(p.tmux("display-message", "-p", "#{alternate_on}")); on != "0" {
				t.Error("it switched to the alternate screen")
			}
			leave()
			screen := p.wait("exit=2")
			if !strings.Contains(strings.ToLower(screen), "nothing was applied") {
				t.Errorf("nobody says that nothing was applied:\n%s", screen)
			}
			p.sane()
			p.run("clear")
			p.until("an empty screen", func(s string) bool { return !strings.Contains(s, "exit=") })
		})
	}
	p.t = t
	if made := sandboxtest.Mutations(t, p.box, sandboxtest.Admin); len(made) > 1 { // the sandbox's own node
		t.Errorf("%d requests were persisted: %v", len(made), made)
	}
	p.run("clear; TERM=dumb " + strings.Replace(command, " --plain;", ";", 1))
	p.wait("q quit:")
	p.run("a")
	p.wait("Press enter when you have read this")
	p.keys("Enter")
	p.wait("0 critical left to review")
	p.run("a")
	p.wait("Type mongodb to approve")
	p.run("mongodb")
	p.wait("exit=0")
	p.sane()
}
