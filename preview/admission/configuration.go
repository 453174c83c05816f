package admission

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The kinds that are listed.
const (
	mutatingWebhooks   = "MutatingWebhookConfiguration"
	validatingWebhooks = "ValidatingWebhookConfiguration"
	mutatingPolicy     = "MutatingAdmissionPolicy"
	mutatingBinding    = "MutatingAdmissionPolicyBinding"
	validatingPolicy   = "ValidatingAdmissionPolicy"
	validatingBinding  = "ValidatingAdmissionPolicyBinding"
)

// configuration is the admission of the cluster: the webhooks and policies that may
// change or refuse an object.
type configuration struct {
	mutators   []*selector // mutating webhooks and policies
	validators []*selector // validating webhooks
	policies   []*policy   // validating policies, once for each binding that denies
	unread     []string    // kinds that may not be listed
}

// readConfiguration reads the admission configuration of the cluster. Kinds that are not
// served are left out.
func readConfiguration(ctx context.Context, cluster Cluster) (*configuration, error) {
	c, found := &configuration{}, map[string][]map[string]any{}
	for _, kind := range []string{mutatingWebhooks, validatingWebhooks, mutatingPolicy, mutatingBinding, validatingPolicy, validatingBinding} {
		bodies, err := cluster.List(ctx, admissionv1.SchemeGroupVersion.String(), kind, "", "")
		switch {
		case preview.ReasonOf(err) == preview.ReasonNotServed:
		case err != nil && preview.Answered(err):
			c.unread = append(c.unread, kind)
		case err != nil:
			return nil, fmt.Errorf("listing each %s: %w", kind, err)
		}
		found[kind] = bodies
	}
	for _, one := range decoded[admissionv1.MutatingWebhookConfiguration](found[mutatingWebhooks]) {
		for _, w := range one.Webhooks {
			c.mutators = append(c.mutators, webhook(mutatingWebhooks+" "+one.Name, admissionv1.ValidatingWebhook{
				Name: w.Name, Rules: w.Rules, MatchPolicy: w.MatchPolicy, NamespaceSelector: w.NamespaceSelector,
				ObjectSelector: w.ObjectSelector, MatchConditions: w.MatchConditions,
			}))
		}
	}
	for _, one := range decoded[admissionv1.ValidatingWebhookConfiguration](found[validatingWebhooks]) {
		for _, w := range one.Webhooks {
			c.validators = append(c.validators, webhook(validatingWebhooks+" "+one.Name, w))
		}
	}
	c.addMutatingPolicies(
		decoded[admissionv1.MutatingAdmissionPolicy](found[mutatingPolicy]),
		decoded[admissionv1.MutatingAdmissionPolicyBinding](found[mutatingBinding]))
	c.addValidatingPolicies(
		decoded[admissionv1.ValidatingAdmissionPolicy](found[validatingPolicy]),
		decoded[admissionv1.ValidatingAdmissionPolicyBinding](found[validatingBinding]))
	return c, nil
}

// decoded returns objects as their type. Objects that do not fit are left out: the API
// server stores only objects that it can decode.
func decoded[T any](bodies []map[string]any) []T {
	var out []T
	for _, body := range bodies {
		var typed T
		if runtime.DefaultUnstructuredConverter.FromUnstructured(body, &typed) == nil {
			out = append(out, typed)
		}
	}
	return out
}

// webhook returns what selects the requests of one webhook of a configuration.
func webhook(configuration string, w admissionv1.ValidatingWebhook) *selector {
	resources := &admissionv1.MatchResources{NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, MatchPolicy: w.MatchPolicy}
	for _, rule := range w.Rules {
		resources.ResourceRules = append(resources.ResourceRules, admissionv1.NamedRuleWithOperations{RuleWithOperations: rule})
	}
	return &selector{
		name: "webhook " + w.Name + " of " + configuration, resources: []*admissionv1.MatchResources{resources},
		conditions: matchConditions(w.MatchConditions, nil),
	}
}

// addMutatingPolicies adds the policies that a binding puts in force.
func (c *configuration) addMutatingPolicies(policies []admissionv1.MutatingAdmissionPolicy, bindings []admissionv1.MutatingAdmissionPolicyBinding) {
	for _, p := range policies {
		for _, b := range bindings {
			if b.Spec.PolicyName != p.Name {
				continue
			}
			c.mutators = append(c.mutators, &selector{
				name:       mutatingPolicy + " " + p.Name,
				resources:  []*admissionv1.MatchResources{p.Spec.MatchConstraints, b.Spec.MatchResources},
				conditions: matchConditions(p.Spec.MatchConditions, p.Spec.Variables),
			})
		}
	}
}

// addValidatingPolicies adds the policies that a binding puts in force to refuse
// requests, and not only to warn of them.
func (c *configuration) addValidatingPolicies(policies []admissionv1.ValidatingAdmissionPolicy, bindings []admissionv1.ValidatingAdmissionPolicyBinding) {
	for i := range policies {
		p := &policies[i]
		for _, b := range bindings {
			if b.Spec.PolicyName != p.Name || !slices.Contains(b.Spec.ValidationActions, admissionv1.Deny) {
				continue
			}
			c.policies = append(c.policies, newPolicy(selector{
				name:       validatingPolicy + " " + p.Name,
				resources:  []*admissionv1.MatchResources{p.Spec.MatchConstraints, b.Spec.MatchResources},
				conditions: matchConditions(p.Spec.MatchConditions, p.Spec.Variables),
			}, p.Spec, b.Spec.ParamRef))
		}
	}
}

// matchConditions returns the conditions for a webhook or policy to see a request.
func matchConditions(all []admissionv1.MatchCondition, variables []admissionv1.Variable) conditions {
	texts := make([]string, 0, len(all))
	for _, c := range all {
		texts = append(texts, c.Expression)
	}
	return newConditions(texts, variables)
}
