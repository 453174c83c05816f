package admission

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
)

// selector selects the requests that a webhook or policy sees.
type selector struct {
	name       string                        // of the webhook or policy, as a review names it
	resources  []*admissionv1.MatchResources // all must match; nil matches everything
	conditions conditions
}

// selects reports whether the webhook or policy sees a request. It does too where a
// condition cannot be evaluated here.
func (s *selector) selects(ctx context.Context, to *target) bool {
	return s.selection(ctx, to) != fails
}

// selection returns whether the webhook or policy sees a request; unknown where that
// depends on a condition which cannot be evaluated here.
func (s *selector) selection(ctx context.Context, to *target) answer {
	if !s.concerns(to) {
		return fails
	}
	answers := s.conditions.evaluate(ctx, to)
	for _, worst := range []answer{fails, unknown} {
		if slices.Contains(answers, worst) {
			return worst
		}
	}
	return holds
}

// concerns reports whether the webhook or policy sees a request, its conditions aside.
func (s *selector) concerns(to *target) bool {
	return !slices.ContainsFunc(s.resources, func(resources *admissionv1.MatchResources) bool { return resources != nil && !matches(resources, to) })
}

// matches decides as the API server does for the create of an object.
func matches(m *admissionv1.MatchResources, to *target) bool {
	if to.GetNamespace() != "" && !selectsLabels(m.NamespaceSelector, to.namespace.Labels) {
		return false
	}
	if !selectsLabels(m.ObjectSelector, to.labels()) {
		return false
	}
	equivalent := m.MatchPolicy == nil || *m.MatchPolicy == admissionv1.Equivalent
	if matchesRule(m.ExcludeResourceRules, equivalent, to) {
		return false
	}
	return len(m.ResourceRules) == 0 || matchesRule(m.ResourceRules, equivalent, to)
}

func matchesRule(named []admissionv1.NamedRuleWithOperations, equivalent bool, to *target) bool {
	for _, rule := range named {
		if equivalent { // another version of the resource is the same resource
			rule.APIVersions = []string{"*"}
		}
		m := rules.Matcher{Rule: rule.RuleWithOperations, Attr: to.Attributes}
		if m.Matches() && (len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, to.GetName())) {
			return true
		}
	}
	return false
}

// selectsLabels reports whether a selector selects labels; one that is absent selects
// everything, and so does one that cannot be parsed.
func selectsLabels(s *metav1.LabelSelector, have map[string]string) bool {
	if s == nil {
		return true
	}
	parsed, err := metav1.LabelSelectorAsSelector(s)
	return err != nil || parsed.Matches(labels.Set(have))
}
