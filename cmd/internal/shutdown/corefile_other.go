//go:build !unix

package shutdown

// noCoreFile does nothing on systems whose crashes leave no core files.
func noCoreFile() {}
