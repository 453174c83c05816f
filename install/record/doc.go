// Package record keeps what a release remembers of its revisions, in Secrets of
// its namespace: the record of what was approved and observed, and the plan
// itself.
//
// Who may write Secrets there may write them, so everything read is hostile:
// bounded before it is decoded, checked, and no proof of anything unless a key
// signed it ([Keys]). Writing takes a [Lock].
package record
