// Package rollout follows written objects until they are ready, or says what
// keeps them from it: which object, why, its last event and the last lines its
// containers printed.
//
// Readiness is kstatus' (github.com/fluxcd/cli-utils), corrected where that
// calls ready what is not: see assess.go.
package rollout
