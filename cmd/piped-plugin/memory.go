package main

import "runtime/debug"

// giveBack returns memory to the kernel after the start or a longer call: the plugin
// waits most of its life, next to other tools' plugins.
func giveBack() {
	debug.FreeOSMemory()
	dropFilePages()
}
