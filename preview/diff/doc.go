// Package diff says what the API server would make of an object: the leaves
// at which a dry-run result differs from the live object, their digest, and
// line diffs of both for people.
//
// Objects are compared without what moves by itself ([preview.WithoutVolatile]).
// Sensitive values are compared, never returned.
package diff
