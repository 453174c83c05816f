// Package owners finds the controllers that own an existing object besides a
// release: OLM, Flux, Argo CD, kapp and owner references. It knows each tool's
// marks, and the steps by which an object leaves it.
package owners
