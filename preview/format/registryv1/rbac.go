package registryv1

import (
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/locate"
)

const rbacGroup = "rbac.authorization.k8s.io"

// newObject returns an object without a spec; namespace is empty for cluster-scoped
// kinds.
func newObject(apiVersion, kind, namespace, name string) map[string]any {
	meta := map[string]any{"name": name}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
}

// generated returns an object that was made from an entry of the CSV, with the entry's
// line as origin.
func (b *bundle) generated(body map[string]any, entry preview.LineIndex) format.RenderedObject {
	origin := b.csv.origin
	origin.Line = entry.At()
	return format.RenderedObject{Body: body, Origin: origin, Items: locate.Items(body, entry)}
}

// isGenerated reports whether an object was generated from the CSV, and not read
// from a manifest.
func (b *bundle) isGenerated(o format.RenderedObject) bool {
	return o.Origin.File == b.csv.origin.File && o.Origin.Document == b.csv.origin.Document
}

// serviceAccounts returns a ServiceAccount for each name in the permissions,
// except "default", which every namespace has.
func serviceAccounts(b *bundle, p params) ([]format.RenderedObject, error) {
	named := map[string]preview.LineIndex{} // the lines of the first permission that does
	for _, perm := range slices.Concat(b.csv.permissions, b.csv.clusterPermissions) {
		if _, known := named[perm.account()]; !known {
			named[perm.account()] = perm.lines
		}
	}
	delete(named, "default")
	var out []format.RenderedObject
	for _, name := range sortedKeys(named) {
		out = append(out, b.generated(newObject("v1", "ServiceAccount", p.namespace, name), named[name]))
	}
	return out, nil
}

// roles returns a Role and a RoleBinding for each permission and watched namespace; none
// if all namespaces are watched, because clusterRoles makes ClusterRoles then.
func roles(b *bundle, p params) ([]format.RenderedObject, error) {
	if p.allNamespaces() {
		return nil, nil
	}
	var out []format.RenderedObject
	for _, namespace := range p.targets {
		for _, perm := range b.csv.permissions {
			objects, err := b.grant(perm, p.namespace, namespace)
			if err != nil {
				return nil, err
			}
			out = append(out, objects...)
		}
	}
	return out, nil
}

func clusterRoles(b *bundle, p params) ([]format.RenderedObject, error) {
	perms := slices.Clone(b.csv.clusterPermissions)
	if p.allNamespaces() {
		for _, perm := range b.csv.permissions {
			perms = append(perms, promote(perm))
		}
	}
	var out []format.RenderedObject
	for _, perm := range perms {
		objects, err := b.grant(perm, p.namespace, "")
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	return out, nil
}

// promote returns a permission that becomes cluster-wide, with the rule that OLM adds
// to such ones: to read namespaces.
func promote(p permission) permission {
	p.Rules = append(slices.Clone(p.Rules), rule{
		Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"namespaces"},
	})
	return p
}

// grant returns the role of a permission in a namespace and its binding to the
// ServiceAccount in the install namespace; a ClusterRole and ClusterRoleBinding if
// namespace is empty.
func (b *bundle) grant(p permission, install, namespace string) ([]format.RenderedObject, error) {
	name, err := roleName(b.csv.name, p)
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", b.csv.name, err)
	}
	roleKind, bindingKind := "ClusterRole", "ClusterRoleBinding"
	if namespace != "" {
		roleKind, bindingKind = "Role", "RoleBinding"
	}
	role := newObject(rbacGroup+"/v1", roleKind, namespace, name)
	if p.Rules != nil {
		rules := make([]any, 0, len(p.Rules))
		for _, r := range p.Rules {
			rules = append(rules, r.body())
		}
		role["rules"] = rules
	}
	binding := newObject(rbacGroup+"/v1", bindingKind, namespace, name)
	binding["roleRef"] = map[string]any{"apiGroup": rbacGroup, "kind": roleKind, "name": name}
	binding["subjects"] = []any{
		map[string]any{"kind": "ServiceAccount", "name": p.account(), "namespace": install},
	}
	return []format.RenderedObject{b.generated(role, p.lines), b.generated(binding, p.lines)}, nil
}

func (r rule) body() map[string]any {
	body := map[string]any{"verbs": anyList(r.Verbs)}
	for key, list := range map[string][]string{
		"apiGroups": r.APIGroups, "resources": r.Resources,
		"resourceNames": r.ResourceNames, "nonResourceURLs": r.NonResourceURLs,
	} {
		if len(list) > 0 {
			body[key] = anyList(list)
		}
	}
	return body
}

func anyList(list []string) []any {
	out := make([]any, 0, len(list))
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

// additionalManifests returns the bundle's other manifests unchanged, with
// namespaced kinds moved to the install namespace.
func additionalManifests(b *bundle, p params) ([]format.RenderedObject, error) {
	var out []format.RenderedObject
	for _, o := range b.others {
		if _, namespaced := additionalKind(preview.String(o.body, "kind")); namespaced {
			preview.Map(o.body, "metadata")["namespace"] = p.namespace
		}
		out = append(out, format.RenderedObject{Body: o.body, Origin: o.origin, Items: locate.Items(o.body, o.lines)})
	}
	return out, nil
}
