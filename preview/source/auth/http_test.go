package auth

import (
	"testing"
)

func FuzzNetrc(f *testing.F) {
	f.Add("machine h login l password p\nmacdef x\nmachine no\n\n# c\ndefault login d machine h2")
	f.Fuzz(func(_ *testing.T, text string) { _ = parseNetrc(text) })
}

func TestNetrcIsReadAsCurlDoes(t *testing.T) {
	got := parseNetrc("# a comment machine no\nmachine a login x\n password y\nmacdef m\nmachine no login no\n\nmachine b account z password #p login q\ndefault login d password d\n")
	want := []netrcEntry{{"a", "x", "y"}, {"b", "q", "#p"}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
