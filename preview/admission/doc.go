// Package admission computes what no dry run can answer yet: of objects whose namespace,
// CRD or role the plan itself creates, the fields that the API server will add, and what the
// admission webhooks and policies of the cluster will do with them.
//
// A computed result is shown and is no Fact: it depends on what the user may read, no
// digest covers it, and apply sends the same bytes with and without it.
//
//   - Defaults of custom resources are those of the schema in the plan's CRD.
//   - Those of role bindings are two API groups.
//   - An object that exists and whose dry run was refused is the live one with the fields
//     that are sent.
//   - Defaults of other objects are those that the API server gave to a copy of the object
//     in another namespace. Defaults do not depend on the namespace, but admission plugins
//     may: pods are left out for that, and so is a copy that a webhook or policy changed
//     which does not select the new namespace.
//   - ValidatingAdmissionPolicies are evaluated here, with the library of the API server,
//     on the object with its defaults.
//   - Webhooks cannot be called without a request, and a MutatingAdmissionPolicy may
//     depend on others: those that select an object are named as open.
//
// The Pod Security level of a new namespace is judged by package risk, like any other.
// Webhooks that the plan brings come last in an apply, after its custom resources.
package admission
