package registryv1

// additionalKind reports the kinds that a bundle may ship beside its CSV and CRDs, and
// those that OLM treats as namespaced (operator-registry,
// pkg/lib/bundle/supported_resources.go). Only the kind counts, not its group.
// VerticalPodAutoscaler stands among the cluster-scoped ones as it does there.
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
