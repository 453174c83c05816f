// Package slowtest separates the tests that -short leaves out, or makes
// shorter, from the others. Only tests import it.
//
// The name of such a test says what makes it slow, so that "make test" runs it
// once and alone: TestCluster needs a control plane, TestTerminal a terminal,
// and TestSlow takes long. The name of a test is the one thing that "go test"
// selects by.
package slowtest

import (
	"cmp"
	"errors"
	"os"
	"regexp"
	"strconv"
	"testing"
)

var named = regexp.MustCompile(`^(Test(Cluster|Terminal|Slow)|Benchmark|Fuzz)[A-Z]`)

// Skip skips a test with -short. why completes the sentence "-short leaves out …".
func Skip(t testing.TB, why string) {
	t.Helper()
	if Short(t) {
		t.Skip("skipped: -short leaves out " + why)
	}
}

// The environment variables of "make soak": how many runs a test of random runs makes,
// and the number of the first, where a soak is run in slices.
const (
	soakRuns = "KUBECTL_OPERATOR_SOAK_RUNS"
	soakFrom = "KUBECTL_OPERATOR_SOAK_FROM"
)

// turn is the environment variable with the number of the turn, set by "make test".
const turn = "KUBECTL_OPERATOR_TURN"

// turns is of how many parts "make test" runs one.
const turns = 3

// Turn reports whether it is the turn of case i, from 0, of a list whose cases have too
// little in common for some to stand for all, such as scripts. "make test" runs a third of
// them, the next third at the next commit; "make whole", "make soak" and "go test" run all.
func Turn(t testing.TB, i int) bool {
	t.Helper()
	now := os.Getenv(turn)
	if now == "" {
		return true
	}
	n, err := strconv.Atoi(now)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s is no number from 0: unset it, and all cases have their turn", turn, now)
	}
	return i%turns == n%turns
}

// Soak reports whether this is "make soak", which leaves no case out.
func Soak() bool { return os.Getenv(soakRuns) != "" }

// InSample reports whether a test runs case i, from 0, of its table of cases: each
// nth, beginning with the first, but all in "make soak". A table of several kinds
// of cases is sampled kind by kind, so that "make test" has one of each.
func InSample(i, nth int) bool {
	return i%nth == 0 || Soak()
}

// Runs returns the numbers of a test's runs, from the first to before the second: the
// usual ones from 0 on, or the ones that "make soak" asks for. A run's number determines
// its course.
func Runs(t testing.TB, usual int) (from, to int) {
	t.Helper()
	from, err := strconv.Atoi(cmp.Or(os.Getenv(soakFrom), "0"))
	runs, runsErr := strconv.Atoi(cmp.Or(os.Getenv(soakRuns), strconv.Itoa(usual)))
	if err := errors.Join(err, runsErr); err != nil {
		t.Fatalf("%s and %s are numbers: %v", soakFrom, soakRuns, err)
	}
	return from, from + runs
}

// Short reports whether -short is set, so that a test tries fewer cases.
func Short(t testing.TB) bool {
	t.Helper()
	if !named.MatchString(t.Name()) {
		t.Fatalf("the second part of \"make test\" selects its tests by name: call %s TestCluster…, TestTerminal… or TestSlow…", t.Name())
	}
	return testing.Short()
}
