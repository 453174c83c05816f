package textsafe

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain text stays", "mongodb 1.10.0", "mongodb 1.10.0"},
		{"letters of other scripts stay", "größe 日本語 привет", "größe 日本語 привет"},
		{"an escape sequence loses its escape", "a\x1b[31mred", `a\x1b[31mred`},
		{"a C1 control introduces no sequence", "a\u009b31m", `a\u009b31m`},
		{"DEL is spelled out", "a\x7fb", `a\x7fb`},
		{"NUL is spelled out", "a\x00b", `a\x00b`},
		{"a carriage return cannot overwrite the line", "evil\rgood", `evil\rgood`},
		{"line breaks become marks", "a\nb\r\nc", "a␤b␤c"},
		{"tabs go to the next stop of 8", "ab\tc", "ab      c"},
		{"tabs count wide characters twice", "日本\tc", "日本    c"},
		{"right-to-left override is spelled out", "a\u202Egpj.exe", "a<U+202E>gpj.exe"},
		{"isolates are spelled out", "a\u2066b\u2069", "a<U+2066>b<U+2069>"},
		{"Arabic letter mark is spelled out", "\u061C", "<U+061C>"},
		{"zero-width space is spelled out", "a\u200Bb", "a<U+200B>b"},
		{"soft hyphen is spelled out", "a\u00ADb", "a<U+00AD>b"},
		{"byte order mark is spelled out", "\uFEFFa", "<U+FEFF>a"},
		{"line separator is spelled out", "a\u2028b", "a<U+2028>b"},
		{"a tag character is spelled out", "a\U000E0041", "a<U+E0041>"},
		{"a private character is spelled out", "\uE000", "<U+E000>"},
		{"an unassigned character is spelled out", "\U000F0000\u0378", "<U+F0000><U+0378>"},
		{"a Hangul filler is spelled out", "a\u3164b", "a<U+3164>b"},
		{"a variation selector is spelled out", "❤\uFE0F", "❤<U+FE0F>"},
		{"bytes that are not UTF-8 are spelled out", "a\xffb\xc3", `a\xffb\xc3`},
		{"an encoded replacement character stays", "\uFFFD", "\uFFFD"},
		{"combining marks stay on their base", "e\u0301", "e\u0301"},
		{"a leading combining mark has no base of its own", "\u0301a", "<U+0301>a"},
		{"marks do not pile up", "a" + strings.Repeat("\u0301", 5), "a" + strings.Repeat("\u0301", 4) + "<U+0301>"},
		{"a Cyrillic letter in a Latin word is spelled out", "kube-systеm", "kube-syst<U+0435>m"},
		{"a fullwidth letter in a Latin word is spelled out", "ａdmin", "<U+FF41>dmin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Line(tt.in); got != tt.want {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestBlockKeepsOnlyLineBreaks(t *testing.T) {
	in := "a\n\tb\r\nc\rd\x1b]0;title\a"
	want := "a\n        b\nc\\rd\\x1b]0;title\\x07"
	if got := Block(in); got != want {
		t.Errorf("Block(%q) = %q, want %q", in, got, want)
	}
}

func TestHostile(t *testing.T) {
	for in, want := range map[string]bool{
		"plain":                false,
		"two\nlines\r\n\ttab":  false,
		"größe ⚠\uFE0F 日本語":    false,
		"привет":               false,
		"\x1b[2J":              true,
		"over\rwrite":          true,
		"\u202E":               true,
		"a\u200Bb":             true,
		"not utf8 \xff":        true,
		"kube-systеm":          true,
		"a\uFE0F hidden":       true,
		"hidden \U000E0041tag": true,
	} {
		if got := Hostile(in); got != want {
			t.Errorf("Hostile(%q) = %v, want %v", in, got, want)
		}
	}
}

// Every place in a text is looked at, whether or not it is read in words of eight bytes.
func TestHostileAnywhereInAText(t *testing.T) {
	for _, bad := range []string{"\x00", "\x1b", "\x7f", "\x80", "\xff", "\u202e"} {
		for size := range 40 {
			for at := range size + 1 {
				text := strings.Repeat("~", at) + bad + strings.Repeat(" ", size-at)
				if !Hostile(text) {
					t.Errorf("%q is not hostile", text)
				}
				for _, good := range []string{"\n", "\t", "\r\n", "ö"} {
					if fine := strings.Repeat("~", at) + good + strings.Repeat(" ", size-at); Hostile(fine) {
						t.Errorf("%q is hostile", fine)
					}
				}
			}
		}
	}
}

func TestCells(t *testing.T) {
	for _, tt := range []struct {
		in    string
		n     int
		want  string
		width int
	}{
		{"short", 10, "short", 5},
		{"cluster", 4, "clu…", 7},
		{"日本語", 4, "日…", 6}, // half a character is not shown
		{"e\u0301tude", 3, "e\u0301t…", 5},
		{"x", 0, "", 1},
		{"xy", 1, "…", 2},
	} {
		if got := Width(tt.in); got != tt.width {
			t.Errorf("Width(%q) = %d, want %d", tt.in, got, tt.width)
		}
		if got := Truncate(tt.in, tt.n); got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		n        int
	}{
		{"can read every Secret in every namespace", "can read|every|Secret in|every|namespace", 9},
		{"sha256:0123456789 abc", "sha256:0|12345678|9 abc", 8},
		{"日本語", "日|本|語", 3},
		{"", "", 10},
		{"spaces  within stay", "spaces  within|stay", 16},
		{"  so does an indent ", "  so does|an indent", 9},
		{strings.Repeat(" ", 20), "", 9},
	} {
		if got := strings.Join(Wrap(tt.in, tt.n), "|"); got != tt.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestFoldKeepsEveryCharacter(t *testing.T) {
	if got := strings.Join(Fold("a  b 日本c", 4), "|"); got != "a  b| 日|本c" {
		t.Errorf("Fold = %q", got)
	}
}

func TestJSONEscapesWhatEncodingJSONLeaves(t *testing.T) {
	text := "bidi \u202E del \x7f csi \u009b tag \U000E0041 größe"
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	got := string(JSON(data))
	if want := `"bidi \u202e del \u007f csi \u009b tag \udb40\udc41 größe"`; got != want {
		t.Errorf("JSON = %s, want %s", got, want)
	}
	var back string
	if err := json.Unmarshal([]byte(got), &back); err != nil || back != text {
		t.Errorf("the document changed its meaning: %q, %v", back, err)
	}
}

func TestLongTextTakesLinearTime(t *testing.T) {
	for _, unit := range []string{"\t", "日", "e\u0301", "\x1b", "a\t\xff", "\u202e\t"} {
		const n = 1 << 18
		line := Line(strings.Repeat(unit, n))
		if len(line) < n {
			t.Errorf("%q × %d became %d bytes", unit, n, len(line))
		}
		if lines := Wrap(line, 80); len(lines) == 0 {
			t.Errorf("%q × %d wrapped to nothing", unit, n)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"a\tb", "\x1b[1m", "\u202e", "a\xff\xfe", "\xffа", "кube a\u0301\u0301\u0301\u0301\u0301", "日\t本"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, block := Line(s), Block(s)
		if Line(line) != line || Block(block) != block {
			t.Errorf("not idempotent: %q became %q", s, Line(line))
		}
		if strings.ContainsFunc(line, notPrintable) {
			t.Errorf("Line(%q) = %q holds what a terminal obeys or hides", s, line)
		}
		if strings.ContainsFunc(strings.ReplaceAll(block, "\n", ""), notPrintable) {
			t.Errorf("Block(%q) = %q holds what a terminal obeys or hides", s, block)
		}
		if !utf8.ValidString(line) {
			t.Errorf("Line(%q) is not UTF-8", s)
		}
		for _, n := range []int{1, 5, 17} {
			if w := Width(Truncate(line, n)); w > n {
				t.Errorf("Truncate(%q, %d) takes %d cells", line, n, w)
			}
			if got := strings.Join(Fold(line, n), ""); got != line {
				t.Errorf("Fold(%q, %d) = %q", line, n, got)
			}
			for _, part := range append(Wrap(line, n+1), Fold(line, n+1)...) {
				if w := Width(part); w > n+1 {
					t.Errorf("Wrap or Fold(%q, %d) has a line of %d cells", line, n+1, w)
				}
			}
		}
	})
}

func notPrintable(r rune) bool { return !Printable(r) || unicode.IsControl(r) }

func FuzzJSON(f *testing.F) {
	f.Add("a\u202e\x7f")
	f.Fuzz(func(t *testing.T, s string) {
		data, err := json.Marshal(s)
		if err != nil {
			t.Skip()
		}
		var want, got string
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		safe := JSON(data)
		if err := json.Unmarshal(safe, &got); err != nil || got != want {
			t.Errorf("JSON(%s) = %s: %v", data, safe, err)
		}
		if strings.ContainsFunc(string(safe), notPrintable) {
			t.Errorf("JSON(%s) = %s holds what a terminal obeys or hides", data, safe)
		}
	})
}

// One cluster can be wider than any line: thirty combining letters are one.
func TestGraphemesWiderThanALineAreSplit(t *testing.T) {
	for _, letter := range []string{"\u1161", "\u0d4e", "\u0903", "\u0e33", "\u2e3b"} {
		text := strings.Repeat(letter, 30)
		for n := range 8 {
			for name, lines := range map[string][]string{"Fold": Fold(text, n), "Wrap": Wrap("a "+text+" b", n)} {
				for _, line := range lines {
					if w := Width(line); w > max(n, 4) { // U+2E3B alone takes four
						t.Errorf("%s(%q, %d): a line of %d cells", name, letter, n, w)
					}
				}
			}
			if joined := strings.Join(Fold(text, n), ""); joined != text {
				t.Errorf("Fold(%q, %d) lost text", letter, n)
			}
		}
	}
}
