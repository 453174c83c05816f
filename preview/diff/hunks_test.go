package diff

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHunks(t *testing.T) {
	for _, tt := range []struct {
		name, before, after string
		context             int
		want                string
	}{
		{"equal texts have none", "a\nb\n", "a\nb\n", 3, ""},
		{"a change shows the lines around it", "1\n2\n3\nx: 1\n5\n6\n", "1\n2\n3\nx: 2\n5\n6\n", 1, " 3|-x: [1]|+x: [2]| 5"},
		{"far changes are two hunks", "a\n1\n2\n3\n4\nb\n", "A\n1\n2\n3\n4\nB\n", 1, "-a|+A| 1// 4|-b|+B"},
		{"near changes are one hunk", "a\n1\n2\nb\n", "A\n1\n2\nB\n", 1, "-a|+A| 1| 2|-b|+B"},
		{"everything is new", "", "a\nb", 3, "+a|+b"},
		{"everything is gone", "a\nb\n", "", 3, "-a|-b"},
		{"what keeps its order stays", "f1\n{\n}\nf2\n{\n}\n", "f2\n{\n}\nf1\n{\n}\n", 0, "-f[1]|+f[2]//-f[2]|+f[1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var hunks []string
			for _, h := range Hunks(tt.before, tt.after, tt.context) {
				var lines []string
				for _, l := range h.Lines {
					lines = append(lines, string(l.Op)+mark(l))
				}
				hunks = append(hunks, strings.Join(lines, "|"))
			}
			if diff := cmp.Diff(tt.want, strings.Join(hunks, "//")); diff != "" {
				t.Errorf("hunks (-want +got):\n%s", diff)
			}
		})
	}
}

func mark(l Line) string {
	var out strings.Builder
	at := 0
	for _, s := range l.Spans {
		out.WriteString(l.Text[at:s.Start] + "[" + l.Text[s.Start:s.End] + "]")
		at = s.End
	}
	return out.String() + l.Text[at:]
}

// checkHunks rebuilds both texts from a diff with unlimited context.
func checkHunks(t *testing.T, before, after string) {
	t.Helper()
	var from, to []string
	for _, h := range Hunks(before, after, 1<<30) {
		for _, l := range h.Lines {
			if l.Op != LineInsert {
				if from = append(from, l.Text); l.From != len(from) {
					t.Fatalf("line %d is numbered %d", len(from), l.From)
				}
			}
			if l.Op != LineDelete {
				if to = append(to, l.Text); l.To != len(to) {
					t.Fatalf("line %d is numbered %d", len(to), l.To)
				}
			}
			for _, s := range l.Spans {
				if s.Start < 0 || s.End > len(l.Text) || s.Start >= s.End {
					t.Fatalf("span %v of %q", s, l.Text)
				}
			}
		}
	}
	if strings.Join(splitLines(before), "\n") == strings.Join(splitLines(after), "\n") {
		return // no hunks
	}
	if diff := cmp.Diff(splitLines(before), from); diff != "" {
		t.Errorf("old text: %s", diff)
	}
	if diff := cmp.Diff(splitLines(after), to); diff != "" {
		t.Errorf("new text: %s", diff)
	}
}

func TestHunksOfManyLinesAreExactAndQuick(t *testing.T) {
	const n = 20_000
	random := rand.New(rand.NewSource(1))
	numbered := func(format string) []string {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprintf(format, i)
		}
		return lines
	}
	base := numbered("  key%d: value")
	edited := append([]string(nil), base...)
	for range 400 {
		edited[random.Intn(n)] = "  edited: " + fmt.Sprint(random.Int())
	}
	shuffled := append([]string(nil), base...)
	random.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	few := func() []string {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprint("- ", random.Intn(50))
		}
		return lines
	}
	for _, tt := range []struct {
		name          string
		before, after []string
	}{
		{"400 edits", base, edited},
		{"every line edited", base, numbered("  key%d: other")},
		{"shuffled", base, shuffled},
		{"few distinct lines in random order", few(), few()},
		{"nothing in common", base, numbered("x%d")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			checkHunks(t, strings.Join(tt.before, "\n"), strings.Join(tt.after, "\n"))
			t.Logf("%d lines in %v", n, time.Since(start))
		})
	}
}

func FuzzHunks(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nb")
	f.Add("a\n\n\nb\xff", "\n\nb\xfe\n")
	f.Fuzz(func(t *testing.T, before, after string) { checkHunks(t, before, after) })
}
