// Package diff compares objects: the fields at which a dry-run result differs from the
// live object, a hash of these, and line diffs of YAML for people.
//
// Objects are compared without the fields that controllers change by themselves
// ([preview.WithoutVolatile]). Sensitive values are compared, but never returned.
package diff
