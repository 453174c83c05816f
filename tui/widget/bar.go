package widget

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// Bar returns a progress bar of width cells, with the percentage at its end.
func Bar(done, total, width int) Line {
	percent := Percent(done, total)
	label := fmt.Sprintf("  %d%%", percent)
	room := max(0, width-len(label)-2)
	filled := room * percent / 100
	return Line{
		Text(theme.Plain, "["),
		Text(theme.Change, strings.Repeat("#", filled)),
		Text(theme.Plain, strings.Repeat("-", room-filled)+"]"+label),
	}
}

// Percent returns done of total in whole percents. It is 100 only if all is done.
func Percent(done, total int) int {
	if total <= 0 || done <= 0 {
		return 0
	}
	return min(100, done*100/total)
}
