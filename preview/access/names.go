package access

import "github.com/kubectl-operator/kubectl-operator/preview"

// APIVersion is the apiVersion of roles and bindings.
const APIVersion = "rbac.authorization.k8s.io/v1"

// AllOf returns the id that stands for all objects of a kind of the RBAC API, for what is not
// known of them.
func AllOf(kind string) string {
	return preview.Ref{APIVersion: APIVersion, Kind: kind, Name: "*"}.ID()
}

// AccountRef returns the reference of the ServiceAccount that a subject names.
func AccountRef(s preview.Subject) preview.Ref {
	return preview.Ref{APIVersion: "v1", Kind: "ServiceAccount", Namespace: s.Namespace, Name: s.Name}
}
