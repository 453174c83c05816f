package tui

import "testing"

func TestLayoutFillsTheWindow(t *testing.T) {
	for w := range 260 {
		for h := range 80 {
			for _, tabs := range []bool{false, true} {
				l := arrange(w, h, tabs)
				if l.mode == modeNone {
					if w >= minWidth && h >= minHeight {
						t.Fatalf("%dx%d has no layout", w, h)
					}
					continue
				}
				if got := l.header + 1 + l.body + 2; got != h || l.body < 5 {
					t.Fatalf("%dx%d: %d lines, body %d", w, h, got, l.body)
				}
				if l.mode == modeDouble && l.left+1+l.right != w {
					t.Fatalf("%dx%d: panes of %d and %d", w, h, l.left, l.right)
				}
				if (w >= confirmWidth && h >= confirmHeight) != (l.mode >= modeSingle) {
					t.Fatalf("%dx%d: mode %d", w, h, l.mode)
				}
			}
		}
	}
}
