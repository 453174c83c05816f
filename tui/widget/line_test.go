package widget

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

func FuzzLinesTakeTheirWidth(f *testing.F) {
	f.Add("plain", 10, 3)
	f.Add("界界界", 5, 1)
	f.Add("e\u0301\u0301\x1b[2J\u202e🇩🇪👩‍👩‍👧", 7, 2)
	f.Fuzz(func(t *testing.T, text string, width, skip int) {
		width, skip = (width%200+200)%200, (skip%200+200)%200
		th := theme.New(theme.Options{})
		// Blanks between: two halves of a flag would join across spans.
		line := Line{Text(theme.Strong, text), Text(theme.Plain, " "), Cell(theme.Plain, text, 9), Text(theme.Risk, " end")}
		for _, painted := range []string{line.Paint(th, width), line.PaintSelected(th, width), line.From(skip).Paint(th, width)} {
			bare := ansi.Strip(painted)
			if got := textsafe.Width(bare); got != width {
				t.Errorf("%d cells, want %d: %q", got, width, bare)
			}
			if strings.ContainsFunc(bare, func(r rune) bool { return r < 0x20 }) {
				t.Errorf("a control character: %q", bare)
			}
		}
		for _, l := range Wrap(theme.Plain, text, max(width, 8), "  ") {
			if l.Width() > max(width, 8) {
				t.Errorf("wrapped to %d cells, want at most %d: %q", l.Width(), max(width, 8), l.Plain())
			}
		}
	})
}

func TestACutLineEndsInAnEllipsis(t *testing.T) {
	th := theme.New(theme.Options{})
	for _, tc := range []struct {
		name, want string
		line       Line
		width      int
	}{
		{"what fits is padded", "abc  ", Line{Text(theme.Plain, "abc")}, 5},
		{"what does not is cut", "abc…", Line{Text(theme.Plain, "abcdef")}, 4},
		{"the cut may fall between spans", "abc…", Line{Text(theme.Plain, "abc"), Text(theme.Plain, "def")}, 4},
		{"a wide character that would be halved goes", "界… ", Line{Text(theme.Plain, "界界界")}, 4},
		{"nothing fits into no cells", "", Line{Text(theme.Plain, "abc")}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.line.Paint(th, tc.width); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTailKeepsKindAndEnd(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"SA short", "SA short    "}, {"SA some-long-operator", "SA …operator"}, {"averylongname-x", "…longname-x"},
		{"ValidatingWebhook mongodb", "…ook mongodb"},
	} {
		if got := Tail(theme.Plain, tc.text, 12).text; !strings.HasSuffix(got, strings.TrimPrefix(tc.want, "…")) || textsafe.Width(got) != 12 {
			t.Errorf("Tail(%q) is %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestSpreadKeepsTheRightEnd(t *testing.T) {
	left, right := Line{Text(theme.Plain, strings.Repeat("l", 30))}, Line{Text(theme.Plain, "right")}
	if got := Spread(left, right, 20).Plain(); got != strings.Repeat("l", 13)+"… right" {
		t.Errorf("got %q", got)
	}
}

func TestListCursorSkipsHeadings(t *testing.T) {
	selectable := func(i int) bool { return i%3 != 0 }
	l := List{}
	l.Settle(10, 4, selectable)
	if l.Cursor != 1 || l.Top != 0 {
		t.Fatalf("starts at %d, top %d", l.Cursor, l.Top)
	}
	l.Move(2, 10, selectable)
	if l.Cursor != 4 {
		t.Errorf("two down is %d, want 4", l.Cursor)
	}
	l.Move(100, 10, selectable)
	l.Settle(10, 4, selectable)
	if l.Cursor != 8 || l.Top > 8 || l.Top+4 <= 8 {
		t.Errorf("the end is %d with top %d", l.Cursor, l.Top)
	}
	l.Move(-100, 10, selectable)
	l.Settle(10, 4, selectable)
	if l.Cursor != 1 || l.Top != 0 {
		t.Errorf("back at %d with top %d: the heading above is hidden", l.Cursor, l.Top)
	}
	none := List{Cursor: 5}
	none.Settle(3, 4, func(int) bool { return false })
	if none.Cursor != -1 {
		t.Errorf("a list of headings has cursor %d", none.Cursor)
	}
}

func TestPagerStaysInItsDocument(t *testing.T) {
	p := Pager{Lines: make([]Line, 10)}
	p.Scroll(100, 4)
	if p.Top != 6 {
		t.Errorf("top %d, want 6", p.Top)
	}
	p.Scroll(-100, 4)
	if p.Top != 0 {
		t.Errorf("top %d, want 0", p.Top)
	}
	p.Show(8, 4)
	if p.Top > 8 || p.Top+4 <= 8 {
		t.Errorf("line 8 is outside of the window at %d", p.Top)
	}
}

func TestPercentIsHundredOnlyAtTheEnd(t *testing.T) {
	for _, tc := range []struct{ done, total, want int }{{0, 0, 0}, {0, 5, 0}, {999, 1000, 99}, {5, 5, 100}, {-1, 5, 0}} {
		if got := Percent(tc.done, tc.total); got != tc.want {
			t.Errorf("Percent(%d, %d) = %d, want %d", tc.done, tc.total, got, tc.want)
		}
	}
}
