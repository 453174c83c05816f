package right

import (
	"slices"
	"strings"
	"sync"
)

// names are the API groups, resources, verbs and subresources of Kubernetes, as sets.
type names struct {
	groups, resources, verbs, subresources map[string]bool
	// reached says by GROUP/RESOURCE whether a grant in a namespace has an effect on the
	// resource.
	reached map[string]bool
	// ofCluster holds the names of cluster-scoped resources.
	ofCluster map[string]bool
}

var known = sync.OnceValue(func() names {
	n := names{groups: map[string]bool{}, resources: map[string]bool{}, verbs: map[string]bool{}, subresources: map[string]bool{}, reached: map[string]bool{}, ofCluster: map[string]bool{}}
	for _, s := range Known() {
		n.groups[s.Group], n.resources[s.Resource] = true, true
		if _, sub, ok := strings.Cut(s.Resource, "/"); ok {
			n.subresources[sub] = true
		}
		// A grant in a namespace reaches the Namespace itself.
		n.reached[s.Group+"/"+s.Resource] = s.Namespaced || s.Group == "" && strings.HasPrefix(s.Resource, "namespaces")
		if !s.Namespaced {
			n.ofCluster[s.Resource] = true
		}
		for _, verb := range s.Verbs {
			n.verbs[verb] = true
		}
	}
	return n
})

// KnowsGroup reports whether an API group is served by Kubernetes itself.
func KnowsGroup(group string) bool { return known().groups[group] }

// KnowsVerb reports whether RBAC is asked for a verb by any request to Kubernetes.
func KnowsVerb(verb string) bool { return known().verbs[verb] }

// KnowsResource reports whether the resource in a rule is one of Kubernetes, or can
// match no request: RBAC has no wildcard "pods/*", and no API server asks for
// subresources that a kind does not have.
func KnowsResource(resource string) bool {
	n := known()
	name, sub, isSub := strings.Cut(resource, "/")
	switch {
	case n.resources[resource] || name == "*" && !isSub || name == "userextras":
		return true
	case !isSub:
		return false
	case name == "*":
		return sub == "*" || n.subresources[sub] || slices.Contains(common, sub)
	}
	return n.resources[name] && (sub == "*" || slices.Contains(common, sub))
}

// common are subresources that roles name for resources of any kind.
var common = []string{"finalizers", "status", "scale"}

// Namespaced reports whether a grant in a namespace has an effect on a resource of
// Kubernetes; ok is false for resources that Kubernetes does not have.
func Namespaced(group, resource string) (reached, ok bool) {
	reached, ok = known().reached[group+"/"+resource]
	return reached, ok
}

// OfCluster reports whether a resource of Kubernetes is cluster-scoped.
func OfCluster(resource string) bool { return known().ofCluster[resource] }
