// Package pick is the screen for choosing a package, and a version of it, from the
// catalogs.
package pick
