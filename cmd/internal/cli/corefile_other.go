//go:build !unix

package cli

// noCoreFile has nothing to do where crashes leave no core files.
func noCoreFile() {}
