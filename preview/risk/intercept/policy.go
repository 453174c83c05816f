package intercept

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// RuleOf returns a rule of a webhook or of a policy's matchConstraints.
func RuleOf(rule map[string]any) Rule {
	return Rule{
		Groups: wording.Strings(rule["apiGroups"]), Resources: wording.Strings(rule["resources"]), Operations: wording.Strings(rule["operations"]), Scope: preview.String(rule, "scope"),
	}
}

// CopiesSecrets returns where a policy that matches Secrets copies their
// content to, the audit log or the messages of refused requests; nil where it copies
// nothing.
func CopiesSecrets(policy map[string]any) *preview.Seen {
	covered := slices.ContainsFunc(preview.Maps(policy, "spec", "matchConstraints", "resourceRules"), func(rule map[string]any) bool {
		return slices.ContainsFunc(RuleOf(rule).Covered(), func(row Resource) bool { return row.Group == "" && row.Name == "secrets" })
	})
	if !covered {
		return nil
	}
	variables := preview.Maps(policy, "spec", "variables")
	copies := func(expression string) bool {
		for _, v := range slices.Backward(variables) { // each may use those before it
			if name := preview.String(v, "name"); name != "" && strings.Contains(expression, "variables."+name) {
				expression += " " + preview.String(v, "expression")
			}
		}
		return strings.Contains(expression, "ata") || strings.Contains(expression, "bject)") || strings.Contains(expression, "bject[")
	}
	for _, one := range preview.Maps(policy, "spec", "auditAnnotations") {
		if copies(preview.String(one, "valueExpression")) {
			return copied(words.CopiesToAudit)
		}
	}
	for _, one := range preview.Maps(policy, "spec", "validations") {
		if copies(preview.String(one, "messageExpression")) {
			return copied(words.CopiesToAnswers)
		}
	}
	return nil
}

func copied(to words.Key) *preview.Seen {
	fact := to.Of()
	return &fact
}
