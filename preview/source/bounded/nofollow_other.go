//go:build !unix

package bounded

// NoFollow is no flag on this system: on Windows, making a symbolic link takes a
// privilege.
const NoFollow = 0
