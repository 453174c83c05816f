//go:build !unix

package bounded

// NoFollow has no counterpart here: on Windows making a link is a privilege.
const NoFollow = 0
