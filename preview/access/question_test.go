package access

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

var operator = preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "op"}

func grantOf(scope, namespace, group, resource string, names []string, verbs ...string) preview.Grant {
	return preview.Grant{
		Subject: operator, Scope: scope, Namespace: namespace, APIGroups: []string{group}, Resources: []string{resource},
		ResourceNames: names, Verbs: verbs, Change: preview.GrantNew,
	}
}

func TestAQuestionIsAnsweredWithItsGrants(t *testing.T) {
	grants := []preview.Grant{
		grantOf(preview.ScopeCluster, "", "", "configmaps", nil, "get", "list"),
		grantOf(preview.ScopeNamespace, "app", "", "secrets", nil, "get"),
		grantOf(preview.ScopeCluster, "", "apps", "deployments", []string{"one"}, "update"),
		grantOf(preview.ScopeCluster, "", "events.k8s.io", "events", nil, "create"),
		{Subject: operator, Scope: preview.ScopeCluster, NonResourceURLs: []string{"/metrics/*"}, Verbs: []string{"get"}},
		{Subject: preview.Subject{Kind: "Group", Name: "system:authenticated"}, Scope: preview.ScopeCluster, APIGroups: []string{"*"}, Resources: []string{"pods/log"}, Verbs: []string{"*"}},
		grantOf(preview.ScopeNamespace, "app", "example.com", "widgets", nil, "*"),
	}
	for _, tc := range []struct {
		question, words string
		allowed         bool
		by, only        int
	}{
		{"get configmaps", "get configmaps in every namespace", true, 1, 0},
		{"get configmaps -n other", "get configmaps in namespace other", true, 1, 0},
		{"get secrets", "get secrets in every namespace", false, 0, 1},
		{"get secrets -n app", "get secrets in namespace app", true, 1, 0},
		{"get secrets tls -n app", "get secrets named tls in namespace app", true, 1, 0},
		{"list secrets -n app", "list secrets in namespace app", false, 0, 0},
		{"update deployments", "update deployments of apps in every namespace", false, 0, 1},
		{"UPDATE Deployments.apps one -n x", "update deployments of apps named one in namespace x", true, 1, 0},
		{"create events", "create events of events.k8s.io in every namespace", true, 1, 0},
		{"get /metrics/cadvisor", "get /metrics/cadvisor", true, 1, 0},
		{"get /healthz", "get /healthz", false, 0, 0},
		{"get pods/log -n any", "get pods/log in namespace any", true, 1, 0},
		{"create namespaces", "create namespaces", false, 0, 0},
		{"delete widgets.example.com", "delete widgets of example.com in every namespace", false, 0, 1},
		{"delete widgets", "delete widgets of example.com in every namespace", false, 0, 1},
	} {
		t.Run(tc.question, func(t *testing.T) {
			known := append(KnownResources(nil), preview.ServedResource{Group: "example.com", Resource: "widgets", Namespaced: true})
			q, err := ParseQuestion(tc.question, known)
			if err != nil {
				t.Fatal(err)
			}
			answers := Ask(grants, operator, q)
			a := answers[0]
			if a.Allowed != tc.allowed || len(a.By) != tc.by || len(a.Only) != tc.only {
				t.Errorf("allowed %t by %d, only %d; want %t, %d, %d", a.Allowed, len(a.By), len(a.Only), tc.allowed, tc.by, tc.only)
			}
			if got := q.Words(a.Request); got != tc.words {
				t.Errorf("said %q, want %q", got, tc.words)
			}
		})
	}
}

func TestBadQuestionsGetOneSentence(t *testing.T) {
	for _, text := range []string{"", "get", "-n x", "get secrets a b", "get /x name", "get /x -n app", "get nosuchthings", "get /", "get .", strings.Repeat("x", 5000)} {
		q, err := ParseQuestion(text, KnownResources(nil))
		if text == "get /" {
			if err != nil || q.URL != "/" {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: error %v, want one sentence", text, err)
		}
	}
}

func FuzzParseQuestion(f *testing.F) {
	known := KnownResources(nil)
	for _, seed := range []string{"get secrets", "create pods/exec -n app", "bind clusterroles.rbac.authorization.k8s.io admin", "get /x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseQuestion(text, known)
		if err == nil && q.URL == "" && len(q.Groups) == 0 {
			t.Errorf("%q is about no group", text)
		}
		for _, a := range Ask(nil, operator, q) {
			if a.Allowed {
				t.Errorf("nothing allows %q", text)
			}
		}
	})
}
