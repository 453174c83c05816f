package slowtest

import "testing"

// Three runs with numbers that follow each other have every case, each in one of them; a
// run without a number has all.
func TestEachCaseHasItsTurn(t *testing.T) {
	const cases = 10
	had := make([]int, cases)
	for _, number := range []string{"2071", "2072", "2073"} {
		t.Setenv(turn, number)
		for i := range had {
			if Turn(t, i) {
				had[i]++
			}
		}
	}
	for i, n := range had {
		if n != 1 {
			t.Errorf("case %d has %d turns of three", i, n)
		}
	}
	t.Setenv(turn, "")
	for i := range had {
		if !Turn(t, i) {
			t.Errorf("without a number, case %d has no turn", i)
		}
	}
}
