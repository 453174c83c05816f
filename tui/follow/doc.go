// Package follow is the screen that shows an apply until its result: the objects
// by stage, what the cluster says of those that are not ready, and their logs.
package follow
