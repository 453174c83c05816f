package sandboxtest

import (
	"flag"
	"strconv"
	"testing"
)

// Run runs the tests of a package, so many of the parallel ones at a time
// whatever the number of cores, unless -parallel says how many. It is for tests
// that wait for a control plane more than they compute.
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
