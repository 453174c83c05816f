package risk

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// What a role gives stands at an object that the reviewer can remove: the role, or the
// package's binding where the role is the cluster's.
func TestRightsStandAtAnObjectOfThePlan(t *testing.T) {
	const (
		escalates = "system:controller:clusterrole-aggregation-controller"
		toGroup   = "{kind: Group, name: 'system:serviceaccounts:app', apiGroup: rbac.authorization.k8s.io}"
		toAccount = "{kind: ServiceAccount, name: op, namespace: app}"
		rbacID    = "rbac.authorization.k8s.io/"
	)
	escalate := roleHead + "}\nrules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}]\n---\n"
	for _, test := range []struct{ name, plan, object string }{
		{"a built-in role, for a group of accounts", toRole(escalates, toGroup), rbacID + "ClusterRoleBinding/-/b"},
		{"a built-in role, for an account", toRole(escalates, toAccount), rbacID + "ClusterRoleBinding/-/b"},
		{"a role of the plan", escalate + toRole("r", toAccount), rbacID + "ClusterRole/-/r"},
		{"a built-in role that the plan replaces", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: '" + escalates + "'}\n" +
			"rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}]\n---\n" + toRole(escalates, toAccount), rbacID + "ClusterRole/-/" + escalates},
		{"both, the role of the plan first", escalate + toRole("r", toAccount) + "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: a}\n" +
			"roleRef: {kind: ClusterRole, name: r}\nsubjects: [" + toAccount + "]\n", rbacID + "ClusterRole/-/r"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: planOf(t, test.plan)}), "rbac-escalate")
			if f == nil || f.Severity != preview.Critical || f.Object != test.object {
				t.Errorf("found %+v, want a critical of %s", f, test.object)
			}
		})
	}
}
