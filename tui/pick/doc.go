// Package pick is the screen on which a package, and a version of it, is chosen
// from the catalogs.
package pick
