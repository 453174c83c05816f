// Package home is the screen of the program without a command: the releases of the
// cluster and how they are, and three ways to begin.
package home
