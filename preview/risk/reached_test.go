package risk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// holding makes a ServiceAccount of a namespace with a rule, as GROUP|RESOURCE|VERB or
// GROUP|RESOURCE|VERB|NAME, in a namespace or, if that is empty, in the cluster.
func holding(namespace, account, where, rule string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ServiceAccount, metadata: {name: %s, namespace: %s}}\n---\n", account, namespace) +
		granting(account, namespace, account, where, rule)
}

// granting makes a role with a rule, and binds it to an account; see holding.
func granting(role, namespace, account, where, rule string) string {
	parts := strings.Split(rule+"|", "|")
	kind, meta := "ClusterRole", "name: "+role
	if where != "" {
		kind, meta = "Role", meta+", namespace: "+where
	}
	return fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: %s, metadata: {%s}, rules: [{apiGroups: ['%s'], resources: ['%s'], verbs: ['%s'], resourceNames: [%s]}]}\n---\n",
		kind, meta, parts[0], parts[1], parts[2], parts[3]) +
		fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: %sBinding, metadata: {%s}, roleRef: {kind: %s, name: %s}, subjects: [{kind: ServiceAccount, name: %s, namespace: %s}]}\n---\n",
			kind, meta, kind, role, account, namespace)
}

// What an account may do in the pods of another leads to what the other may order of
// controllers, which no role shows.
func TestWhatReachedAccountsMayOrderIsNamed(t *testing.T) {
	ways := map[string]string{
		"commands":             "|pods/exec|create",
		"attaching":            "|pods/attach|create",
		"ephemeral containers": "|pods/ephemeralcontainers|patch",
		"images of pods":       "|pods|update",
		"a template":           "apps|deployments|patch|strong",
		"a new pod":            "|pods|create",
		"its token":            "|serviceaccounts/token|create|strong",
	}
	orders := []struct {
		rule, named string
		want        preview.Severity
	}{
		{"argoproj.io|applications|create", "create on applications in argoproj.io", preview.Critical},
		{"iam.services.k8s.aws|roles|create", "create on roles in iam.services.k8s.aws", preview.Critical},
		{"iam.aws.upbound.io|policies|patch", "patch on policies in iam.aws.upbound.io", preview.Critical},
		{"|configmaps|patch|aws-auth", "patch on configmaps named aws-auth", preview.Critical},
		{"discovery.k8s.io|endpointslices|update", "update on endpointslices in discovery.k8s.io", preview.Critical},
		{"security.openshift.io|securitycontextconstraints|use|privileged", "use on securitycontextconstraints in security.openshift.io named privileged", preview.Warning},
	}
	for way, right := range ways {
		for _, order := range orders {
			t.Run(way+" leads to "+order.rule, func(t *testing.T) {
				findings := evaluate(t, Input{Plan: planOf(t, holding("app", "weak", "app", right)+holding("app", "strong", "", order.rule))})
				var found *preview.Finding
				for i := range findings {
					if f := &findings[i]; f.Rule == "access-reach" && strings.HasSuffix(f.Object, "/ServiceAccount/app/weak") {
						found = f
					}
				}
				if found == nil {
					t.Fatalf("no finding of account weak: %v", ids(findings))
				}
				for _, part := range []string{"ServiceAccount app/strong, which can ", order.named} {
					if !strings.Contains(found.Evidence, part) {
						t.Errorf("%q is not named: %s", part, found.Evidence)
					}
				}
				worst := preview.Severity("")
				for _, f := range findings {
					if strings.Contains(f.Evidence, "app/weak") && (worst == "" || f.Severity.Rank() < worst.Rank()) {
						worst = f.Severity
					}
				}
				if worst != order.want {
					t.Errorf("the worst finding of account weak is %s, want %s", worst, order.want)
				}
			})
		}
	}
}

func TestAnOrderIsReachedOnlyThroughItsAccount(t *testing.T) {
	const order = "argoproj.io|applications|create"
	for _, test := range []struct {
		name, plan string
		of         string // account that has a path
		want       bool
	}{
		{"over a third account", holding("app", "weak", "mid", "|pods/exec|create") + holding("mid", "mid", "app", "|pods/exec|create") + holding("app", "strong", "", order), "weak", true},
		{"by a user that the plan binds", strings.Replace(holding("app", "weak", "app", "|pods/exec|create"), "{kind: ServiceAccount, name: weak, namespace: app}]}", "{kind: User, name: eve}]}", 1) +
			holding("app", "strong", "", order), "eve", true},
		{"of an account in another namespace", holding("app", "weak", "app", "|pods/exec|create") + holding("other", "strong", "", order), "weak", false},
		{"that the account may give itself", holding("app", "weak", "", order) + strings.ReplaceAll(holding("app", "weak", "app", "|pods/exec|create"), "name: weak,", "name: weak, labels: {a: b},") +
			holding("app", "strong", "", order), "weak", false},
		{"by a command in a named pod of another", holding("app", "weak", "app", "|pods/exec|create|other-0") + holding("app", "strong", "", order), "weak", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := false
			for _, f := range evaluate(t, Input{Plan: planOf(t, test.plan)}) {
				found = found || f.Rule == "access-reach" && strings.Contains(f.Evidence, test.of) && strings.Contains(f.Evidence, "argoproj.io")
			}
			if found != test.want {
				t.Errorf("a path is found: %v, want %v", found, test.want)
			}
		})
	}
}

// The search is shared by accounts with the same rights over accounts; what they may
// order differs.
func TestAccountsWithTheSameRightsReachEachOther(t *testing.T) {
	plan := planOf(t, holding("app", "first", "", "argoproj.io|applications|create")+holding("app", "second", "", "iam.services.k8s.aws|roles|create")+
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: app}, rules: [{apiGroups: [''], resources: [pods/exec], verbs: [create]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: r, namespace: app}, roleRef: {kind: Role, name: r}, subjects: [{kind: ServiceAccount, name: first, namespace: app}, {kind: ServiceAccount, name: second, namespace: app}]}
`)
	evidence := ""
	for _, f := range evaluate(t, Input{Plan: plan}) {
		if f.Rule == "access-reach" {
			evidence += f.Evidence + "\n"
		}
	}
	for _, part := range []string{
		"first: runs commands in pods of namespace app, such as those of ServiceAccount app/second, which can write objects that grant cloud permissions",
		"second: runs commands in pods of namespace app, such as those of ServiceAccount app/first, which can write objects that install software",
	} {
		if !strings.Contains(evidence, part) {
			t.Errorf("%q is missing:\n%s", part, evidence)
		}
	}
}

// An account that the cluster has already is judged by its rights there.
func TestAnAccountOfTheClusterIsReached(t *testing.T) {
	strong := preview.Subject{Kind: preview.SubjectServiceAccount, Namespace: "app", Name: "theirs"}
	g := grantOf("argoproj.io|applications|create")
	g.Subject, g.Change = strong, preview.GrantSame
	reach := access.GraphInput{ClusterGrants: []preview.Grant{g}, ExistingAccounts: []preview.Subject{strong}}
	f := find(evaluate(t, Input{Plan: planOf(t, holding("app", "weak", "app", "|pods/exec|create")), Reach: reach}), "access-reach")
	if f == nil || f.Severity != preview.Critical || !strings.Contains(f.Evidence, "ServiceAccount app/theirs, which can write objects that install software") {
		t.Errorf("found %+v", f)
	}
}
