package rollout

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// podSelector returns the label selector of a workload's pods, or of the pods
// behind a Service; empty for objects without pods.
func podSelector(body map[string]any) string {
	labels := preview.Map(body, "spec", "selector", "matchLabels")
	switch preview.String(body, "kind") {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job":
	case "Service":
		labels = preview.Map(body, "spec", "selector")
	default:
		return ""
	}
	var terms []string
	for key, value := range labels {
		if text, ok := value.(string); ok {
			terms = append(terms, key+"="+text)
		}
	}
	for _, item := range preview.List(body, "spec", "selector", "matchExpressions") {
		if expression, ok := item.(map[string]any); ok {
			terms = append(terms, selectorTerm(expression))
		}
	}
	slices.Sort(terms)
	return strings.Join(terms, ",")
}

func selectorTerm(expression map[string]any) string {
	key := preview.String(expression, "key")
	var values []string
	for _, v := range preview.List(expression, "values") {
		if text, ok := v.(string); ok {
			values = append(values, text)
		}
	}
	set := " (" + strings.Join(values, ",") + ")"
	switch preview.String(expression, "operator") {
	case "In":
		return key + " in" + set
	case "NotIn":
		return key + " notin" + set
	case "DoesNotExist":
		return "!" + key
	}
	return key
}
