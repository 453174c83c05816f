package registryv1

// additionalKind reports whether a bundle may contain a kind beside its CSV and
// CRDs, and whether OLM treats it as namespaced (operator-registry,
// pkg/lib/bundle/supported_resources.go). Only the kind counts, not its group.
// VerticalPodAutoscaler is cluster-scoped there, and so here.
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
