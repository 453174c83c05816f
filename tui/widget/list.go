package widget

// List is a cursor over rows of which some cannot be selected, and a window
// onto them. The rows themselves stay with the caller.
type List struct {
	Cursor int // index of the selected row, -1 when none can be
	Top    int // index of the first visible row
}

// Move puts the cursor on the delta-th selectable row from here.
func (l *List) Move(delta, rows int, selectable func(int) bool) {
	step := 1
	if delta < 0 {
		step, delta = -1, -delta
	}
	at := l.Cursor
	for ; delta > 0; delta-- {
		next := at + step
		for next >= 0 && next < rows && !selectable(next) {
			next += step
		}
		if next < 0 || next >= rows {
			break
		}
		at = next
	}
	l.Cursor = at
}

// Settle keeps the cursor on a selectable row and inside a window of height
// rows. A heading right above the cursor's section stays visible.
func (l *List) Settle(rows, height int, selectable func(int) bool) {
	l.Cursor = nearest(min(max(l.Cursor, 0), rows-1), rows, selectable)
	if height <= 0 {
		return
	}
	at := max(l.Cursor, 0)
	first := at
	for first > 0 && at-first < 2 && !selectable(first-1) {
		first--
	}
	if nearest(0, rows, selectable) == l.Cursor && at < height {
		first = 0
	}
	l.Top = min(l.Top, first)
	l.Top = max(l.Top, at-height+1)
	l.Top = max(0, min(l.Top, rows-height))
}

func nearest(at, rows int, selectable func(int) bool) int {
	for i := max(at, 0); i < rows; i++ {
		if selectable(i) {
			return i
		}
	}
	for i := min(at, rows-1); i >= 0; i-- {
		if selectable(i) {
			return i
		}
	}
	return -1
}

// Below returns the number of rows below the window.
func (l *List) Below(rows, height int) int { return max(0, rows-l.Top-height) }
