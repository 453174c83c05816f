// Package health parses and evaluates readiness checks that a user adds, in CEL or as
// OLM v1 probes, to the conditions that every object must meet anyway.
//
// A check delays the stages after its objects, and decides whether a rollout counts as
// complete. It does not decide what is written, so it is not part of the plan, like a
// timeout.
package health
