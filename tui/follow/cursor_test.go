package follow

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

func TestTheRealCursorStandsOnTheSelectedObject(t *testing.T) {
	for _, size := range tuitest.Sizes {
		plan := tuitest.FreshPlan(t)
		f, c, _ := followOf(t, plan, size[0], size[1])
		happen(f, c, rolloutOf(plan)...)
		tuitest.OnSelectedRow(t, tuitest.SizeName(size)+" applying", f)
		tuitest.Drive(f, c, "down")
		tuitest.OnSelectedRow(t, tuitest.SizeName(size)+" applying, moved", f)
		happen(f, c, object(tuitest.DeployObject, record.StateReady, ""), result(0))
		tuitest.Drive(f, c, "end")
		tuitest.OnSelectedRow(t, tuitest.SizeName(size)+" done", f)
	}
}

func TestALightTerminalIsDrawnLikeADarkOneWhileApplying(t *testing.T) {
	follow, _, _ := followOf(t, tuitest.FreshPlan(t), 120, 36)
	tuitest.SameOnEveryBackground(t, "APPLYING", follow)
}
