package pages

import "github.com/kubectl-operator/kubectl-operator/preview/schema"

// definitionRules are the pages of the rules about CustomResourceDefinitions
// that change; package schema says what there is to say.
func definitionRules() []Page {
	var out []Page
	for _, rule := range schema.Rules() {
		out = append(out, Page{
			Rule: rule.Name, Severity: rule.Severity, When: rule.When, Title: rule.Title,
			Looks: rule.Looks, Why: rule.Why, Reduce: rule.Reduce,
			Example: Example{rule.Severity, "CustomResourceDefinition things.example.com " + rule.Title, rule.Example},
		})
	}
	return out
}
