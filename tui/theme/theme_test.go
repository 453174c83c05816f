package theme

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

func TestASCIITakesTheSameCells(t *testing.T) {
	ascii := New(Options{ASCII: true})
	for _, tc := range []struct{ name, text, want string }{
		{"ASCII stays", "a b", "a b"},
		{"our own glyphs have a form", "│─…", "|->"},
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

func TestSchemesDifferInColourOnly(t *testing.T) {
	usual, other, bare := New(Options{Color: true}), New(Options{Color: true, Scheme: SchemeColorblind}), New(Options{Scheme: SchemeColorblind})
	for role, code := range map[Role][2]string{Risk: {"31", "35"}, Lost: {"31", "33"}, Removed: {"31", "33"}, Gained: {"32", "34"}, Added: {"32", "34"}} {
		if got := usual.Paint(role, "x"); !strings.Contains(got, code[0]) {
			t.Errorf("role %d is %q, want colour %s", role, got, code[0])
		}
		if got := other.Paint(role, "x"); !strings.Contains(got, code[1]) {
			t.Errorf("role %d is %q for colour-blind eyes, want colour %s", role, got, code[1])
		}
		if got := bare.Paint(role, "x"); strings.Contains(got, "3") {
			t.Errorf("role %d is %q without colours", role, got)
		}
	}
}
