//go:build !linux

package program

import "os"

// limitMemory does nothing: no other system limits the memory of a running process.
func limitMemory(*os.Process, int64) {}

// hideProcess does nothing: other systems have no such files.
func hideProcess() {}
