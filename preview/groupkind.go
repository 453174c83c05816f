package preview

import "strings"

// GroupKind identifies a kind: KIND in the core group, GROUP/KIND in any other.
// Rules about kinds compare GroupKinds and never the bare kind, because every
// package can define a kind of the same name in its own group, and such an object
// is not a CustomResourceDefinition or ServiceAccount.
type GroupKind string

// The kinds that the code decides by.
const (
	KindConfigMap             GroupKind = "ConfigMap"
	KindLimitRange            GroupKind = "LimitRange"
	KindNamespace             GroupKind = "Namespace"
	KindPersistentVolume      GroupKind = "PersistentVolume"
	KindPersistentVolumeClaim GroupKind = "PersistentVolumeClaim"
	KindPod                   GroupKind = "Pod"
	KindPodTemplate           GroupKind = "PodTemplate"
	KindResourceQuota         GroupKind = "ResourceQuota"
	KindSecret                GroupKind = "Secret"
	KindService               GroupKind = "Service"
	KindServiceAccount        GroupKind = "ServiceAccount"

	KindDeployment  GroupKind = "apps/Deployment"
	KindStatefulSet GroupKind = "apps/StatefulSet"
	KindDaemonSet   GroupKind = "apps/DaemonSet"
	KindJob         GroupKind = "batch/Job"

	KindRole               GroupKind = "rbac.authorization.k8s.io/Role"
	KindClusterRole        GroupKind = "rbac.authorization.k8s.io/ClusterRole"
	KindRoleBinding        GroupKind = "rbac.authorization.k8s.io/RoleBinding"
	KindClusterRoleBinding GroupKind = "rbac.authorization.k8s.io/ClusterRoleBinding"

	KindCustomResourceDefinition GroupKind = "apiextensions.k8s.io/CustomResourceDefinition"
	KindAPIService               GroupKind = "apiregistration.k8s.io/APIService"
	KindPriorityClass            GroupKind = "scheduling.k8s.io/PriorityClass"

	KindMutatingWebhookConfiguration     GroupKind = "admissionregistration.k8s.io/MutatingWebhookConfiguration"
	KindValidatingWebhookConfiguration   GroupKind = "admissionregistration.k8s.io/ValidatingWebhookConfiguration"
	KindMutatingAdmissionPolicy          GroupKind = "admissionregistration.k8s.io/MutatingAdmissionPolicy"
	KindValidatingAdmissionPolicy        GroupKind = "admissionregistration.k8s.io/ValidatingAdmissionPolicy"
	KindValidatingAdmissionPolicyBinding GroupKind = "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding"

	KindIngress        GroupKind = "networking.k8s.io/Ingress"
	KindRoute          GroupKind = "route.openshift.io/Route"
	KindServiceMonitor GroupKind = "monitoring.coreos.com/ServiceMonitor"
	KindPodMonitor     GroupKind = "monitoring.coreos.com/PodMonitor"

	KindClusterServiceVersion GroupKind = "operators.coreos.com/ClusterServiceVersion"
)

// The kinds of subjects in bindings. They are no GroupKinds: the code looks at a
// subject's kind alone, without its API group.
const (
	SubjectServiceAccount = "ServiceAccount"
	SubjectUser           = "User"
	SubjectGroup          = "Group"
)

// is reports whether a reference is of the kind. It compares group and kind without
// joining them, which avoids an allocation.
func (gk GroupKind) is(r Ref) bool {
	group, kind, found := strings.Cut(string(gk), "/")
	if !found {
		group, kind = "", string(gk)
	}
	return r.Kind == kind && r.Group() == group
}

// IsKind reports whether a decoded object is of one of the kinds.
func IsKind(body map[string]any, kinds ...GroupKind) bool {
	return Ref{APIVersion: String(body, "apiVersion"), Kind: String(body, "kind")}.Is(kinds...)
}

// Is reports whether the object named is of one of the kinds.
func (r Ref) Is(kinds ...GroupKind) bool {
	for _, kind := range kinds {
		if kind.is(r) {
			return true
		}
	}
	return false
}

// Is reports whether the object is of one of the kinds.
func (o *Object) Is(kinds ...GroupKind) bool { return o.Ref().Is(kinds...) }

// GroupKind returns the kind of the object named.
func (r Ref) GroupKind() GroupKind {
	if group := r.Group(); group != "" {
		return GroupKind(group + "/" + r.Kind)
	}
	return GroupKind(r.Kind)
}

// GroupKind returns the kind of the object.
func (o *Object) GroupKind() GroupKind { return o.Ref().GroupKind() }

// BuiltInGroup reports whether the kinds of an API group are the API server's own, so that
// no CRD defines them.
func BuiltInGroup(group string) bool {
	switch group {
	case "", "apps", "autoscaling", "batch", "extensions", "policy",
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io",
		"certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io",
		"internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io",
		"scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io":
		return true
	}
	return false
}
