package risk

import (
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wellknown"
)

// manyNames is the most resourceNames of a rule that count as a restriction. A rule
// with more names counts as one without.
const manyNames = 10

// nameless are the verbs of requests that name no object, which RBAC permits for the
// resource name "". List, watch and deletecollection are permitted for another name
// too, if the request has a field selector for that name.
var nameless = []string{"create", "list", "watch", "deletecollection"}

// restricted reports whether resourceNames limit the matched part of a grant to a few
// objects, none of them dangerous.
func restricted(g preview.Grant, part shape) bool {
	if len(g.ResourceNames) == 0 || len(g.ResourceNames) > manyNames {
		return false
	}
	if slices.Contains(g.ResourceNames, "") && hasWhole(part.resources) &&
		slices.ContainsFunc(part.verbs, func(v string) bool { return v == all || slices.Contains(nameless, v) }) {
		return false
	}
	return !slices.ContainsFunc(g.ResourceNames, func(name string) bool { return isDangerous(g, part, name) })
}

// hasWhole reports whether one of the resources is not a subresource.
func hasWhole(resources []string) bool {
	return slices.ContainsFunc(resources, func(r string) bool { return !strings.Contains(r, "/") })
}

// usableVerbs returns the verbs of a rule that take effect in a grant with
// resourceNames on the resources that it matches. Requests without an object name, such
// as create, are permitted by the name "" only, all others by any other name. Requests
// for subresources always have a name.
func usableVerbs(verbs []string, g preview.Grant, resources []string) []string {
	if len(g.ResourceNames) == 0 {
		return verbs
	}
	whole := hasWhole(resources)
	subs := slices.ContainsFunc(resources, func(r string) bool { return r == all || strings.Contains(r, "/") })
	empty := slices.Contains(g.ResourceNames, "")
	named := slices.ContainsFunc(g.ResourceNames, func(name string) bool { return name != "" })
	return slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool {
		switch {
		case whole && empty && slices.Contains(nameless, verb), subs && named:
			return false
		case verb == "create" || verb == "deletecollection":
			return true
		}
		return !named
	})
}

// decisive are the resources that package wellknown lists by name.
var decisive = map[string]preview.GroupKind{"configmaps": preview.KindConfigMap, "secrets": preview.KindSecret}

// isDangerous reports whether a name in the resourceNames of a grant is the name of an
// object as dangerous as all of its resource.
func isDangerous(g preview.Grant, part shape, name string) bool {
	return slices.ContainsFunc(part.resources, func(resource string) bool {
		switch {
		case name == "":
			return false
		case g.Namespace == kubeSystem && resource == "secrets", ofPods(resource) && (g.Namespace == kubeSystem || access.StaticPod(name)):
			return true
		case strings.HasPrefix(resource, "serviceaccounts"):
			_, known := wellknown.FindAccount(g.Namespace, name)
			return known || g.Namespace == "kube-system" || controllers()[name]
		case decisive[resource] != "" && wellknown.Named(decisive[resource], g.Namespace, name):
			return true
		case resource == "apiservices":
			return right.OfKubernetes(name)
		case resource == "nodes":
			return slices.ContainsFunc(part.verbs, func(v string) bool { return strings.HasPrefix(v, "impersonate:") })
		case resource == "uids":
			return false
		case (resource == "groups" || resource == "users") && name == all:
			// The API server asks for this name where a request has many groups.
			return slices.ContainsFunc(part.verbs, func(v string) bool { return strings.HasPrefix(v, "impersonate:") })
		}
		return right.DangerousName(resource, name)
	})
}

// ofPods reports whether a resource is pods, or a subresource that runs commands in them
// or reaches their ports.
func ofPods(resource string) bool {
	of, sub, _ := strings.Cut(resource, "/")
	return of == "pods" && slices.Contains([]string{"", "exec", "attach", "ephemeralcontainers", "portforward", "proxy"}, sub)
}

// controllers returns the names of the ServiceAccounts of Kubernetes' own controllers,
// as a set.
var controllers = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, s := range access.BuiltInAccounts() {
		out[s] = true
	}
	return out
})
