// Package processgroup starts programs so that they, and what they started, can be ended
// as a whole. Windows has no process groups of this kind: the program alone is ended
// there.
package processgroup
