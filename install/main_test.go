package install_test

import (
	"flag"
	"os"
	"testing"
)

// atATime is how many parallel tests of this package run at a time: they wait
// for a control plane more than they compute, whatever the number of cores.
const atATime = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", atATime); err != nil {
			panic(err) // package testing has the flag
		}
	}
	os.Exit(m.Run())
}
