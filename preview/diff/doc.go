// Package diff compares objects: the fields at which a dry-run result differs from the
// live object, a hash of these, and line diffs of YAML for people.
//
// Objects are compared as they are: what controllers change by themselves is left out
// before ([preview.Object.Compared]). Sensitive values are compared, but never returned.
package diff
