package access

import "github.com/kubectl-operator/kubectl-operator/preview"

// BuiltInRules returns the rules of a built-in role, with those that it aggregates, as
// grants without subject and scope; nil for any other role. Callers must not modify
// them.
func BuiltInRules(role preview.Ref) []preview.Grant {
	if !IsBuiltIn(role) {
		return nil
	}
	return newRoleSet(Input{}).rules(role)
}

// BoundByDefault reports whether every cluster has a binding of the role with a
// subject.
func BoundByDefault(role preview.Ref) bool {
	for _, binding := range defaultBindings() {
		if RoleOf(binding).ID() == role.ID() && len(Subjects(binding)) > 0 {
			return true
		}
	}
	return false
}

// DefaultBinding returns the binding that every cluster has from its start under this
// name; nil if there is none. Callers must not modify it.
func DefaultBinding(binding preview.Ref) map[string]any {
	for _, body := range defaultBindings() {
		if preview.RefOf(body).ID() == binding.ID() {
			return body
		}
	}
	return nil
}
