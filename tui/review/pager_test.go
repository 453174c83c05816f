package review

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

func TestWithoutAPagerTheScreenSaysHowToNameOne(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	tuitest.Drive(m, c, "4", "down", "o")
	if m.notice != frame.NoPager {
		t.Errorf("it says %q", m.notice)
	}
	m.opts.Pager = []string{"less"}
	tuitest.Drive(m, c, "3", "home", "up", "1", "end", "o")
	if m.notice != "this line is not about a single object" {
		t.Errorf("it says %q", m.notice)
	}
}
