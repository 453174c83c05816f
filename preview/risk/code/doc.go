// Package code searches commands, scripts and the addresses in them for suspicious
// patterns: what they download and run, what they hide, and what they access. It runs
// nothing. A text without a match is not proved to be harmless.
package code
