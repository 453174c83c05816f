// Package owners finds the controllers, other than releases, that an existing object
// belongs to: OLM, Flux, Argo CD, kapp and owner references. It knows the labels and
// annotations of each tool, and the steps that make the tool give an object up.
package owners
