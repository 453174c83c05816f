package main

import "runtime/debug"

// giveBack gives back to the kernel what starting or a longer call took: the plugin waits
// most of its life, beside those of other tools.
func giveBack() {
	debug.FreeOSMemory()
	dropFilePages()
}
