package right

import (
	"slices"
	"strings"
)

// dangerousNames are names of objects, by resource, that are as dangerous as all
// objects of the resource: a restriction to them does not lower the level. A "*" at an
// end of a name matches any text.
var dangerousNames = map[string][]string{
	"roles":               {"system:*", "extension-apiserver-authentication-reader", "kubeadm:*"},
	"clusterroles":        {"cluster-admin", "admin", "edit", "system:*"},
	"rolebindings":        {"system:*", "kubeadm:*"},
	"clusterrolebindings": {"cluster-admin", "kubeadm:*", "system:*"},
	"configmaps": {
		"aws-auth", "coredns", "coredns-custom", "kube-dns", "kube-proxy", "extension-apiserver-authentication", "kubeadm-config",
		"kubelet-config*", "kube-root-ca.crt", "cluster-info", "kube-proxy-config",
	},
	"secrets":    {"bootstrap-token-*", "*-kubeconfig", "kubeconfig", "admin*", "*-token-*"},
	"namespaces": {"kube-*", "default", "openshift-*"},
	"users":      {"system:*", "admin", "kubernetes-admin", "cluster-admin", "kubernetes-super-admin", "kubecfg", "root", "kube-apiserver-kubelet-client"},
	"groups":     {"system:*", "kubeadm:*", "cluster-admins", "admins"},
	"signers":    {"kubernetes.io/*", "kubernetes.io/kube-apiserver-client", "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-pod", "kubernetes.io/legacy-unknown"},
	// Who writes a webhook's configuration decides what it intercepts, whichever it is.
	"mutatingwebhookconfigurations": {"*"}, "validatingwebhookconfigurations": {"*"}, "mutatingadmissionpolicies": {"*"}, "mutatingadmissionpolicybindings": {"*"},
	// What constraints permit is decided by their writer, whichever they are.
	"securitycontextconstraints": {"*"},
	"leases":                     {"kube-controller-manager", "kube-scheduler", "cloud-controller-manager", "apiserver-*"},
	// A node runs pods with the accounts and Secrets of others, whichever it is.
	"nodes/proxy": {"*"},
}

// DangerousName reports whether an object of a resource is by its name as dangerous as
// all objects of the resource.
func DangerousName(resource, name string) bool {
	return slices.ContainsFunc(dangerousNames[resource], func(pattern string) bool { return MatchesName(pattern, name) })
}

// MatchesName reports whether a name matches a pattern, which may have "*" at its
// beginning and its end.
func MatchesName(pattern, name string) bool {
	begin, open := strings.CutSuffix(pattern, "*")
	end, front := strings.CutPrefix(begin, "*")
	switch {
	case front && open:
		return strings.Contains(name, end)
	case front:
		return strings.HasSuffix(name, end)
	case open:
		return strings.HasPrefix(name, begin)
	}
	return name == pattern
}

// OfKubernetes reports whether the name of an APIService (VERSION.GROUP) has an API
// group of Kubernetes.
func OfKubernetes(name string) bool {
	version, group, ok := strings.Cut(name, ".")
	return ok && strings.HasPrefix(version, "v") && KnowsGroup(group)
}
