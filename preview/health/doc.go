// Package health has the checks that a user adds to what every object must
// show anyway before it counts as ready.
//
// A check holds back what comes after its objects and keeps a rollout from
// being called healthy. It lets nothing be written that was not approved, so it
// is no part of what is sealed, no more than a timeout is.
package health
