package access

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	maxMeanings = 50   // rules with wildcards that are listed with what they match
	maxReached  = 1000 // resources that are listed for all of them together
)

//go:embed served.json
var servedData []byte

// served returns the table of resources, which is parsed at the first call and never
// modified.
var served = sync.OnceValue(func() []preview.ServedResource {
	var list []preview.ServedResource
	if json.Unmarshal(servedData, &list) != nil {
		return nil // a test holds the table against an API server
	}
	return list
})

// BuiltInServed returns the resources that an API server of [BuiltInVersion]
// serves without CRDs. Callers must not modify it.
func BuiltInServed() []preview.ServedResource { return served() }

// asked are resources that RBAC is asked about and that discovery does not list: those
// that name no objects, such as users, and those that kubelets serve.
var asked = [...]preview.ServedResource{
	{Resource: "groups", Verbs: []string{"impersonate"}},
	{Resource: "users", Verbs: []string{"impersonate"}},
	{Group: "authentication.k8s.io", Resource: "uids", Verbs: []string{"impersonate"}},
	{Group: "authentication.k8s.io", Resource: "userextras", Verbs: []string{"impersonate"}},
	{Group: "certificates.k8s.io", Resource: "signers", Verbs: []string{"approve", "attest", "sign"}},
	{Resource: "nodes/log", Verbs: []string{"create", "get"}},
	{Resource: "nodes/metrics", Verbs: []string{"create", "get"}},
	{Resource: "nodes/stats", Verbs: []string{"create", "get"}},
}

// specialVerbs are verbs of resources that discovery does not list.
var specialVerbs = map[string][]string{
	"serviceaccounts":                                  {"impersonate"},
	"roles." + rbacGroup:                               {"bind", "escalate"},
	"clusterroles." + rbacGroup:                        {"bind", "escalate"},
	"securitycontextconstraints.security.openshift.io": {"use"},
}

// danger is a resource that makes a wildcard dangerous, and the verbs that do.
type danger struct {
	name, verbs string
}

// dangers are the dangerous resources, the worst first.
var dangers = [...]danger{
	{"secrets", "get list watch create update patch"},
	{"pods/exec", "create get"},
	{"pods/attach", "create get"},
	{"nodes/proxy", "create get"},
	{"serviceaccounts/token", "create"},
	{"users", "impersonate"},
	{"groups", "impersonate"},
	{"serviceaccounts", "impersonate create update patch"},
	{"clusterroles." + rbacGroup, "bind escalate create update patch"},
	{"roles." + rbacGroup, "bind escalate create update patch"},
	{"clusterrolebindings." + rbacGroup, "create update patch"},
	{"rolebindings." + rbacGroup, "create update patch"},
	{"pods", "create update patch"},
	{"pods/ephemeralcontainers", "update patch"},
	{"deployments.apps", "create update patch"},
	{"daemonsets.apps", "create update patch"},
	{"statefulsets.apps", "create update patch"},
	{"replicasets.apps", "create update patch"},
	{"replicationcontrollers", "create update patch"},
	{"jobs.batch", "create update patch"},
	{"cronjobs.batch", "create update patch"},
	{"mutatingwebhookconfigurations.admissionregistration.k8s.io", "create update patch delete"},
	{"validatingwebhookconfigurations.admissionregistration.k8s.io", "create update patch delete"},
	{"mutatingadmissionpolicies.admissionregistration.k8s.io", "create update patch delete"},
	{"validatingadmissionpolicies.admissionregistration.k8s.io", "create update patch delete"},
	{"customresourcedefinitions.apiextensions.k8s.io", "create update patch delete"},
	{"apiservices.apiregistration.k8s.io", "create update patch delete"},
	{"signers.certificates.k8s.io", "approve sign attest"},
	{"certificatesigningrequests.certificates.k8s.io/approval", "update patch"},
	{"certificatesigningrequests.certificates.k8s.io/status", "update patch"},
	{"namespaces", "update patch delete"},
	{"nodes", "update patch delete"},
	{"persistentvolumes", "create update patch"},
	{"configmaps", "create update patch"},
	{"endpoints", "create update patch"},
	{"endpointslices.discovery.k8s.io", "create update patch"},
	{"securitycontextconstraints.security.openshift.io", "use create update patch"},
}

// Danger returns how dangerous a resource is, as a number to sort by: -1 for "*", the
// most dangerous, then the index in the list of dangerous resources, and the same last
// number for all others.
func Danger(group, resource string) int {
	if resource == all {
		return -1
	}
	name := resourceName(group, resource)
	for i, d := range dangers {
		if d.name == name {
			return i
		}
	}
	return len(dangers)
}

// Expand returns the resources in list that wildcards in grants match; nil if no grant
// has a wildcard. The CRDs among objects count as served. Removed grants and wildcards
// in URLs are left out.
func Expand(grants []preview.Grant, list []preview.ServedResource, objects []map[string]any) *preview.Wildcards {
	out := &preview.Wildcards{Meanings: []preview.WildcardExpansion{}}
	known := map[string]bool{}
	var x *expander
	for _, g := range grants {
		if g.Change == preview.GrantRemoved || !hasWildcard(g) {
			continue
		}
		key := grantKey(preview.Grant{Scope: g.Scope, APIGroups: g.APIGroups, Resources: g.Resources, Verbs: g.Verbs})
		switch {
		case known[key]:
			continue
		case len(out.Meanings) == maxMeanings:
			out.More++
		default:
			if x == nil {
				x = newExpander(list, objects)
			}
			out.Meanings = append(out.Meanings, x.expand(g))
		}
		known[key] = true
	}
	if len(known) == 0 {
		return nil
	}
	return out
}

// hasWildcard reports whether a grant has a wildcard in its API groups, resources or
// verbs.
func hasWildcard(g preview.Grant) bool {
	return len(g.Resources) > 0 && (slices.Contains(g.APIGroups, all) || slices.Contains(g.Verbs, all) ||
		slices.ContainsFunc(g.Resources, func(r string) bool { return r == all || strings.HasPrefix(r, all+"/") }))
}

type expander struct {
	served []preview.ServedResource
	danger map[string]int // name → place in dangers
	room   int
}

func newExpander(list []preview.ServedResource, objects []map[string]any) *expander {
	x := &expander{danger: map[string]int{}, room: maxReached}
	for i, d := range dangers {
		x.danger[d.name] = i
	}
	merged := map[string]preview.ServedResource{}
	for _, s := range slices.Concat(list, asked[:], definedResources(objects)) {
		name := resourceName(s.Group, s.Resource)
		verbs := slices.Concat(s.Verbs, merged[name].Verbs, specialVerbs[name])
		slices.Sort(verbs)
		s.Verbs = slices.Compact(verbs)
		merged[name] = s
	}
	for _, s := range merged {
		x.served = append(x.served, s)
	}
	slices.SortFunc(x.served, func(a, b preview.ServedResource) int {
		return strings.Compare(a.Group+"\x00"+a.Resource, b.Group+"\x00"+b.Resource)
	})
	return x
}

// resourceName returns RESOURCE.GROUP/SUBRESOURCE, without the parts that are empty.
func resourceName(group, resource string) string {
	if group == "" {
		return resource
	}
	resource, sub, ok := strings.Cut(resource, "/")
	if ok {
		return resource + "." + group + "/" + sub
	}
	return resource + "." + group
}

func (x *expander) expand(g preview.Grant) preview.WildcardExpansion {
	m := preview.WildcardExpansion{
		Scope: g.Scope, APIGroups: g.APIGroups, Resources: g.Resources, Verbs: g.Verbs,
		Dangerous: []preview.ResourceAccess{}, Others: []preview.ResourceAccess{},
	}
	named := map[string]bool{}
	for _, s := range x.served {
		if g.Scope == preview.ScopeNamespace && !s.Namespaced && !ownNamespace(s) {
			continue
		}
		if !hasGroup(g, s.Group) || !hasResource(g.Resources, s.Resource) {
			continue
		}
		named[s.Resource] = true
		verbs := slices.DeleteFunc(slices.Clone(s.Verbs), func(v string) bool { return !HasVerb(g, v) })
		if len(verbs) == 0 {
			continue
		}
		m.Count++
		x.list(&m, preview.ResourceAccess{Resource: resourceName(s.Group, s.Resource), Verbs: verbs})
	}
	slices.SortStableFunc(m.Dangerous, func(a, b preview.ResourceAccess) int { return x.danger[a.Resource] - x.danger[b.Resource] })
	for _, r := range g.Resources {
		if !named[r] && r != all && !strings.HasPrefix(r, all+"/") {
			m.NotServed = append(m.NotServed, r)
		}
	}
	return m
}

// ownNamespace reports whether a resource is namespaces or a subresource of it. A
// RoleBinding has an effect on the Namespace that it is in, although Namespaces are
// cluster-scoped.
func ownNamespace(s preview.ServedResource) bool {
	resource, _, _ := strings.Cut(s.Resource, "/")
	return s.Group == "" && resource == "namespaces"
}

func (x *expander) list(m *preview.WildcardExpansion, r preview.ResourceAccess) {
	at, risky := x.danger[r.Resource]
	risky = risky && slices.ContainsFunc(strings.Fields(dangers[at].verbs), func(v string) bool { return slices.Contains(r.Verbs, v) })
	switch {
	case risky: // there are few
		m.Dangerous = append(m.Dangerous, r)
	case x.room > 0:
		x.room--
		m.Others = append(m.Others, r)
	default:
		m.More++
	}
}

// definedResources returns the resources that the API server serves because of the CRDs
// among objects, subresources included.
func definedResources(objects []map[string]any) []preview.ServedResource {
	every := []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	var out []preview.ServedResource
	for _, body := range objects {
		if !preview.IsKind(body, preview.KindCustomResourceDefinition) {
			continue
		}
		s := preview.ServedResource{
			Group: preview.String(body, "spec", "group"), Resource: preview.String(body, "spec", "names", "plural"),
			Namespaced: preview.String(body, "spec", "scope") != "Cluster", Verbs: every,
		}
		out = append(out, s)
		for _, version := range preview.Maps(body, "spec", "versions") {
			for _, sub := range []string{"status", "scale"} {
				if _, ok := preview.Map(version, "subresources")[sub]; ok {
					out = append(out, preview.ServedResource{
						Group: s.Group, Resource: s.Resource + "/" + sub, Namespaced: s.Namespaced, Verbs: []string{"get", "patch", "update"},
					})
				}
			}
		}
	}
	return out
}
