package pick

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

func TestTheRealCursorStandsOnTheSelectedPackageAndVersion(t *testing.T) {
	for _, size := range tuitest.Sizes {
		p, c := pickOf(t, demoShelf(t).options(), size[0], size[1])
		tuitest.Drive(p, c, "down", "down")
		tuitest.OnSelectedRow(t, tuitest.SizeName(size)+" packages", p)
		tuitest.Drive(p, c, "enter", "end") // a version, not the facts above
		tuitest.OnSelectedRow(t, tuitest.SizeName(size)+" versions", p)
	}
}

func TestALightTerminalIsDrawnLikeADarkOneWhileChoosing(t *testing.T) {
	pick, _ := pickOf(t, demoShelf(t).options(), 120, 36)
	tuitest.SameOnEveryBackground(t, "CHOOSE", pick)
}
