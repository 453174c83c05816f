// Package headroom puts off the first collection of garbage, when a program imports it.
// Most commands end before they have made as much garbage as it takes for one.
//
// The runtime collects first at 4 MB, which is reached while packages initialise, and
// then each time the heap has doubled: a command that ends at 60 MB collects five times.
// With memory reserved that is never touched, and so never of the process, the heap seems
// to have that size from the start.
package headroom

import "os"

// size is what a heap begins with. A collection comes at twice of it, so that a command
// takes at most this much more memory than it would.
const size = 32 << 20

// reserved counts as in use, as a variable that is never read does.
var reserved []byte //nolint:unused // it is there for the collector

func init() {
	// Who sets the pace of the collector gets that pace, and no other.
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		reserved = make([]byte, size)
	}
}
