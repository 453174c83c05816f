package main

import (
	"strings"
	"testing"
)

func TestDraw(t *testing.T) {
	tests := []struct{ name, screen, want string }{
		{"plain text", "a <b>\n", `<text x="14.0" y="27" textLength="42.0" xml:space="preserve" fill="#d4d4d4">a &lt;b&gt;</text>`},
		{"bold, and a colour of sixteen", "\x1b[1;31mx\x1b[0my\n", `fill="#f14c4c" font-weight="bold">x</text>`},
		{"what comes after a reset", "\x1b[1;31mx\x1b[0my\n", `<text x="22.4" y="27" textLength="8.4" xml:space="preserve" fill="#d4d4d4">y</text>`},
		{"a colour of 256", "\x1b[38;5;196mx\n", `fill="#ff0000"`},
		{"a colour in full", "\x1b[38;2;1;2;3mx\n", `fill="#010203"`},
		{"reverse", "\x1b[7mx\n", `height="18" fill="#d4d4d4"/>`},
		{"a style that goes on in the next line", "\x1b[1mx\ny\n", `y="45" textLength="8.4" xml:space="preserve" fill="#d4d4d4" font-weight="bold">y</text>`},
		{"a sequence that is cut", "x\x1b[38;5\n", `>x</text>`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			if err := draw(strings.NewReader(tt.screen), &out); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), tt.want) {
				t.Errorf("got\n%s\nwithout\n%s", out.String(), tt.want)
			}
		})
	}
}
