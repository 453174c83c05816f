package frame

import "testing"

func TestLayoutFillsTheWindow(t *testing.T) {
	for w := range 260 {
		for h := range 80 {
			for _, tabs := range []bool{false, true} {
				l := Arrange(w, h, tabs)
				if l.Mode == ModeNone {
					if w >= MinWidth && h >= MinHeight {
						t.Fatalf("%dx%d has no layout", w, h)
					}
					continue
				}
				if got := l.Header + 1 + l.Body + 2; got != h || l.Body < 5 {
					t.Fatalf("%dx%d: %d lines, body %d", w, h, got, l.Body)
				}
				if l.Mode == ModeDouble && l.Left+1+l.Right != w {
					t.Fatalf("%dx%d: panes of %d and %d", w, h, l.Left, l.Right)
				}
				if (w >= ConfirmWidth && h >= ConfirmHeight) != (l.Mode >= ModeSingle) {
					t.Fatalf("%dx%d: mode %d", w, h, l.Mode)
				}
			}
		}
	}
}
