package tui

// mode is how much room there is.
type mode int

const (
	modeNone   mode = iota // one line: too small
	modeTiny               // reading only
	modeSingle             // one pane at a time
	modeDouble             // list and detail side by side
)

// The breakpoints, in cells.
const (
	minWidth, minHeight         = 40, 12
	confirmWidth, confirmHeight = 60, 20
	doubleWidth                 = 100
)

// layout divides a window. Rows count from 0 at the top.
type layout struct {
	mode          mode
	width, height int
	header        int // lines above the first separator
	bodyTop       int // row of the body's first line
	body          int // lines of the body
	left, right   int // widths of the two panes; without two, left is all
}

// arrange is the layout of a window, of a screen with or without tabs.
func arrange(width, height int, tabs bool) layout {
	l := layout{width: width, height: height, left: width}
	switch {
	case width < minWidth || height < minHeight:
		return l
	case width < confirmWidth || height < confirmHeight:
		l.mode, l.header, tabs = modeTiny, 2, false
	case width < doubleWidth:
		l.mode, l.header = modeSingle, 1
	default:
		l.mode, l.header = modeDouble, 2
		l.left = max(36, min(64, width*44/120))
		l.right = width - l.left - 1
	}
	if tabs {
		l.header++
	}
	l.bodyTop = l.header + 1
	l.body = height - l.bodyTop - 2 // separator and footer
	return l
}

type pane int

const (
	paneList pane = iota
	paneDetail
)
