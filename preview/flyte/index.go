package flyte

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// index caches what is looked up in a plan, so that a plan with many engines and
// plugins is not searched for each of them.
type index struct {
	plan         *preview.Plan
	objects      map[string]*preview.Object
	bodies       []map[string]any
	clusterRoles []map[string]any
	byNamespace  map[string][]map[string]any
	mounting     map[string][]*preview.Object // workloads by the id of a ConfigMap that they read
	accounts     map[string]map[string]bool   // accounts that pods run as, by namespace
	granted      map[string][]string          // accounts that are given something, by namespace
	direct       map[preview.Subject][]preview.Grant
	groups       []preview.Grant
	naming       projectNames
	plugins      []taskPlugin // Flyte's own that need an operator, and those that the plan declares
	misdeclared  []string     // what is wrong with declarations
	leaving      []taskPlugin // that live objects declare and the plan does not any more
	heldUnknown  bool         // whether bindings of the cluster could not be listed

	// Filled as they are asked for.
	made     map[string][]string            // parts that templates make, by account
	packages map[string][]string            // those whose templates make some, by account
	bound    map[string]map[string][]string // parts, by account and namespace
	projects map[string][]string            // namespaces of projects, by how they are called
}

func newIndex(p *preview.Plan) *index {
	x := &index{
		plan: p, objects: p.ObjectsByID(), bodies: preview.PlannedBodies(p.Objects), byNamespace: map[string][]map[string]any{},
		mounting: map[string][]*preview.Object{}, accounts: map[string]map[string]bool{}, granted: map[string][]string{},
		direct: map[preview.Subject][]preview.Grant{}, made: map[string][]string{}, packages: map[string][]string{},
		bound: map[string]map[string][]string{}, projects: map[string][]string{},
	}
	declared := declaredIn(p)
	x.plugins, x.misdeclared = append(taskPlugins(), declared.plugins...), declared.wrong
	x.leaving = leavingIn(p, declared)
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Planned != nil {
			x.add(o)
		}
	}
	for _, g := range p.Access.Grants {
		switch s := g.Subject; s.Kind {
		case preview.SubjectGroup:
			x.groups = append(x.groups, g)
		case preview.SubjectServiceAccount:
			x.direct[s] = append(x.direct[s], g)
		}
	}
	for s := range x.direct {
		x.granted[s.Namespace] = append(x.granted[s.Namespace], s.Name)
	}
	x.naming.add(x.bodies)
	x.heldUnknown = slices.ContainsFunc(p.Unknowns, func(u preview.Unknown) bool {
		return u.Object == access.AllOf("ClusterRoleBinding") || u.Object == access.AllOf("RoleBinding")
	})
	return x
}

func (x *index) add(o *preview.Object) {
	ref := preview.RefOf(o.Planned)
	x.byNamespace[ref.Namespace] = append(x.byNamespace[ref.Namespace], o.Planned)
	if ref.Is(preview.KindClusterRole) {
		x.clusterRoles = append(x.clusterRoles, o.Planned)
	}
	pod, _ := preview.PodTemplate(o.Planned)
	if pod == nil {
		return
	}
	if x.accounts[ref.Namespace] == nil {
		x.accounts[ref.Namespace] = map[string]bool{}
	}
	x.accounts[ref.Namespace][accountOf(pod)] = true
	for _, id := range mountedConfigMaps(pod, ref.Namespace) {
		x.mounting[id] = append(x.mounting[id], o)
	}
}

// workloads returns the plan's workloads whose pods read a ConfigMap.
func (x *index) workloads(config *preview.Object) []map[string]any {
	var out []map[string]any
	for _, o := range x.mounting[config.Ref().ID()] {
		out = append(out, o.Planned)
	}
	return out
}

// grantsOf returns the grants to an account, and to groups that it may be a member of.
func (x *index) grantsOf(account preview.Subject) []preview.Grant {
	return slices.Concat(x.direct[account], x.groups)
}

// partsIn returns which of [projectParts] the plan's objects provide for an account in
// a namespace.
func (x *index) partsIn(account, namespace string) []string {
	if x.bound[account] == nil {
		x.bound[account] = map[string][]string{}
	}
	parts, known := x.bound[account][namespace]
	if !known {
		parts = boundParts(slices.Concat(x.byNamespace[namespace], x.clusterRoles), account)
		x.bound[account][namespace] = parts
	}
	return parts
}

// templatePartsFor returns which of [projectParts] the plan's templates create for
// an account.
func (x *index) templatePartsFor(account string) []string {
	parts, known := x.made[account]
	if !known {
		parts = templateParts(x.bodies, x.clusterRoles, account)
		x.made[account] = parts
	}
	return parts
}

// packagesFor returns the packages of the plan whose templates create any of
// [projectParts] for an account.
func (x *index) packagesFor(account string) []string {
	packages, known := x.packages[account]
	if !known {
		packages = templatePackages(x.plan, account)
		x.packages[account] = packages
	}
	return slices.Clone(packages)
}

// projectsCalled returns the namespaces that the plan creates or writes to and that are
// named like Flyte projects, sorted.
func (x *index) projectsCalled(names projectNames) []string {
	key := names.template + "\n" + strings.Join(names.domains, "\n")
	out, known := x.projects[key]
	if known {
		return out
	}
	pattern := names.pattern()
	seen := map[string]bool{}
	for _, body := range x.bodies {
		ref := preview.RefOf(body)
		name := ref.Namespace
		if ref.Is(preview.KindNamespace) {
			name = ref.Name
		}
		if name != "" && !seen[name] {
			seen[name] = pattern.MatchString(name)
		}
	}
	maps.DeleteFunc(seen, func(_ string, project bool) bool { return !project })
	out = slices.Sorted(maps.Keys(seen))
	x.projects[key] = out
	return out
}
