package sandboxtest

import (
	"flag"
	"strconv"
	"testing"
)

// Run runs the tests of a package, atATime parallel ones at once, or as many as
// -parallel says. It is for tests that wait for a control plane more than they compute:
// the number of cores does not matter.
func Run(m *testing.M, atATime int) int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa(atATime)); err != nil {
			panic(err) // package testing has the flag
		}
	}
	return m.Run()
}
