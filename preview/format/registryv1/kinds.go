package registryv1

// additionalKind reports whether a bundle may contain objects of a kind in addition to
// its CSV and CRDs, and whether OLM takes the kind for namespaced (operator-registry,
// pkg/lib/bundle/supported_resources.go). The API group does not count. OLM takes
// VerticalPodAutoscaler for cluster-scoped.
func additionalKind(kind string) (supported, namespaced bool) {
	switch kind {
	case "Service", "ServiceAccount", "Role", "RoleBinding", "PrometheusRule", "ServiceMonitor",
		"PodMonitor", "Secret", "ConfigMap", "PodDisruptionBudget", "NetworkPolicy":
		return true, true
	case "ClusterRole", "ClusterRoleBinding", "PriorityClass", "VerticalPodAutoscaler",
		"ConsoleYAMLSample", "ConsoleQuickStart", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin":
		return true, false
	}
	return false, false
}
