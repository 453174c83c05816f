// Package slowtest separates the tests that -short leaves out, or makes
// shorter, from the others. Only tests import it.
//
// The name of such a test says what makes it slow, so that "make test" runs it
// once and alone: TestCluster needs a control plane, TestTerminal a terminal,
// and TestSlow takes long. The name of a test is the one thing that "go test"
// selects by.
package slowtest

import (
	"os"
	"regexp"
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

// soakRuns is the environment variable that "make soak" sets.
const soakRuns = "KUBECTL_OPERATOR_SOAK_RUNS"

// InSample reports whether a test runs case i, from 0, of its table of cases: each
// nth, beginning with the first, but all in "make soak". A table of several kinds
// of cases is sampled kind by kind, so that "make test" has one of each.
func InSample(i, nth int) bool {
	return i%nth == 0 || os.Getenv(soakRuns) != ""
}

// Short reports whether -short is set, so that a test tries fewer cases.
func Short(t testing.TB) bool {
	t.Helper()
	if !named.MatchString(t.Name()) {
		t.Fatalf("the second part of \"make test\" selects its tests by name: call %s TestCluster…, TestTerminal… or TestSlow…", t.Name())
	}
	return testing.Short()
}
