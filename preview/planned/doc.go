// Package planned makes planned objects of rendered content: normalised, with the
// namespace and the labels of the release, and with the digests that users approve. What
// it makes is the same offline, on any machine: it knows no cluster.
package planned
