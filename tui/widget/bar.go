package widget

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// Bar is a determinate progress bar, width cells wide with its percentage.
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

// Percent is done of total in whole percents; it is 100 only when all is done.
func Percent(done, total int) int {
	if total <= 0 || done <= 0 {
		return 0
	}
	return min(100, done*100/total)
}
