// Package frame draws what all screens have in common: header, separators,
// footer, layout, keys and help, the steps of a running piece of work. It also
// runs a program on a terminal, and turns its panics into errors.
package frame
