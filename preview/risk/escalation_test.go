package risk

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
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

// The findings about an account say at least what it amounts to, whichever kind of
// subject it is, and whether one right or several lead there.
func TestSubjectsThatAmountToMuchHaveACriticalFinding(t *testing.T) {
	role := func(rules string) string {
		return "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [" + rules + "]}\n---\n"
	}
	bound := func(subject string) string {
		return "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: r}, subjects: [" + subject + "]}\n"
	}
	const (
		group    = "{kind: Group, name: crew}"
		account  = "{kind: ServiceAccount, namespace: app, name: op}"
		secrets  = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: keeper, namespace: app}}\n---\n" + "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: s}, rules: [{apiGroups: [''], resources: [secrets], verbs: [list]}]}\n---\n" + "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: s}, roleRef: {kind: ClusterRole, name: s}, subjects: [{kind: ServiceAccount, namespace: app, name: keeper}]}\n---\n"
		tokens   = "{apiGroups: [''], resources: [serviceaccounts/token], verbs: [create], resourceNames: [keeper]}"
		cronjobs = "{apiGroups: [batch], resources: [cronjobs], verbs: [create]}"
		reads    = "{apiGroups: [batch], resources: [cronjobs], verbs: [get]}"
	)
	own := "{apiVersion: v1, kind: ServiceAccount, metadata: {name: op, namespace: app}}\n---\n"
	for _, test := range []struct {
		about, name, plan, evidence string
	}{
		{"a group that may have a token of an account that reads every Secret", "crew", secrets + role(tokens) + bound(group), "Group crew: obtains a token of ServiceAccount app/keeper"},
		{"an account of the plan with that right", "op", own + secrets + role(tokens) + bound(account), "obtains a token of ServiceAccount app/keeper"},
		{"an account of others with that right", "op", secrets + role(tokens) + bound(account), "ServiceAccount app/op: obtains a token of ServiceAccount app/keeper"},
		{"an account that runs pods in any namespace", "op", own + role(cronjobs) + bound(account), "as a result, ServiceAccount app/op runs privileged pods"},
		{"a group that runs pods in any namespace", "crew", role(cronjobs) + bound(group), "Group crew cluster-wide: create on cronjobs"},
		{"an account that only reads them", "op", own + role(reads) + bound(account), ""},
	} {
		t.Run(test.about, func(t *testing.T) {
			var criticals, evidence []string
			for _, f := range evaluate(t, Input{Plan: planOf(t, test.plan)}) {
				if f.Severity == preview.Critical && slices.ContainsFunc(f.Subjects, func(s preview.Subject) bool { return s.Name == test.name }) {
					criticals = append(criticals, f.ID)
				}
				evidence = append(evidence, f.Evidence)
			}
			if all := strings.Join(evidence, "\n"); len(criticals) > 0 != (test.evidence != "") || !strings.Contains(all, test.evidence) {
				t.Errorf("critical: %v, want %q in\n%s", criticals, test.evidence, all)
			}
		})
	}
}

// Who may turn the conversion of all objects to a server of the package controls the
// cluster: an account of the plan, and one of the cluster that the plan can act as.
func TestWhoChangesDefinitionsControlsTheCluster(t *testing.T) {
	const (
		run    = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: app, labels: {a: b}}, spec: {serviceAccountName: op, containers: [{name: c, image: 'c@sha256:00'}]}}\n---\n"
		server = run + "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: app}, spec: {selector: {a: b}}}\n---\n"
		crds   = "apiextensions.k8s.io|customresourcedefinitions|patch"
	)
	injector := preview.PlannedBodies(planOf(t, strings.TrimSuffix(holding("app", "injector", "", crds), "---\n")).Objects)
	others, _ := access.ClusterGrants(access.Input{Existing: injector})
	enters := holding("app", "op", "app", "|pods/exec|create")
	for _, test := range []struct{ name, plan, extent string }{
		{"an account of the plan, with a server", server + holding("app", "op", "", crds), "cluster-admin"},
		{"without a server", run + holding("app", "op", "", crds), "cluster-writes"},
		{"one CRD", server + holding("app", "op", "", crds+"|things.example.com"), "cluster-writes"},
		{"as an account of the cluster, with a server", server + enters, "cluster-admin"},
		{"as an account of the cluster, without a server", run + enters, "cluster-writes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := planOf(t, strings.TrimSuffix(test.plan, "---\n"))
			findings := evaluate(t, Input{Plan: p, Reach: access.GraphInput{ClusterGrants: others, ExistingAccounts: access.ActingAccounts(others)}})
			at := slices.IndexFunc(p.Access.Accounts, func(a preview.Account) bool { return a.Subject.Name == "op" })
			if got := p.Access.Accounts[at].Extent; got != test.extent {
				t.Errorf("extent %s, want %s", got, test.extent)
			}
			if critical := slices.ContainsFunc(findings, func(f preview.Finding) bool { return f.Severity == preview.Critical }); critical != (test.extent == "cluster-admin") {
				t.Errorf("%v", findings)
			}
		})
	}
}

// Rights that no account of the plan has alone count as those of one person, who has
// the pods of all of them.
func TestAccountsOfThePlanTogether(t *testing.T) {
	bound := func(account, rule string) string {
		return "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + account + "}, rules: [" + rule + "]}\n---\n" +
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: " + account + "}, roleRef: {kind: ClusterRole, name: " + account + "}, subjects: [{kind: ServiceAccount, namespace: app, name: " + account + "}]}\n---\n"
	}
	brought := func(account, rule string) string {
		return "{apiVersion: v1, kind: ServiceAccount, metadata: {name: " + account + ", namespace: app}}\n---\n" + bound(account, rule)
	}
	const (
		asks     = "{apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests], verbs: [create]}"
		approves = "{apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests/approval], verbs: [update]}, {apiGroups: [certificates.k8s.io], resources: [signers], resourceNames: [kubernetes.io/kube-apiserver-client], verbs: [approve]}"
		offers   = "{apiGroups: [''], resources: [persistentvolumes], verbs: [create]}"
		claims   = "{apiGroups: [''], resources: [persistentvolumeclaims], verbs: [create]}"
		harmless = "{apiGroups: [''], resources: [nodes], verbs: [list]}"
		severe   = "{apiGroups: [''], resources: [nodes/proxy], verbs: [get]}"
		token    = "creates and reads a Secret in namespace app with a token of ServiceAccount app/c, which can write objects that install software"
	)
	const reads = "|secrets|get"
	makes, orders := holding("app", "a", "app", "|secrets|create"), holding("app", "c", "", "argoproj.io|applications|create")
	for _, test := range []struct {
		name, plan string
		together   []string
		evidence   string
	}{
		{"who makes Secrets and who reads one, of an account that may order software", makes + holding("app", "b", "app", reads) + orders, []string{"a", "b"}, token},
		{"the same in other hands", makes + granting("b", "app", "b", "app", reads) + orders, nil, ""},
		{"of an account that may order nothing", makes + holding("app", "b", "app", reads) + brought("c", harmless), nil, ""},
		{"one of which may do both", makes + granting("both", "app", "a", "app", reads) + holding("app", "b", "app", reads) + orders, nil, ""},
		{"who asks and who approves", brought("a", asks) + brought("b", approves), []string{"a", "b"}, "approves a client certificate"},
		{"another account does not matter", brought("a", asks) + brought("b", approves) + brought("c", harmless), []string{"a", "b"}, "approves a client certificate"},
		{"nor does one that is critical itself", brought("a", asks) + brought("b", approves) + brought("c", severe), []string{"a", "b"}, "approves a client certificate"},
		{"an account of others", brought("a", asks) + bound("b", approves), nil, ""},
		{"a user whom the package binds", brought("a", asks) + strings.ReplaceAll(bound("b", approves), "kind: ServiceAccount, namespace: app", "kind: User"), []string{"a", "b"}, "approves a client certificate"},
		{"rights that lead nowhere", brought("a", offers) + brought("b", claims), nil, ""},
		{"one of them alone", brought("a", asks) + brought("b", harmless), nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, f := range evaluate(t, Input{Plan: planOf(t, strings.TrimSuffix(test.plan, "---\n"))}) {
				if f.Rule == "access-reach" && strings.Contains(f.Evidence, "together ") {
					for _, s := range f.Subjects {
						got = append(got, s.Name)
					}
					if f.Severity != preview.Critical || !strings.Contains(f.Evidence, test.evidence) {
						t.Errorf("%+v", f)
					}
				}
			}
			if !slices.Equal(got, test.together) {
				t.Errorf("%v, want %v", got, test.together)
			}
		})
	}
}
