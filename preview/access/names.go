package access

import "github.com/kubectl-operator/kubectl-operator/preview"

// APIVersion is the apiVersion of roles and bindings.
const APIVersion = "rbac.authorization.k8s.io/v1"

// HeldUnknown begins the reason of an incomplete plan for which bindings could not be
// listed.
const HeldUnknown = "what the cluster already gives the plan's accounts: "

// AccountRef returns the reference of the ServiceAccount that a subject names.
func AccountRef(s preview.Subject) preview.Ref {
	return preview.Ref{APIVersion: "v1", Kind: "ServiceAccount", Namespace: s.Namespace, Name: s.Name}
}
