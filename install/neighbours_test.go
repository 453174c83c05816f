package install_test

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// A tenant binds a Role of the tenant's own namespace to all ServiceAccounts: no reviewed
// plan depends on it, unless an account of the plan controls the cluster by it.
func TestClusterBindingsOfANeighbourLeavePlansAlone(t *testing.T) {
	w := newWorld(t, "nb")
	account := "{apiVersion: v1, kind: ServiceAccount, metadata: {name: op}}"
	role := `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: op}, rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]}`
	binding := `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: op},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: op}, subjects: [{kind: ServiceAccount, name: op}]}`
	content := w.content(t, "1.0.0", account, role, binding)
	w.edit(t, "create", "namespace", "nb-neighbour")
	t.Cleanup(func() { w.edit(t, "delete", "namespace", "nb-neighbour", "--wait=false") })
	reviewed := w.plan(t, content)

	all := []string{"--group=system:serviceaccounts", "-n", "nb-neighbour"}
	w.edit(t, "create", "role", "readable", "--verb=get,list,create,update,delete", "--resource=pods,configmaps,deployments.apps", "-n", "nb-neighbour")
	w.edit(t, append([]string{"create", "rolebinding", "readable", "--role=readable"}, all...)...)
	w.edit(t, append([]string{"create", "rolebinding", "editable", "--clusterrole=edit"}, all...)...)
	if again := w.plan(t, content); again.Digest != reviewed.Digest {
		t.Errorf("two bindings of a neighbour move the plan: %v", again.Access.Grants)
	}

	// An account of the neighbour controls the cluster, and now anybody acts as it.
	w.edit(t, "create", "serviceaccount", "root", "-n", "nb-neighbour")
	w.edit(t, "create", "clusterrolebinding", "nb-root", "--clusterrole=cluster-admin", "--serviceaccount=nb-neighbour:root")
	t.Cleanup(func() { w.edit(t, "delete", "clusterrolebinding", "nb-root") })
	raised := w.plan(t, content)
	if raised.Digest == reviewed.Digest {
		t.Error("a binding by which the plan's account controls the cluster is no fact of the plan")
	}
	if !slices.ContainsFunc(raised.Findings, func(f preview.Finding) bool {
		return f.Severity == preview.Critical && f.Rule == rules.AccessReach.Name
	}) {
		t.Errorf("it is not said what the account controls: %v", raised.Findings)
	}
	w.edit(t, "delete", "rolebinding", "editable", "readable", "-n", "nb-neighbour")

	w.edit(t, append([]string{"create", "rolebinding", "again", "--clusterrole=view"}, all...)...)
	w.apply(t, reviewed)
}
