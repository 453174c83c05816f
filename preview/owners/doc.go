// Package owners finds the controllers, other than releases, to which an existing
// object belongs: OLM, Flux, Argo CD, kapp and owner references. It knows the labels
// and annotations of each tool, and the steps by which the tool gives an object up.
package owners
