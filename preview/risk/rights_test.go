package risk

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
)

// TestEveryRightIsJudged fails on any right that Kubernetes can grant and that
// neither a rule nor a row is about.
func TestEveryRightIsJudged(t *testing.T) {
	missing, twice := notJudgedOnce(right.Known())
	for _, one := range missing {
		t.Errorf("no rule and no row is about %s", one)
	}
	for _, one := range twice {
		t.Errorf("harmless by a row and judged by a rule: %s", one)
	}
	judged := 0
	for _, s := range right.Known() {
		judged += len(s.Verbs)
	}
	t.Logf("%d rights × %d scopes", judged, len(rightScopes))
}

// TestRightsOfALaterKubernetesAreNamed adds to discovery what a later version may serve,
// and asks for exactly that as what is not judged.
func TestRightsOfALaterKubernetesAreNamed(t *testing.T) {
	later := slices.Clone(right.Known())
	at := slices.IndexFunc(later, func(s preview.ServedResource) bool { return s.Group == "" && s.Resource == "pods" })
	later[at].Verbs = append(slices.Clone(later[at].Verbs), "frobnicate")
	later = append(later,
		preview.ServedResource{Resource: "pods/frobnication", Namespaced: true, Verbs: []string{"create"}},
		preview.ServedResource{Group: "apps", Resource: "frobnicators", Namespaced: true, Verbs: []string{"get", "create", "delete"}},
		preview.ServedResource{Group: "frobnication.k8s.io", Resource: "frobnicators", Verbs: []string{"get", "escalate"}},
	)
	missing, twice := notJudgedOnce(later)
	slices.Sort(missing)
	want := []string{
		`create on frobnicators in "apps"`, `create on pods/frobnication in ""`, `delete on frobnicators in "apps"`, `escalate on frobnicators in "frobnication.k8s.io"`,
		`frobnicate on pods in ""`, `get on frobnicators in "apps"`, `get on frobnicators in "frobnication.k8s.io"`,
	}
	if !slices.Equal(missing, want) || len(twice) > 0 {
		t.Errorf("not judged are %q, want %q; judged twice %q", missing, want, twice)
	}
}

// notJudgedOnce returns the rights of served resources that neither a rule nor a row is
// about, and those that a row says to be harmless and rules judge.
func notJudgedOnce(served []preview.ServedResource) (missing, twice []string) {
	c := judgeOfRights()
	for _, s := range served {
		for _, verb := range s.Verbs {
			about, harmless := c.rulesAbout(s.Group, s.Resource, verb), right.Harmless(s.Group, s.Resource, verb)
			name := fmt.Sprintf("%s on %s in %q", verb, s.Resource, s.Group)
			switch {
			case len(about) == 0 && !harmless:
				missing = append(missing, name)
			case len(about) > 0 && harmless:
				twice = append(twice, name)
			}
		}
	}
	return missing, twice
}

// rightScopes are the ways in which the golden table grants each right.
var rightScopes = []struct{ name, namespace, names string }{
	{"cluster", "", ""}, {"own", "app", ""}, {"tenant", "shop", ""}, {"kube-system", "kube-system", ""},
	{"named", "", "mine"}, {"star", "", "*"}, {"nameless", "", "EMPTY"}, {"dangerous", "", "DANGER"},
}

// TestRightsGolden holds the severity of every right in every scope to a file, so
// that a review shows what a change of rules changes.
func TestRightsGolden(t *testing.T) {
	var got bytes.Buffer
	c := newScan(Input{Plan: &preview.Plan{Release: preview.Release{Name: "op", Namespace: "app"}}})
	for _, s := range right.Known() {
		for _, verb := range s.Verbs {
			fmt.Fprintf(&got, "%s %s", s.Group+"/"+s.Resource, verb)
			for _, scope := range rightScopes {
				fmt.Fprintf(&got, " %s=%s", scope.name, c.worstOf(s, verb, scope.namespace, scope.names))
			}
			got.WriteByte('\n')
		}
	}
	path := filepath.Join("testdata", "rights.golden")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("severities are no longer those of %s; run the test with -update and read the difference", path)
	}
}

func (c *scan) worstOf(s preview.ServedResource, verb, namespace, names string) string {
	g := preview.Grant{
		Subject: preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "op"}, Scope: preview.ScopeCluster, Change: preview.GrantNew,
		APIGroups: []string{s.Group}, Resources: []string{s.Resource}, Verbs: []string{verb}, Via: []string{"ClusterRole/r", "ClusterRoleBinding/b"},
	}
	if namespace != "" {
		g.Scope, g.Namespace = preview.ScopeNamespace, namespace
	}
	switch names {
	case "":
	case "EMPTY":
		g.ResourceNames = []string{""}
	case "DANGER":
		g.ResourceNames = []string{dangerousNameOf[s.Resource]}
		if g.ResourceNames[0] == "" {
			return "-"
		}
	default:
		g.ResourceNames = []string{names}
	}
	worst := preview.Severity("")
	for _, m := range c.matchGrant(g) {
		if severity := m.level.Severity(); worst == "" || severity.Rank() < worst.Rank() {
			worst = severity
		}
	}
	if worst == "" {
		return "none"
	}
	return string(worst)
}

// dangerousNameOf has a name for resources some objects of which are dangerous.
var dangerousNameOf = map[string]string{
	"configmaps": "aws-auth", "secrets": "bootstrap-token-abcdef", "clusterroles": "cluster-admin", "roles": "system:controller:token-cleaner",
	"clusterrolebindings": "cluster-admin", "users": "system:admin", "groups": "system:masters", "signers": "kubernetes.io/*",
	"serviceaccounts": "clusterrole-aggregation-controller", "serviceaccounts/token": "clusterrole-aggregation-controller",
	"apiservices": "v1.apps", "namespaces": "kube-system", "nodes": "*",
	"mutatingwebhookconfigurations": "mine", "validatingwebhookconfigurations": "mine", "customresourcedefinitions": "certificates.cert-manager.io",
	"pods/exec": "etcd-node-1", "pods/attach": "kube-apiserver-node-1", "pods/ephemeralcontainers": "kube-scheduler-node-1", "pods": "kube-controller-manager-node-1",
}

// TestRightsThatAreNotKnown asks for a finding that says so, and for silence where
// Kubernetes is not meant or a mistake reaches nothing.
func TestRightsThatAreNotKnown(t *testing.T) {
	for grant, want := range map[string]bool{
		"|secrets|frobnicate":                               true,
		"|frobnicators|get":                                 true,
		"|pods/frobnicate|create":                           true,
		"apps|*/frobnicate|create":                          true,
		"*|*|frobnicate":                                    true,
		"|//frobnicate|get":                                 true,
		"|pods|get":                                         false,
		"|deployments|get":                                  false,
		"|pods/*|get":                                       false,
		"apps|deployments/finalizers|update":                false,
		"|secrets/status|patch":                             false,
		"example.com|widgets|frobnicate":                    false,
		",example.com|pods,widgets|get":                     false,
		"|vault|request-serviceaccounts-token-audience":     false,
		"|vault|request-serviceaccounts-token-audience,get": true,
		"certificates.k8s.io|a.example.com:b|request-serviceaccounts-podcertificate-signer": false,
		"|secrets|unsafe-delete-ignore-read-errors":                                         false,
		"|//metrics|get":                                 false,
		"|//healthz,/livez|get":                          false,
		"|configmaps|impersonate-on:user-info:get":       false,
		"authentication.k8s.io|userextras/x|impersonate": false,
	} {
		f := find(evaluate(t, Input{Plan: grantsPlan(grant)}), "rbac-not-judged")
		if (f != nil) != want {
			t.Errorf("%s: not judged is %v", grant, f != nil)
		}
		if f != nil && f.Severity != preview.NotKnown {
			t.Errorf("%s: severity %s", grant, f.Severity)
		}
	}
}

// TestRightsTables holds the tables of package right to their form: every row has
// rights that Kubernetes knows, and a rule that exists.
func TestRightsTables(t *testing.T) {
	known := map[string]bool{}
	for _, s := range right.Known() {
		known[s.Group+"/"+s.Resource] = true
	}
	var named []string
	for _, e := range rightRules() {
		named = append(named, e.Name)
	}
	for _, r := range right.Rows() {
		if r.Rule != "" && !slices.Contains(named, r.Rule) {
			t.Errorf("rule %s has no matcher", r.Rule)
		}
		if r.Rule != "" && (r.Level == None || r.Own == None) {
			t.Errorf("%s on %v has no level", r.Rule, r.Resources)
		}
		for _, resource := range r.Resources {
			if strings.HasPrefix(resource, "*/") {
				continue
			}
			if !slices.ContainsFunc(r.Groups, func(group string) bool { return known[group+"/"+resource] }) {
				t.Errorf("%s: %v has no %s", r.Rule, r.Groups, resource)
			}
		}
	}
}

// judgeOfRights returns a scan with the rules that are about particular rights.
func judgeOfRights() *scan {
	general := []string{"rbac-everything", "rbac-group-wildcard", "rbac-all-verbs", "rbac-deletecollection", "rbac-dead-rule", "rbac-not-judged"}
	rows := slices.DeleteFunc(slices.Clone(table()), func(e entry) bool { return e.grant == nil || slices.Contains(general, e.Name) })
	return newScanBy(Input{Plan: &preview.Plan{}}, rows, namedResources(rows))
}

// rulesAbout returns the rules that a right meets by itself, in the cluster scope.
func (c *scan) rulesAbout(group, resource, verb string) []string {
	g := preview.Grant{
		Subject: preview.Subject{Kind: preview.SubjectServiceAccount, Namespace: "a", Name: "a"}, Scope: preview.ScopeCluster,
		APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}, Change: preview.GrantNew,
	}
	var names []string
	for _, m := range c.matchGrant(g) {
		names = append(names, m.rule.Name)
	}
	return names
}
