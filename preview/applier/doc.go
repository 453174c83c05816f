// Package applier has a type for each tool, other than this program, that applies the
// content of packages: what the tool applied before, which objects it takes for its own,
// and the request by which it writes one. A plan that is made with one of them is what
// the tool will do.
package applier
