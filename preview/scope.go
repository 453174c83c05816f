package preview

import "slices"

// clusterScoped lists, by group, the kinds without a namespace among those
// every API server serves and those that bundles are known to ship. Scope must
// not come from the cluster: content has the same digest without one.
var clusterScoped = map[string][]string{
	"": {"Namespace", "Node", "PersistentVolume", "ComponentStatus"},
	"admissionregistration.k8s.io": {
		"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy",
		"ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
	},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiregistration.k8s.io":       {"APIService"},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"networking.k8s.io":            {"IngressClass", "IPAddress", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io":              {"DeviceClass", "ResourceSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"StorageClass", "CSIDriver", "CSINode", "VolumeAttachment", "VolumeAttributesClass"},
	"cert-manager.io":              {"ClusterIssuer"},
	"console.openshift.io": {
		"ConsoleYAMLSample", "ConsoleQuickStart", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin",
	},
	"security.openshift.io": {"SecurityContextConstraints"},
	"config.openshift.io":   {"Infrastructure", "ClusterOperator", "ClusterVersion"},
}

// Scopes distinguishes namespaced from cluster-scoped kinds: the built-in table, and
// the custom resource definitions of the same content.
type Scopes struct {
	custom map[string]bool // GROUP/KIND → namespaced
}

// NewScopes returns the scopes of the built-in kinds and of those that CRDs among
// objects define.
func NewScopes(objects []map[string]any) Scopes {
	s := Scopes{custom: map[string]bool{}}
	for _, body := range objects {
		if !IsKind(body, KindCustomResourceDefinition) {
			continue
		}
		key := String(body, "spec", "group") + "/" + String(body, "spec", "names", "kind")
		s.custom[key] = String(body, "spec", "scope") != "Cluster"
	}
	return s
}

// Namespaced reports whether objects of a group and kind live in a namespace.
// A kind that nothing is known about counts as namespaced.
func (s Scopes) Namespaced(group, kind string) bool {
	if namespaced, ok := s.custom[group+"/"+kind]; ok {
		return namespaced
	}
	return !slices.Contains(clusterScoped[group], kind)
}
