package risk

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

const kubeSystem = "kube-system"

// outage returns as text the requests that a webhook's rule covers, which are those
// that fail while the webhook does not answer (admissionregistration.k8s.io/v1).
func (n *namespaces) outage(webhook, rule map[string]any) string {
	text := wording.Verbs(rule) + " " + wording.Resources(rule)
	if selector := preview.Map(webhook, "objectSelector"); len(selector) > 0 {
		text += " " + strings.TrimPrefix(strings.TrimPrefix(wording.Selector("objects", selector), "objects "), "every object ")
	}
	switch selector := preview.Map(webhook, "namespaceSelector"); {
	case inWholeCluster(rule):
		text += " in the whole cluster"
	case len(selector) > 0:
		text += " in " + wording.Selector("namespaces", selector) + n.examples(webhook)
	default:
		text += " in every namespace" + n.examples(webhook)
	}
	if conditions := preview.Maps(webhook, "matchConditions"); len(conditions) > 0 {
		var names []string
		for _, condition := range conditions {
			names = append(names, preview.String(condition, "name"))
		}
		text += ", as far as its conditions " + words.Series(names, "and") + " hold"
	}
	return text
}

// coversUnlabelled reports whether a webhook covers a namespace that has no labels but
// its name.
func coversUnlabelled(webhook map[string]any) bool {
	return selects(preview.Map(webhook, "namespaceSelector"), map[string]string{wording.NameLabel: "any-other"})
}

// selects reports whether a label selector matches the labels. A selector that cannot
// be parsed matches.
func selects(selector map[string]any, have map[string]string) bool {
	return parseSelector(selector).matches(have)
}

// labelSelector is a parsed label selector, for those that are compared with many
// objects.
type labelSelector struct {
	parsed labels.Selector // nil if it cannot be parsed
}

func parseSelector(selector map[string]any) labelSelector {
	parsed, err := selectorOf(selector)
	if err != nil {
		return labelSelector{}
	}
	return labelSelector{parsed: parsed}
}

// matches reports whether the selector matches the labels, as one does that cannot be
// parsed.
func (s labelSelector) matches(have map[string]string) bool {
	return s.parsed == nil || s.parsed.Matches(labels.Set(have))
}

func selectorOf(selector map[string]any) (labels.Selector, error) {
	var typed metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &typed); err != nil {
		return nil, err
	}
	return metav1.LabelSelectorAsSelector(&typed)
}

// inWholeCluster reports whether a webhook's rule covers only cluster-scoped resources,
// so that the namespaceSelector does not narrow it.
func inWholeCluster(rule map[string]any) bool {
	if preview.String(rule, "scope") == "Cluster" {
		return true
	}
	resources := wording.Strings(rule["resources"])
	return len(resources) > 0 && !slices.ContainsFunc(wording.Strings(rule["apiGroups"]), func(g string) bool {
		return g != "" && !strings.HasSuffix(g, ".k8s.io")
	}) && !slices.ContainsFunc(resources, func(r string) bool {
		kind, _, _ := strings.Cut(r, "/")
		return kind != "namespaces" && !right.OfCluster(kind)
	})
}
