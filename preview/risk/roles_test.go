package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestRolesAsObjects(t *testing.T) {
	role := func(name, meta, rules string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: '" + name + "'" + meta + "}\nrules: [" + rules + "]\n"
	}
	const (
		secrets  = "{apiGroups: [''], resources: [secrets], verbs: [get, list]}"
		anything = "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}"
		pods     = "{apiGroups: [''], resources: [pods], verbs: [get]}"
		toView   = ", labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}"
		toEdit   = ", labels: {rbac.authorization.k8s.io/aggregate-to-edit: 'true'}"
		toAdmin  = ", labels: {rbac.authorization.k8s.io/aggregate-to-admin: 'true'}"
	)
	inNamespace := func(namespace, role string) string {
		return strings.Replace(strings.Replace(toRole(role, "{kind: ServiceAccount, name: op, namespace: app}"), "ClusterRoleBinding", "RoleBinding", 1), "{name: b}", "{name: b, namespace: "+namespace+"}", 1)
	}
	for _, test := range []struct {
		name, text, rule string
		want             preview.Severity
	}{
		{"view reads Secrets from now on", role("view", "", secrets), "role-redefined", preview.Critical},
		{"admin may do anything from now on", role("admin", "", anything), "role-redefined", preview.Critical},
		{"admin reads Secrets, as it did", role("admin", "", secrets), "role-redefined", preview.Warning},
		{"cluster-admin reads pods alone", role("cluster-admin", "", pods), "role-redefined", preview.Warning},
		{"the role of kubelets, which no binding gives", role("system:node", "", anything), "role-redefined", preview.Critical},
		{"a role that every user has, whose grants are findings", role("system:basic-user", "", secrets), "role-redefined", preview.Warning},
		{"another role of a like name", role("system:views", "", secrets), "role-redefined", ""},
		{"Secrets are added to view", role("r", toView, secrets), "aggregated-role", preview.Critical},
		{"Secrets are added to edit, which has them", role("r", toEdit, secrets), "aggregated-role", preview.Info},
		{"escalate is added to edit", role("r", toEdit, "{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}"), "aggregated-role", preview.Critical},
		{"everything is added to admin", role("r", toAdmin, anything), "aggregated-role", preview.Critical},
		{"kinds of the package are added to admin", role("r", toAdmin, "{apiGroups: [x.io], resources: [ys], verbs: ['*']}") + "---\n" + crdOf("x.io", "ys"), "aggregated-role", preview.Info},
		{"Secrets are added to the aggregated roles of another system", role("r", ", labels: {duck.knative.dev/addressable: 'true'}", secrets), "aggregated-elsewhere", preview.Critical},
		{"kinds of the package are added to another system", role("r", ", labels: {duck.knative.dev/addressable: 'true'}", "{apiGroups: [x.io], resources: [ys], verbs: ['*']}") + "---\n" + crdOf("x.io", "ys"), "aggregated-elsewhere", ""},
		{"edit in the whole cluster", toRole("edit", "{kind: ServiceAccount, name: op, namespace: app}"), "binding-admin", preview.Critical},
		{"edit in kube-system", inNamespace("kube-system", "edit"), "binding-admin", preview.Critical},
		{"edit in the release's namespace", inNamespace("app", "edit"), "binding-admin", preview.Warning},
		{"a person", toRole("r", "{kind: User, name: alice}") + "---\n" + role("r", "", pods), "binding-outside", preview.Warning},
		{"nodes", toRole("r", "{kind: Group, name: 'system:nodes'}") + "---\n" + role("r", "", pods), "binding-outside", preview.Warning},
		{"a default binding loses its subjects", strings.Replace(toRole("system:node-proxier", ""), "{name: b}", "{name: 'system:node-proxier'}", 1), "binding-redefined", preview.Warning},
		{"a default binding as it is", strings.Replace(toRole("system:node-proxier", "{kind: User, name: 'system:kube-proxy', apiGroup: rbac.authorization.k8s.io}"), "{name: b}", "{name: 'system:node-proxier'}", 1), "binding-redefined", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: planOf(t, test.text)})
			got := preview.Severity("")
			if f := find(findings, test.rule); f != nil {
				got = f.Severity
			}
			if got != test.want {
				t.Errorf("%q, want %q: %v", got, test.want, ids(findings))
			}
		})
	}
}

func TestRolesThatTheClusterCollects(t *testing.T) {
	p := planOf(t, roleHead+", labels: {collect: me}}\nrules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]\n")
	p.Reads = []preview.Read{{ID: "rbac.authorization.k8s.io/ClusterRole/-/theirs", UID: "1", Body: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": "theirs"},
		"aggregationRule": map[string]any{"clusterRoleSelectors": []any{map[string]any{"matchLabels": map[string]any{"collect": "me"}}}},
	}}}
	if f := find(evaluate(t, Input{Plan: p}), "aggregated-elsewhere"); f == nil || f.Severity != preview.Critical || !strings.Contains(f.Evidence, "theirs") {
		t.Errorf("found %+v", f)
	}
}
