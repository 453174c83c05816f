package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func inNamespace(role, namespace string) string {
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b, namespace: " + namespace + "}\n" +
		"roleRef: {kind: ClusterRole, name: " + role + "}\nsubjects: [{kind: User, name: u}]\n"
}

// What a built-in role gives is said by a finding of the binding alone, so a
// binding in a namespace has one too.
func TestBuiltInRolesBoundInANamespace(t *testing.T) {
	for _, test := range []struct {
		role, namespace, rule string
		want                  preview.Severity
	}{
		{"cluster-admin", "app", "binding-cluster-admin", preview.Warning},
		{"cluster-admin", "kube-system", "binding-cluster-admin", preview.Critical},
		{"admin", "app", "binding-admin", preview.Warning},
		{"edit", "kube-system", "binding-admin", preview.Critical},
	} {
		f := find(evaluate(t, Input{Plan: planOf(t, inNamespace(test.role, test.namespace))}), test.rule)
		if f == nil || f.Severity != test.want || !strings.Contains(f.Evidence, "in namespace "+test.namespace+": "+test.role) {
			t.Errorf("%s in %s: %+v", test.role, test.namespace, f)
		}
	}
	if f := find(evaluate(t, Input{Plan: planOf(t, inNamespace("view", "app"))}), "binding-admin"); f != nil {
		t.Errorf("view is neither: %+v", f)
	}
}

func TestWhatWasNotLookedAtIsSaid(t *testing.T) {
	p := planOf(t, inNamespace("view", "app"))
	p.Reads = []preview.Read{{ID: EscalationReadID("ServiceAccounts of namespace kube-system may not be read")}, {ID: EscalationReadID("Roles may not be listed")}}
	f := find(evaluate(t, Input{Plan: p}), "access-reach-unread")
	if f == nil || f.Severity != preview.Info || !strings.Contains(f.Evidence, "kube-system") || !strings.Contains(f.Evidence, "Roles may not") {
		t.Errorf("%+v", f)
	}
}
