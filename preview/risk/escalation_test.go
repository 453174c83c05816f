package risk

import (
	"fmt"
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

// A path to everything is critical where nothing that the account holds itself
// is: the permission that it begins with looks harmless by itself.
func TestAPathToEverythingIsCritical(t *testing.T) {
	for _, test := range []struct {
		name, plan string
		want       preview.Severity
	}{
		{"commands in pods of an administrator", climb("pods/exec", "get", "app"), preview.Critical},
		{"a container in them", climb("pods/ephemeralcontainers", "patch", "app"), preview.Critical},
		{"an account that is critical itself", climb("pods/exec", "get", "app") +
			"---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: w}, rules: [{apiGroups: [''], resources: [serviceaccounts/token], verbs: [create]}]}\n" +
			"---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: w}, roleRef: {kind: ClusterRole, name: w}, subjects: [{kind: ServiceAccount, name: op, namespace: app}]}\n", preview.Warning},
		{"Secrets alone, of which none has a token", climb("secrets", "get", "app"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := planOf(t, test.plan)
			got := preview.Severity("")
			if f := find(evaluate(t, Input{Plan: p}), "access-reach"); f != nil {
				got = f.Severity
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The accounts beyond the fiftieth are judged like the first.
func TestEveryAccountIsJudged(t *testing.T) {
	var plan strings.Builder
	for i := range 300 {
		fmt.Fprintf(&plan, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: a%03d, namespace: app}}\n---\n", i)
	}
	plan.WriteString(climb("pods/exec", "get", "app"))
	f := find(evaluate(t, Input{Plan: planOf(t, plan.String())}), "access-reach")
	if f == nil || f.Object != "core/ServiceAccount/app/op" {
		t.Errorf("%+v", f)
	}
}
