package preview

// Right is one request that a user may be permitted to make, such as "create
// pods". Either Resource or URL is set. Resource is as in RBAC, "pods" or
// "pods/log"; Namespace and Name are empty for all of them.
type Right struct {
	// Verb of the request, such as create.
	Verb string `json:"verb"`
	// Group of the API; empty for the core group.
	Group string `json:"group"`
	// Resource as in RBAC, such as pods or pods/log.
	Resource string `json:"resource"`
	// Namespace of the request; empty for all.
	Namespace string `json:"namespace,omitempty"`
	// Name of the object; empty for all.
	Name string `json:"name,omitempty"`
	// URL of a request that is not about a resource.
	URL string `json:"url,omitempty"`
}

// String returns the right in words, such as "create pods in namespace app".
func (r Right) String() string {
	if r.URL != "" {
		return r.Verb + " " + r.URL
	}
	return r.Verb + " " + r.Target()
}

// Target returns the right without its verb: resource, name and namespace.
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

// RightAnswer is the API server's answer whether the current user has a right. Err is
// set if it could not be asked.
type RightAnswer struct {
	Allowed bool
	Err     error
}
