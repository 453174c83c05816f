package admission

import (
	"context"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// policy is a ValidatingAdmissionPolicy with one binding that denies.
type policy struct {
	selector
	parameters  *admissionv1.ParamKind // which the policies of a cluster are not judged with
	given       *admissionv1.ParamRef  // by the binding
	checks      conditions
	validations []admissionv1.Validation
}

func newPolicy(s selector, spec admissionv1.ValidatingAdmissionPolicySpec, given *admissionv1.ParamRef) *policy {
	texts := make([]string, 0, len(spec.Validations))
	for _, v := range spec.Validations {
		texts = append(texts, v.Expression)
	}
	return &policy{s, spec.ParamKind, given, newConditions(texts, spec.Variables), spec.Validations}
}

// evaluate returns the policy's messages that refuse a request, empty if it accepts it.
// known is false if an expression could not be evaluated here.
func (p *policy) evaluate(ctx context.Context, to *target) (message string, known bool) {
	if p.parameters != nil {
		return "", false
	}
	answers := p.checks.evaluate(ctx, to)
	if slices.Contains(answers, unknown) {
		return "", false
	}
	var messages []string
	for i, a := range answers {
		if a != fails {
			continue
		}
		text := p.validations[i].Message
		if text == "" {
			text = "failed expression: " + strings.TrimSpace(p.validations[i].Expression)
		}
		messages = append(messages, text)
	}
	return strings.Join(messages, "; "), true
}
