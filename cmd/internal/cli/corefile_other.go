//go:build !unix

package cli

// noCoreFile does nothing on systems whose crashes leave no core files.
func noCoreFile() {}
