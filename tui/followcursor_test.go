package tui

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
)

func TestTheRealCursorStandsOnTheSelectedObject(t *testing.T) {
	for _, size := range sizes {
		plan := freshPlan(t)
		f, c, _ := followOf(t, plan, size[0], size[1])
		happen(f, c, rolloutOf(plan)...)
		onSelectedRow(t, sizeName(size)+" applying", f)
		drive(f, c, "down")
		onSelectedRow(t, sizeName(size)+" applying, moved", f)
		happen(f, c, object(deployObject, install.StateReady, ""), result(0))
		drive(f, c, "end")
		onSelectedRow(t, sizeName(size)+" done", f)
	}
}

func TestALightTerminalIsDrawnLikeADarkOneWhileApplying(t *testing.T) {
	follow, _, _ := followOf(t, freshPlan(t), 120, 36)
	sameOnEveryBackground(t, "APPLYING", follow)
}
