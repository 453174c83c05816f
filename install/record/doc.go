// Package record reads and writes the records of a release: Secrets in its namespace, as
// Helm's are; kubectl-operator.NAME has the newest. A record holds one revision: the
// plan, who approved it and how, and the receipt of every object. The newest one has the
// inventory, which are the objects that the release owns.
//
// Users who can write Secrets in the namespace can write records. So everything
// that is read is hostile: bounded before it is decoded, checked, and no proof of
// anything unless a key signed it ([Keys]). Only the holder of the [Lock] writes.
package record
