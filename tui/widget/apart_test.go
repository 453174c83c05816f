package widget

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

func TestATextIsCutWhereItIsLikeOthers(t *testing.T) {
	for _, tt := range []struct {
		text, beside string
		width        int
		want         string
	}{
		{"operator", "operand", 20, "operator            "},
		{"mongodb-kubernetes-operator", "mongodb-kubernetes-appdb", 16, "mongod…-operator"},
		{"azuresqldatabases.azure.microsoft.com", "cosmosdbsqldatabases.azure.microsoft.com", 20, "azuresqlda…osoft.com"},
		{"a-long-name-of-the-first-role-of-the-operator", "a-long-name-of-the-other-role-of-the-operator", 24, "a-long-n…first-r…perator"},
		{"short", "", 3, "sh…"},
		{"", "x", 2, "  "},
	} {
		got := Apart(theme.Plain, tt.text, DifferencesFrom(tt.text, tt.beside), tt.width).text
		if got != tt.want {
			t.Errorf("%q beside %q is %q, want %q", tt.text, tt.beside, got, tt.want)
		}
	}
}

// Names of one list that are alike but for a part anywhere look different in any
// width that has room for the part and its surroundings.
func TestNamesThatAreAlikeAreToldApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + rng.IntN(26))
		}
		return string(b)
	}
	for range 2000 {
		before, after := word(rng.IntN(40)), word(rng.IntN(40))
		var names []string
		for i := range 2 + rng.IntN(6) {
			names = append(names, before+fmt.Sprintf("%d", i)+strings.Repeat("x", rng.IntN(2))+after)
		}
		slices.Sort(names)
		width := 14 + rng.IntN(30)
		shown := map[string]string{}
		for i, name := range names {
			got := Apart(theme.Plain, name, DifferencesAmong(len(names), i, func(i int) string { return names[i] }), width).text
			if was, same := shown[got]; same && was != name {
				t.Fatalf("%q and %q are both %q", was, name, got)
			}
			shown[got] = name
		}
	}
}

func TestTextsAreCutToTheirCellsWhateverTheyHold(t *testing.T) {
	for _, text := range []string{"界界界界界界界界界界", "a\x1b[2Jb\u202ec" + strings.Repeat("é", 30), strings.Repeat("👩‍👩‍👧", 9), "\xff\xfe" + strings.Repeat("q", 40)} {
		for at := range len(text) + 1 {
			for width := range 30 {
				if got := Apart(theme.Plain, text, Differences{at, at / 2}, width); textsafe.Width(got.text) != width || textsafe.Hostile(got.text) {
					t.Fatalf("%q cut at %d to %d cells is %q", text, at, width, got.text)
				}
			}
		}
	}
}
