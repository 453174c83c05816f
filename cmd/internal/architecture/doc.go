// Package architecture holds the tests of the repository as a whole.
package architecture
