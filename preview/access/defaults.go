package access

import "github.com/kubectl-operator/kubectl-operator/preview"

// BuiltInRules returns the rules of a role that every cluster has, aggregation
// included, as grants without subject and scope; none of any other role. Callers
// must not modify them.
func BuiltInRules(role preview.Ref) []preview.Grant {
	if !IsBuiltIn(role) {
		return nil
	}
	return newRoleSet(Input{}).rules(role)
}

// BoundByDefault reports whether every cluster binds a role to a subject.
func BoundByDefault(role preview.Ref) bool {
	for _, binding := range defaultBindings() {
		if RoleOf(binding).ID() == role.ID() && len(Subjects(binding)) > 0 {
			return true
		}
	}
	return false
}

// DefaultBinding returns the binding of a name that every cluster has at its
// start, nil where there is none. Callers must not modify it.
func DefaultBinding(binding preview.Ref) map[string]any {
	for _, body := range defaultBindings() {
		if preview.RefOf(body).ID() == binding.ID() {
			return body
		}
	}
	return nil
}
