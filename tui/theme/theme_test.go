package theme

import (
	"testing"

	"github.com/rivo/uniseg"
)

func TestASCIITakesTheSameCells(t *testing.T) {
	ascii := New(Options{ASCII: true})
	for _, tc := range []struct{ name, text, want string }{
		{"ASCII stays", "a b", "a b"},
		{"our own glyphs have a form", "│─…", "|-~"},
		{"wide characters take two", "界x", "??x"},
		{"a base with its marks is one character", "e\u0301\u0301x", "?x"},
		{"a flag is one character", "🇩🇪x", "??x"},
		{"a skin tone belongs to its hand", "👍🏽x", "??x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ascii.Encode(tc.text)
			if uniseg.StringWidth(got) != uniseg.StringWidth(tc.text) {
				t.Errorf("%q takes %d cells, %q takes %d", got, uniseg.StringWidth(got), tc.text, uniseg.StringWidth(tc.text))
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
