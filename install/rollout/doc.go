// Package rollout waits until applied objects are ready, and diagnoses those that
// are not: a [Cause] from a closed set, the object at fault such as a pod, its
// last event and the last log lines of its containers.
//
// Readiness is kstatus' (github.com/fluxcd/cli-utils), corrected where that
// calls an object ready which is not: see assess.go. Objects are watched, and
// read at intervals where watching is not allowed. [Status] reads them once.
//
// A cause that waiting does not help, such as an image that does not exist, fails the
// rollout once it lasted for [Options.Grace]; any other lasts until the timeout. Reads
// that the user lacks permission for are listed, because a cause may be missing then.
package rollout
