// Package owners finds what acts on an object besides a release: OLM, Flux, Argo
// CD, kapp and owner references. Each tool's marks, and how it lets go of an
// object, are known here.
package owners
