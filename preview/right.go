package preview

// Right is one request that a user may be permitted to make, such as "create
// pods". Either Resource or URL is set. Resource is as in RBAC, "pods" or
// "pods/log"; Namespace and Name are empty for all of them.
type Right struct {
	Verb, Group, Resource, Namespace, Name string
	URL                                    string
}

// String returns the right as it is typed, such as "create pods -n app".
func (r Right) String() string {
	if r.URL != "" {
		return r.Verb + " " + r.URL
	}
	return r.Verb + " " + r.Target()
}

// Target returns the resource and namespace of a right, without the verb.
func (r Right) Target() string {
	text := r.Resource
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Name != "" {
		text += " " + r.Name
	}
	if r.Namespace != "" {
		text += " in namespace " + r.Namespace
	}
	return text
}

// RightAnswer is whether the current user has a right. Err is set if that could
// not be checked.
type RightAnswer struct {
	Allowed bool
	Err     error
}
