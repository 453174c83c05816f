// Package diff compares objects: the fields that differ between a dry-run result and the
// live object, a hash of these, and line diffs of YAML for people.
//
// Objects are compared as they are: fields that controllers change by themselves are
// left out before ([preview.Object.Compared]). Sensitive values are compared, but never
// returned.
package diff
