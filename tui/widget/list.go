package widget

// List is the cursor over the rows of a list, some not selectable, and the window of
// visible rows. The caller has the rows themselves.
type List struct {
	Cursor int // index of the selected row, -1 when none can be
	Top    int // index of the first visible row
}

// Move moves the cursor by delta selectable rows, up if that is negative, as
// far as there are some.
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

// Settle moves the cursor to a selectable row if it is on none, and the window
// of height rows so that it has the cursor. Up to two headings right above the
// cursor stay visible.
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
