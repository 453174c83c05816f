package renamed_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/renamed"
)

func object(action preview.Action, kind, name string, body map[string]any) preview.Object {
	ref := preview.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: kind, Name: name}
	o := preview.Object{ID: ref.ID(), APIVersion: ref.APIVersion, Kind: kind, Name: name, Action: action}
	if action == preview.ActionDelete {
		o.LiveBody = body
	} else {
		o.Planned = body
	}
	return o
}

func rules(resources ...string) map[string]any {
	var out []any
	for _, r := range resources {
		out = append(out, map[string]any{"resources": []any{r}, "verbs": []any{"get"}})
	}
	return map[string]any{"rules": out}
}

func binding(role, account string) map[string]any {
	return map[string]any{
		"roleRef":  map[string]any{"kind": "ClusterRole", "name": role},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "namespace": "shop", "name": account}},
	}
}

// The roles of OLM are paired by the accounts that they are bound to, then by their rules.
func TestPairs(t *testing.T) {
	const create, remove = preview.ActionCreate, preview.ActionDelete
	p := &preview.Plan{Objects: []preview.Object{
		object(remove, "ClusterRole", "shop.v1-a", rules("pods", "secrets")), object(remove, "ClusterRoleBinding", "shop.v1-a", binding("shop.v1-a", "operator")),
		object(remove, "ClusterRole", "shop.v1-b", rules("nodes")), object(remove, "ClusterRoleBinding", "shop.v1-b", binding("shop.v1-b", "operator")),
		object(remove, "ClusterRole", "shop.v1-c", rules("events")), object(remove, "ClusterRoleBinding", "shop.v1-c", binding("shop.v1-c", "helper")),
		object(create, "ClusterRole", "shop.v2-x", rules("nodes")), object(create, "ClusterRoleBinding", "shop.v2-x", binding("shop.v2-x", "operator")),
		object(create, "ClusterRole", "shop.v2-y", rules("pods", "secrets", "leases")), object(create, "ClusterRoleBinding", "shop.v2-y", binding("shop.v2-y", "operator")),
		object(create, "ClusterRole", "shop.v2-z", rules("pods")), object(create, "ClusterRoleBinding", "shop.v2-z", binding("shop.v2-z", "another")),
	}}
	pairs := renamed.Pairs(p)
	for created, want := range map[string]string{
		"ClusterRole/-/shop.v2-x": "ClusterRole/-/shop.v1-b: ",
		"ClusterRole/-/shop.v2-y": "ClusterRole/-/shop.v1-a: +1 rule",
		"ClusterRole/-/shop.v2-z": "",
	} {
		const group = "rbac.authorization.k8s.io/"
		got, before := "", pairs[group+created]
		if before != nil {
			got = before.ID[len(group):] + ": " + renamed.Difference(before, p.Object(group+created))
		}
		if got != want {
			t.Errorf("%s replaces %q, want %q", created, got, want)
		}
	}
	for _, name := range []string{"shop.v2-x", "shop.v2-y"} {
		if before := pairs["rbac.authorization.k8s.io/ClusterRoleBinding/-/"+name]; before == nil {
			t.Errorf("binding %s is in the place of none", name)
		}
	}
}

// Roles that a program makes for one account by the thousand are paired by their rules in
// any order, and what has no equal with one of the first that are left.
func TestPairsOfManyRolesOfOneAccount(t *testing.T) {
	const many = 20000
	p := &preview.Plan{}
	for i := range many {
		before, after := fmt.Sprintf("old-%d", i), fmt.Sprintf("new-%d", many-1-i)
		p.Objects = append(p.Objects,
			object(preview.ActionDelete, "ClusterRole", before, rules(fmt.Sprintf("r%d", i))), object(preview.ActionDelete, "ClusterRoleBinding", before, binding(before, "operator")),
			object(preview.ActionCreate, "ClusterRole", after, rules(fmt.Sprintf("r%d", many-1-i+many/2))), object(preview.ActionCreate, "ClusterRoleBinding", after, binding(after, "operator")))
	}
	pairs, equal, other := renamed.Pairs(p), 0, 0
	for i := range p.Objects {
		created := &p.Objects[i]
		if created.Action != preview.ActionCreate || created.Kind != "ClusterRole" {
			continue
		}
		switch before := pairs[created.ID]; {
		case before == nil:
			t.Fatalf("%s is in the place of none", created.ID)
		case renamed.Difference(before, created) == "":
			equal++
		default:
			other++
		}
	}
	if equal != many/2 || other != many/2 {
		t.Errorf("%d replace a role of equal rules and %d another, want half of %d each", equal, other, many)
	}
}
