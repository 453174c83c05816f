package cli_test

import (
	"strings"
	"testing"
)

// A person reviews, goes back, approves, sees the rollout get nowhere, and
// leaves it running: status says where it stands.
func TestTerminalFailingRolloutIsLeftRunning(t *testing.T) {
	t.Parallel()
	p := installer(t, 120, 36)
	// A pod that no node takes may be taken later: nothing but the person ends this.
	p.faulty("pending")
	resize := func(marker string) {
		p.tmux("resize-window", "-x", "40", "-y", "12")
		p.until("a screen of 40 columns", func(s string) bool {
			return strings.HasPrefix(s, " faulty") || strings.Contains(s, "bigger window")
		})
		p.fits(40, 12)
		p.tmux("resize-window", "-x", "120", "-y", "36")
		p.wait(marker)
		p.fits(120, 36)
	}
	p.run("kubectl-operator install ./faulty; echo exit=$?")
	p.wait("REVIEW")
	resize("REVIEW")
	p.keys("a")
	p.wait("You are about to change")
	resize("You are about to change")
	p.press("Escape", "REVIEW")
	p.keys("a")
	p.wait("You are about to change")
	p.wait("and press enter to approve")
	p.press("y", "> y")
	p.keys("Enter")
	p.wait("Deployment faulty/faulty")
	resize("Deployment faulty/faulty")
	p.keys("C-c")
	p.wait("stop what?")
	p.keys("d")
	if strings.Contains(p.until("the end", func(s string) bool {
		return strings.Contains(s, "exit=4") || strings.Contains(s, "q leave")
	}), "q leave") {
		p.keys("q")
	}
	p.wait("exit=4")
	p.sane()
	p.run("clear; kubectl-operator status faulty; echo exit=$?")
	if screen := p.wait("exit=3"); !strings.Contains(screen, "DEGRADED") {
		t.Errorf("the status does not say that it is not healthy:\n%s", screen)
	}
}
