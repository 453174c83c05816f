package preview

import "slices"

// clusterScoped has, by API group, the cluster-scoped kinds that every API server
// serves or that packages are known to bring. The scope must not be read from the
// cluster: content has the same digest without one.
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

// Scopes says which kinds are namespaced, by a table of built-in kinds and by the CRDs
// of the content.
type Scopes struct {
	custom map[string]bool // GROUP/KIND → namespaced
}

// NewScopes returns the scopes of the built-in kinds and of those that the CRDs among
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

// Namespaced reports whether a kind of an API group is namespaced. Unknown kinds count
// as namespaced.
func (s Scopes) Namespaced(group, kind string) bool {
	if namespaced, ok := s.custom[group+"/"+kind]; ok {
		return namespaced
	}
	return !slices.Contains(clusterScoped[group], kind)
}
