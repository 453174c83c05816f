// Package health parses and evaluates readiness checks that a user adds, in CEL or
// as OLM v1 probes, to the conditions that every object has to meet anyway.
//
// A check holds back what comes after its objects and keeps a rollout from
// being called healthy. It lets nothing be written that was not approved, so it
// is no part of what is sealed, no more than a timeout is.
package health
