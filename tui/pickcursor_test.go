package tui

import "testing"

func TestTheRealCursorStandsOnTheSelectedPackageAndVersion(t *testing.T) {
	for _, size := range sizes {
		p, c := pickOf(t, demoShelf(t).options(), size[0], size[1])
		drive(p, c, "down", "down")
		onSelectedRow(t, sizeName(size)+" packages", p)
		drive(p, c, "enter", "end") // a version, not the facts above
		onSelectedRow(t, sizeName(size)+" versions", p)
	}
}

func TestALightTerminalIsDrawnLikeADarkOneWhileChoosing(t *testing.T) {
	pick, _ := pickOf(t, demoShelf(t).options(), 120, 36)
	sameOnEveryBackground(t, "CHOOSE", pick)
}
