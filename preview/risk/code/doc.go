// Package code reads commands, scripts and the addresses in them by heuristics:
// what they fetch and run, what they hide, and what they reach for. It runs
// nothing, and a text that it finds nothing in is not thereby harmless.
package code
