package installer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// Subject is the placeholder in the bindings that [Manifests] writes.
const Subject = "INSTALLER"

// Manifests returns the roles and bindings that let a user apply a plan, in the order to
// apply them. They include the permissions in the plan's own roles, because the API
// server lets no subject grant more than it has. Namespaces that the plan creates come
// first, because Roles need them; permission to create namespaces is not included.
func Manifests(p *preview.Plan, plural Plural) []map[string]any {
	rights := Needed(p, plural)
	var out []map[string]any
	for _, own := range p.OwnNamespaces() {
		o := p.Object(preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: own}.ID())
		if o == nil || o.Package != "" || o.Action != preview.ActionCreate {
			continue
		}
		out = append(out, o.Planned)
		rights = slices.DeleteFunc(rights, func(r preview.Right) bool {
			return r.Resource == "namespaces" && r.Group == "" && r.Name == own && r.Verb != "get"
		})
	}
	rights = minimize(append(append(rights, Reads(p, plural)...), escalation(p)...))
	byNamespace := map[string][]preview.Right{}
	for _, r := range rights {
		byNamespace[r.Namespace] = append(byNamespace[r.Namespace], r)
	}
	name := "kubectl-operator-installer-" + p.Release.Name
	for _, ns := range slices.Sorted(maps.Keys(byNamespace)) {
		out = append(out, role(name, ns, rules(byNamespace[ns])), binding(name, ns, Subject))
	}
	return out
}

// Reads returns the rights for what a plan reads in addition to its own objects, such as
// quotas and RBAC. A user without them gets a plan with another digest.
func Reads(p *preview.Plan, plural Plural) []preview.Right {
	n := &rightSet{plural: fallbackPlural(p, plural)}
	n.addRecordedReads(p)
	n.addRBACReads(p)
	sharers := slices.ContainsFunc(p.Reads, func(r preview.Read) bool { return strings.HasPrefix(r.ID, "kubectl-operator/Sharers/") })
	for i := range p.Objects {
		// Quotas and limits of where pods go, what is stored of a kind whose
		// definition changes, goes, or loses its operator, and who relies on it.
		o := &p.Objects[i]
		if pod, _ := preview.PodTemplate(o.Planned); pod != nil {
			n.add("v1", "ResourceQuota", o.Namespace, "", "list")
			n.add("v1", "LimitRange", o.Namespace, "", "list")
		}
		if o.Is(preview.KindCustomResourceDefinition) && counted(o.Action) {
			resource, group, _ := strings.Cut(o.Name, ".")
			n.rights = append(n.rights, preview.Right{Verb: "list", Group: group, Resource: resource})
		}
		if o.Is(preview.KindCustomResourceDefinition) && shareable(p, o, sharers) {
			n.add("v1", "Secret", "", "", "list") // other releases' records: RBAC knows no labels
		}
		if o.Is(preview.KindNamespace) && o.Action == preview.ActionDelete {
			n.rights = append(n.rights, preview.Right{Verb: "list", Group: "*", Resource: "*", Namespace: o.Name})
		}
	}
	return n.sorted()
}

// addRecordedReads adds the permissions to get the objects that the plan recorded as
// read, and those that templates looked up.
func (n *rightSet) addRecordedReads(p *preview.Plan) {
	for _, read := range p.Reads {
		if strings.HasPrefix(read.ID, "nodes/") {
			n.add("v1", "Node", "", "", "list")
		}
		group, kind, namespace, name, err := preview.ParseID(read.ID)
		switch {
		case err != nil, group == "kubectl-operator", group == "api", group == "render":
			continue // what this tool found out, APIs that are served, answers to templates
		case group == rbacGroup && strings.HasSuffix(kind, "Binding"), group == "" && (kind == "ResourceQuota" || kind == "LimitRange"):
			continue // they are listed
		}
		apiVersion := "v1"
		if group != "" {
			apiVersion = group + "/v1"
		}
		n.add(apiVersion, kind, namespace, name, "get")
	}
	for _, pkg := range p.Packages {
		for _, read := range pkg.Parameters.ClusterReads {
			if ref, err := preview.ParseLookup(read.Name); read.Kind == preview.ReadLookup && err == nil {
				verb := "get"
				if ref.Name == "" {
					verb = "list"
				}
				n.add(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name, verb)
			}
		}
	}
}

// addRBACReads adds the permissions to list the roles and bindings that the plan's
// grants depend on: all bindings; ClusterRoles if the plan has aggregated roles or read
// roles of the cluster; Roles and ClusterRoles if an account of the plan can act as
// another.
func (n *rightSet) addRBACReads(p *preview.Plan) {
	var bodies []map[string]any
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Planned != nil {
			bodies = append(bodies, o.Planned)
		}
		if p.Member(o) {
			bodies = append(bodies, o.LiveBody)
		}
	}
	if len(p.Packages) == 0 || !access.TouchesRBAC(bodies) {
		return
	}
	kinds := []string{"ClusterRoleBinding", "RoleBinding"}
	leads := slices.ContainsFunc(p.Access.Grants, func(g preview.Grant) bool { return g.Change != preview.GrantRemoved && access.Escalates(g) })
	if leads {
		kinds = append(kinds, "Role")
	}
	if leads || slices.ContainsFunc(bodies, func(body map[string]any) bool { return preview.Map(body, "aggregationRule") != nil }) ||
		slices.ContainsFunc(p.Reads, func(r preview.Read) bool { return strings.HasPrefix(r.ID, rbacGroup+"/") }) {
		kinds = append(kinds, "ClusterRole")
	}
	for _, kind := range kinds {
		n.add(rbacGroup+"/v1", kind, "", "", "list")
	}
}

// counted reports whether a plan with this action on a CRD lists its custom resources,
// to count them.
func counted(a preview.Action) bool {
	return a == preview.ActionUpdate || a == preview.ActionDelete || a == preview.ActionKeep
}

// shareable reports whether the records of other releases are searched for a CRD, which
// they may contain too. sharers is true if the plan recorded some that do.
func shareable(p *preview.Plan, o *preview.Object, sharers bool) bool {
	if len(p.Packages) == 0 {
		return o.Action == preview.ActionDelete || o.Action == preview.ActionKeep
	}
	return o.Action == preview.ActionDelete || o.Action == preview.ActionShared ||
		o.Action == preview.ActionUpdate && sharers
}

// bindsOwnRole reports whether an object is a binding to a role among the objects of the
// plan, by id.
func bindsOwnRole(planned map[string]*preview.Object, o *preview.Object) bool {
	return o.Planned != nil && o.Is(preview.KindRoleBinding, preview.KindClusterRoleBinding) && planned[access.RoleOf(o.Planned).ID()] != nil
}

// escalation returns the permissions that RBAC's escalation check requires of a
// writer of roles and bindings: those in a role, and the verb bind for a role of
// the cluster. The rules of an aggregated role are not known beforehand.
func escalation(p *preview.Plan) []preview.Right {
	var out []preview.Right
	planned := p.ObjectsByID()
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Ref().Group() != rbacGroup || len(writeVerbs(o.Action)) == 0 || o.Planned == nil {
			continue
		}
		on := func(verb, resource, name string) {
			out = append(out, preview.Right{Verb: verb, Group: rbacGroup, Resource: resource, Namespace: o.Namespace, Name: name})
		}
		switch o.GroupKind() {
		case preview.KindRole, preview.KindClusterRole:
			if preview.Map(o.Planned, "aggregationRule") != nil {
				on("escalate", "clusterroles", o.Name)
				on("bind", "clusterroles", o.Name)
				continue
			}
			out = append(out, Held(o.Planned, o.Namespace)...)
		case preview.KindRoleBinding, preview.KindClusterRoleBinding:
			resource, to := "clusterroles", access.RoleOf(o.Planned)
			if to.Is(preview.KindRole) {
				resource = "roles"
			}
			if role := planned[to.ID()]; role == nil || role.Planned == nil || len(writeVerbs(role.Action)) == 0 {
				on("bind", resource, to.Name)
			}
		}
	}
	return out
}

// minimize returns the rights without those that another of them includes.
func minimize(rights []preview.Right) []preview.Right {
	rights = sorted(rights)
	have := make(map[preview.Right]bool, len(rights))
	var urls []preview.Right
	for _, r := range rights {
		have[r] = true
		if r.URL != "" {
			urls = append(urls, r)
		}
	}
	var out []preview.Right
	for _, r := range rights {
		holder := func(w preview.Right) bool { return w != r && have[w] }
		if r.URL != "" {
			holder = func(w preview.Right) bool { return w != r && holdsURL(w, r) && !holdsURL(r, w) }
		}
		if !slices.ContainsFunc(widerRights(r, urls), holder) {
			out = append(out, r)
		}
	}
	return out
}

// widerRights returns the rights that could include r: with "*" or no restriction in
// place of its fields, or urls for a URL. They are looked up in a map, because
// comparing each right with each would be slow for roles with 10,000 rules.
func widerRights(r preview.Right, urls []preview.Right) []preview.Right {
	if r.URL != "" {
		return urls
	}
	out := []preview.Right{r}
	for _, widen := range []func(*preview.Right){
		func(w *preview.Right) { w.Verb = "*" },
		func(w *preview.Right) { w.Group = "*" },
		func(w *preview.Right) { w.Resource = "*" },
		func(w *preview.Right) { w.Namespace = "" },
		func(w *preview.Right) { w.Name = "" },
	} {
		for _, w := range slices.Clone(out) {
			widen(&w)
			out = append(out, w)
		}
	}
	return out
}

// holdsURL reports whether a right to URL w includes one to URL r. A trailing "*"
// is a wildcard.
func holdsURL(w, r preview.Right) bool {
	prefix, all := strings.CutSuffix(w.URL, "*")
	return matches(w.Verb, r.Verb) && (w.URL == r.URL || all && strings.HasPrefix(r.URL, prefix))
}

func matches(wide, narrow string) bool { return wide == "*" || wide == narrow }

// rules combines rights into RBAC rules: verbs on the same resource and name first,
// then names with the same verbs.
func rules(rights []preview.Right) []map[string]any {
	type place struct{ group, resource, name, url string }
	verbs := map[place][]string{}
	for _, r := range rights {
		at := place{r.Group, r.Resource, r.Name, r.URL}
		verbs[at] = append(verbs[at], r.Verb)
	}
	type kind struct{ group, resource, verbs, named string }
	names := map[kind][]string{}
	for at, list := range verbs {
		slices.Sort(list)
		joined := strings.Join(slices.Compact(list), ",")
		switch {
		case at.url != "":
			k := kind{verbs: joined, named: "url"}
			names[k] = append(names[k], at.url)
		case at.name == "":
			names[kind{at.group, at.resource, joined, ""}] = nil
		default:
			k := kind{at.group, at.resource, joined, "names"}
			names[k] = append(names[k], at.name)
		}
	}
	var out []map[string]any
	keys := slices.SortedFunc(maps.Keys(names), func(a, b kind) int {
		return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.resource, b.resource), strings.Compare(a.named, b.named), strings.Compare(a.verbs, b.verbs))
	})
	for _, k := range keys {
		rule := map[string]any{"verbs": list(strings.Split(k.verbs, ","))}
		slices.Sort(names[k])
		switch k.named {
		case "url":
			rule["nonResourceURLs"] = list(names[k])
		case "names":
			rule["resourceNames"] = list(names[k])
			fallthrough
		default:
			rule["apiGroups"], rule["resources"] = list([]string{k.group}), list([]string{k.resource})
		}
		out = append(out, rule)
	}
	return out
}

func list(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}

func role(name, namespace string, rules []map[string]any) map[string]any {
	items := make([]any, len(rules))
	for i, r := range rules {
		items[i] = r
	}
	kind := "ClusterRole"
	if namespace != "" {
		kind = "Role"
	}
	return map[string]any{
		"apiVersion": rbacGroup + "/v1", "kind": kind, "metadata": meta(name, namespace), "rules": items,
	}
}

func binding(name, namespace, subject string) map[string]any {
	kind, roleKind := "ClusterRoleBinding", "ClusterRole"
	if namespace != "" {
		kind, roleKind = "RoleBinding", "Role"
	}
	return map[string]any{
		"apiVersion": rbacGroup + "/v1", "kind": kind, "metadata": meta(name, namespace),
		"roleRef":  map[string]any{"apiGroup": rbacGroup, "kind": roleKind, "name": name},
		"subjects": []any{map[string]any{"apiGroup": rbacGroup, "kind": "User", "name": subject}},
	}
}

func meta(name, namespace string) map[string]any {
	m := map[string]any{"name": name}
	if namespace != "" {
		m["namespace"] = namespace
	}
	return m
}
