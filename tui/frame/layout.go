package frame

// mode is the size class of a window, which decides what is shown in parallel.
type mode int

// The modes, from the smallest window to the largest.
const (
	ModeNone   mode = iota // one line: too small
	ModeTiny               // reading only
	ModeSingle             // one pane at a time
	ModeDouble             // list and detail side by side
)

// The breakpoints, in cells.
const (
	MinWidth      = 40
	MinHeight     = 12
	ConfirmWidth  = 60
	ConfirmHeight = 20
	DoubleWidth   = 100
)

// Layout is how a window is divided into header, body and panes. Rows count
// from 0 at the top.
type Layout struct {
	Mode          mode
	Width, Height int
	Header        int // lines above the first separator
	BodyTop       int // row of the body's first line
	Body          int // lines of the body
	Left, Right   int // widths of the two panes; without two, left is all
}

// Arrange returns the layout of a window of that size, for a screen with or
// without tabs.
func Arrange(width, height int, tabs bool) Layout {
	l := Layout{Width: width, Height: height, Left: width}
	switch {
	case width < MinWidth || height < MinHeight:
		return l
	case width < ConfirmWidth || height < ConfirmHeight:
		l.Mode, l.Header, tabs = ModeTiny, 2, false
	case width < DoubleWidth:
		l.Mode, l.Header = ModeSingle, 1
	default:
		l.Mode, l.Header = ModeDouble, 2
		l.Left = max(36, min(90, width*52/120))
		l.Right = width - l.Left - 1
	}
	if tabs {
		l.Header++
	}
	l.BodyTop = l.Header + 1
	l.Body = height - l.BodyTop - 2 // separator and footer
	return l
}

// Narrow returns the layout with a narrower list, for a list of short names next to a
// detail pane of long lines.
func (l Layout) Narrow() Layout {
	if l.Mode == ModeDouble {
		l.Left = max(36, min(64, l.Width*44/120))
		l.Right = l.Width - l.Left - 1
	}
	return l
}

// Pane is one of the two panes: list or detail.
type Pane int

// The panes.
const (
	PaneList Pane = iota
	PaneDetail
)
