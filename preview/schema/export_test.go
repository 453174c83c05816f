package schema

import "github.com/kubectl-operator/kubectl-operator/preview"

// Validate returns what the validator of a definition finds wrong with a resource.
func Validate(definition, resource map[string]any) (problems []string, err error) {
	return newValidator(definition, preview.RefOf(resource).APIVersion).validate(resource)
}
