package preview

// Right is one request that a user may or may not make. Either Resource or URL
// is set. Resource is as in RBAC, "pods" or "pods/log"; Namespace and Name are
// empty for all of them.
type Right struct {
	Verb, Group, Resource, Namespace, Name string
	URL                                    string
}

// String is the right as people ask for it.
func (r Right) String() string {
	if r.URL != "" {
		return r.Verb + " " + r.URL
	}
	return r.Verb + " " + r.Target()
}

// Target is a right without its verb.
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

// RightAnswer says whether the current user has a right. Err is set when that
// could not be found out.
type RightAnswer struct {
	Allowed bool
	Err     error
}
