//go:build !linux

package main

// dropFilePages does nothing: no other system counts the pages of a file like Linux.
func dropFilePages() {}
