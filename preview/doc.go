// Package preview holds the plan as a value: what a review found out, sealed
// by one digest.
//
// A [Plan] has two halves. Its Facts are everything apply will do and every
// live fact that was decided on; [Plan.Seal] hashes them into Plan.Digest, and
// a person approves that digest. Its View is what is shown beside them:
// changes, findings, images. The package decodes and canonicalises objects,
// hashes them and compares them; it performs no I/O and knows no client. The
// packages below it read content, render it and judge it; package engine puts
// a plan together.
//
// The JSON names of these types are contract.
package preview
