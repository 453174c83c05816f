package risk

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/findingtest"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

func TestScopeModifiers(t *testing.T) {
	account := preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "op"}
	tests := []struct {
		name      string
		grant     string // |secrets|get is critical, |pods/exec|create high, |services|create medium
		subject   preview.Subject
		namespace string
		rule      string
		want      Level
	}{
		{"cluster-wide is the base", "|secrets|get", account, "", "rbac-secrets-read", Critical},
		{"in the release's namespace critical becomes high", "|secrets|get", account, "app", "rbac-secrets-read", High},
		{"in the release's namespace high becomes medium", "|pods/exec|create", account, "app", "rbac-pods-exec", Medium},
		{"in the release's namespace medium stays", "|services|create", account, "app", "rbac-services-write", Medium},
		{"in a tenant's namespace critical stays", "|secrets|get", account, "tenant", "rbac-secrets-read", Critical},
		{"in a tenant's namespace medium stays", "|services|create", account, "tenant", "rbac-services-write", Medium},
		{"kube-system is the base", "|secrets|get", account, "kube-system", "rbac-secrets-read", Critical},
		{"namespaces of OpenShift are the base", "|secrets|get", account, "openshift-dns", "rbac-secrets-read", Critical},
		{"kube-public is one lower", "|secrets|get", account, "kube-public", "rbac-secrets-read", High},
		{"resource names are one lower", "|secrets|get|a", account, "", "rbac-secrets-read", High},
		{"names and the release's namespace are two lower", "|secrets|get|a", account, "app", "rbac-secrets-read", Medium},
		{"escalate on cluster-admin is not lower", "rbac.authorization.k8s.io|clusterroles|escalate|cluster-admin", account, "", "rbac-escalate", Critical},
		{"bind on a role of the cluster is", "rbac.authorization.k8s.io|clusterroles|bind|theirs", account, "", "rbac-bind", High},
		{"bind on a built-in role is as dangerous as the role", "rbac.authorization.k8s.io|clusterroles|bind|view", account, "", "rbac-bind", Low},
		{"bind on several is as dangerous as the worst", "rbac.authorization.k8s.io|clusterroles|bind|view,edit", account, "", "rbac-bind", Critical},
		{"bind on a controller's role is critical", "rbac.authorization.k8s.io|clusterroles|bind|system:controller:clusterrole-aggregation-controller", account, "", "rbac-bind", Critical},
		{"an empty name does not restrict lists", "|secrets|list|", account, "", "rbac-secrets-read", Critical},
		{"an empty name among others does not either", "|secrets|get,watch|a,", account, "", "rbac-secrets-read", Critical},
		{"a star is a name like any other", "|secrets|get|*", account, "", "rbac-secrets-read", High},
		{"eleven names are as good as none", "|secrets|get|a,b,c,d,e,f,g,h,i,j,k", account, "", "rbac-secrets-read", Critical},
		{"a bootstrap token by name is not lower", "|secrets|get|bootstrap-token-abcdef", account, "", "rbac-secrets-read", Critical},
		{"a Secret of kube-system by name is not lower", "|secrets|get|mine", account, "kube-system", "rbac-secrets-read", Critical},
		{"aws-auth by name is critical", "|configmaps|patch|aws-auth", account, "", "rbac-configmaps-write", Critical},
		{"aws-auth of kube-system by name is critical", "|configmaps|patch|aws-auth", account, "kube-system", "rbac-configmaps-system", Critical},
		{"tokens of a controller of Kubernetes are not lower", "|serviceaccounts/token|create|generic-garbage-collector", account, "", "rbac-tokens-create", Critical},
		{"impersonating an administrator by name is not lower", "|users|impersonate|system:admin", account, "", "rbac-impersonate", Critical},
		{"constrained impersonation is impersonation", "authentication.k8s.io|serviceaccounts|impersonate:serviceaccount", account, "", "rbac-impersonate", Critical},
		{"of nodes by any name", "authentication.k8s.io|nodes|impersonate:arbitrary-node|a", account, "", "rbac-impersonate", Critical},
		{"an APIService of Kubernetes by name is not lower", "apiregistration.k8s.io|apiservices|patch|v1.apps", account, "", "rbac-apiservices-write", Critical},
		{"another APIService is", "apiregistration.k8s.io|apiservices|patch|v1.example.com", account, "", "rbac-apiservices-write", High},
		{"the kubelet of a node by name is not lower", "|nodes/proxy|get|a", account, "", "rbac-nodes-proxy", Critical},
		{"signing for a signer of Kubernetes is critical", "certificates.k8s.io|signers|sign|a.example.com/b,kubernetes.io/kube-apiserver-client", account, "", "rbac-sign-certificates", Critical},
		{"signing for another is not", "certificates.k8s.io|signers|sign|a.example.com/*", account, "", "rbac-sign-certificates", Medium},
		{"the status of requests alone is not", "certificates.k8s.io|certificatesigningrequests/status|patch", account, "", "rbac-sign-certificates", Medium},
		{"deleting Secrets is a warning", "|secrets|delete", account, "", "rbac-delete", High},
		{"in the release's namespace it is info", "|secrets|delete", account, "app", "rbac-delete", Low},
		{"ConfigMaps of a tenant are a warning", "|configmaps|patch", account, "tenant", "rbac-configmaps-write", High},
		{"Secrets where another controller runs are critical", "|secrets|list", account, "argocd", "rbac-secrets-read", Critical},
		{"a group is one higher", "|pods/exec|create", preview.Subject{Kind: "Group", Name: "devs"}, "", "rbac-pods-exec", Critical},
		{"a default account is one higher", "|services|create", preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "default"}, "", "rbac-services-write", High},
		{"configmaps of kube-system are critical", "|configmaps|patch", account, "kube-system", "rbac-configmaps-system", Critical},
		{"leases of the release's namespace are normal", "coordination.k8s.io|leases|create", account, "app", "rbac-leases-own", Notice},
		{"leases of the control plane's own programs are not", "coordination.k8s.io|leases|update|kube-scheduler", account, "kube-system", "rbac-leases-system", Medium},
		{"other leases beside them are", "coordination.k8s.io|leases|update|operator", account, "kube-system", "rbac-leases-system", Low},
		{"using constraints works in a namespace", "security.openshift.io|securitycontextconstraints|use|anyuid", account, "app", "rbac-scc", Medium},
		{"cluster-scoped resources in a namespace do nothing", "|nodes|get", account, "app", "rbac-dead-rule", Notice},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := grantsPlan(test.grant)
			g := &p.Access.Grants[0]
			g.Subject = test.subject
			if test.namespace != "" {
				g.Scope, g.Namespace = preview.ScopeNamespace, test.namespace
			}
			c := newScan(Input{Plan: p})
			for _, m := range c.matchGrant(*g) {
				if m.rule.Name == test.rule {
					if m.level != test.want {
						t.Errorf("level %d, want %d", m.level, test.want)
					}
					return
				}
			}
			t.Errorf("rule %s is not met", test.rule)
		})
	}
}

func TestLevelsBecomeSeverities(t *testing.T) {
	for level, want := range map[Level]preview.Severity{
		Critical: preview.Critical, High: preview.Warning, Medium: preview.Warning, Low: preview.Info, Notice: preview.Info,
	} {
		if got := level.Severity(); got != want {
			t.Errorf("level %d: %s, want %s", level, got, want)
		}
	}
}

func severities(findings []preview.Finding) map[string]preview.Severity {
	out := map[string]preview.Severity{}
	for _, f := range findings {
		out[f.Rule] = f.Severity
	}
	return out
}

func TestCombinations(t *testing.T) {
	with := func(g preview.Grant, name, role, namespace string) preview.Grant {
		g.Subject.Name, g.Via = name, []string{"ClusterRole/" + role, "ClusterRoleBinding/" + role}
		if namespace != "" {
			g.Scope, g.Namespace = preview.ScopeNamespace, namespace
		}
		return g
	}
	tests := []struct {
		name   string
		grants []preview.Grant
		rule   string
		want   preview.Severity
	}{
		{
			"workloads beside a powerful account are critical",
			[]preview.Grant{with(grantOf("apps|deployments|create"), "op", "r", "app"), with(grantOf("|secrets|get"), "strong", "s", "")},
			rules.RBACWorkloadsWrite.Name, preview.Critical,
		},
		{
			"workloads of the powerful account itself are not",
			[]preview.Grant{with(grantOf("apps|deployments|create"), "op", "r", "app"), with(grantOf("|secrets|get"), "op", "s", "")},
			rules.RBACWorkloadsWrite.Name, preview.Warning,
		},
		{
			"workloads in a namespace of others are, whoever runs there",
			[]preview.Grant{with(grantOf("apps|deployments|create"), "op", "r", "tenant")},
			rules.RBACWorkloadsWrite.Name, preview.Critical,
		},
		{
			"Secrets of a namespace with a powerful account are not, where no token is stored",
			[]preview.Grant{with(grantOf("|secrets|get"), "op", "r", "app"), with(grantOf("|nodes/proxy|get"), "strong", "s", "")},
			rules.RBACSecretsRead.Name, preview.Warning,
		},
		{
			"a token of a powerful account by its name is critical",
			[]preview.Grant{with(grantOf("|serviceaccounts/token|create|strong"), "op", "r", "app"), with(grantOf("|nodes/proxy|get"), "strong", "s", "")},
			rules.RBACTokensCreate.Name, preview.Critical,
		},
		{
			"Secrets that the subject can make there are critical",
			[]preview.Grant{with(grantOf("|secrets|get,create"), "op", "r", "app"), with(grantOf("|nodes/proxy|get"), "strong", "s", "")},
			rules.RBACSecretsRead.Name, preview.Critical,
		},
		{
			"named Secrets are not",
			[]preview.Grant{with(grantOf("|secrets|get|mine"), "op", "r", "app"), with(grantOf("|nodes/proxy|get"), "strong", "s", "")},
			rules.RBACSecretsRead.Name, preview.Warning,
		},
		{
			"changing Secrets without reading them is a warning",
			[]preview.Grant{grantOf("|secrets|update")}, "rbac-secrets-write", preview.Warning,
		},
		{
			"making them, those of kube-system by which nodes join too, is critical",
			[]preview.Grant{grantOf("|secrets|create")}, "rbac-secrets-write", preview.Critical,
		},
		{
			"reading them through another role makes it critical",
			[]preview.Grant{grantOf("|secrets|create"), with(grantOf("|secrets|get"), "op", "s", "")}, "rbac-secrets-write", preview.Critical,
		},
		{
			"validating webhooks alone are critical, as they receive Secrets",
			[]preview.Grant{grantOf("admissionregistration.k8s.io|validatingwebhookconfigurations|update")}, "rbac-webhooks-write", preview.Critical,
		},
		{
			"validating webhooks are a warning where another permission is critical",
			[]preview.Grant{grantOf("admissionregistration.k8s.io|validatingwebhookconfigurations|update"), grantOf("|nodes/proxy|get")}, "rbac-webhooks-write", preview.Warning,
		},
		{
			"together with CRDs they are critical",
			[]preview.Grant{grantOf("admissionregistration.k8s.io|validatingwebhookconfigurations|update"), grantOf("apiextensions.k8s.io|customresourcedefinitions|patch")},
			"rbac-webhooks-write", preview.Critical,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := &preview.Plan{Release: preview.Release{Namespace: "app"}}
			p.Access.Grants = test.grants
			if got := severities(evaluate(t, Input{Plan: p}))[test.rule]; got != test.want {
				t.Errorf("severity %q, want %q", got, test.want)
			}
		})
	}
}

func TestAnUnlimitedGrantIsOneFinding(t *testing.T) {
	p := grantsPlan("*|*|*", "|secrets|get", "apps|deployments|create")
	if got := ids(evaluate(t, Input{Plan: p})); !slices.Equal(got, []string{"critical rbac-everything/rbac.authorization.k8s.io/ClusterRole/-/r"}) {
		t.Errorf("found %v", got)
	}
}

func TestAdminOfTheClusterIsToldByItsBinding(t *testing.T) {
	text := toRole("cluster-admin", "{kind: ServiceAccount, name: op, namespace: app}") + "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: app}\n"
	if got := ids(evaluate(t, Input{Plan: planOf(t, text)})); !slices.Equal(got, []string{"critical binding-cluster-admin/rbac.authorization.k8s.io/ClusterRoleBinding/-/b"}) {
		t.Errorf("found %v", got)
	}
}

func TestOneFindingOfEachRuleAndRole(t *testing.T) {
	p := grantsPlan("|secrets|get", "|secrets|list")
	other := grantOf("|secrets|get")
	other.Scope, other.Namespace, other.Change = preview.ScopeNamespace, "tenant", preview.GrantSame
	p.Access.Grants = append(p.Access.Grants, other)
	findings := evaluate(t, Input{Plan: p})
	if len(findings) != 1 {
		t.Fatalf("found %v", ids(findings))
	}
	want := "ServiceAccount app/op cluster-wide: get on secrets; ServiceAccount app/op cluster-wide: list on secrets; ServiceAccount app/op in namespace tenant: get on secrets"
	if findings[0].Evidence != want {
		t.Errorf("evidence\n%s\nwant\n%s", findings[0].Evidence, want)
	}
	if findings[0].Title != "ServiceAccount op: can read Secrets in every namespace" {
		t.Errorf("title %s", findings[0].Title)
	}
}

func TestFingerprintsFollowTheGrantAndNotTheRolesName(t *testing.T) {
	fingerprint := func(change func(*preview.Grant)) string {
		p := grantsPlan("|configmaps,secrets|get")
		change(&p.Access.Grants[0])
		return find(evaluate(t, Input{Plan: p}), rules.RBACSecretsRead.Name).Fingerprint
	}
	base := fingerprint(func(*preview.Grant) {})
	if base != fingerprint(func(g *preview.Grant) { g.Via = []string{"ClusterRole/other-hash", "ClusterRoleBinding/x"} }) {
		t.Error("the role's name moves the fingerprint")
	}
	if base != fingerprint(func(g *preview.Grant) { g.Resources = []string{"pods", "secrets"} }) {
		t.Error("a resource the rule is not about moves the fingerprint")
	}
	for name, change := range map[string]func(*preview.Grant){
		"a verb":     func(g *preview.Grant) { g.Verbs = append(g.Verbs, "list") },
		"the scope":  func(g *preview.Grant) { g.Scope, g.Namespace = preview.ScopeNamespace, "app" },
		"a subject":  func(g *preview.Grant) { g.Subject.Name = "other" },
		"a name":     func(g *preview.Grant) { g.ResourceNames = []string{"a"} },
		"a wildcard": func(g *preview.Grant) { g.APIGroups = []string{"", "*"} },
	} {
		if base == fingerprint(change) {
			t.Errorf("%s does not move the fingerprint", name)
		}
	}
}

func TestOrder(t *testing.T) {
	p := grantsPlan("|secrets|get", "|nodes/proxy|get", "|pods/exec|create", "|services|create", "|pods/log|get")
	p.Access.Grants[0].Change = preview.GrantSame
	p.Access.Grants[3].Scope, p.Access.Grants[3].Namespace = preview.ScopeNamespace, "app"
	p.Unknowns = []preview.Unknown{{Object: "core/Secret/app/s", Why: "forbidden"}}
	var got []string
	for _, f := range evaluate(t, Input{Plan: p}) {
		got = append(got, f.Rule)
	}
	want := []string{"rbac-nodes-proxy", "rbac-secrets-read", "rbac-pods-exec", "rbac-services-write", "unknown", "rbac-pods-log"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAcceptedFindings(t *testing.T) {
	p := grantsPlan("|secrets|get", "|pods/exec|create")
	before := evaluate(t, Input{Plan: p})
	accepted := map[string]int{before[0].Fingerprint: 3, before[1].Fingerprint: 3}
	for _, change := range []string{preview.GrantNew, preview.GrantWidened, preview.GrantNarrowed} {
		p.Access.Grants[0].Change = change
		if f := find(evaluate(t, Input{Plan: p, Accepted: accepted}), rules.RBACSecretsRead.Name); f.Severity != preview.Critical || f.AcceptedIn != 0 || !f.Unaccepted().Gates() {
			t.Errorf("a grant that is %s counts as accepted: %+v", change, f)
		}
	}
	p.Access.Grants[0].Change = preview.GrantSame
	after := evaluate(t, Input{Plan: p, Accepted: accepted})
	for _, f := range after {
		switch f.Rule {
		case rules.RBACSecretsRead.Name:
			if f.Severity != preview.Warning || f.AcceptedIn != 3 || !f.Unaccepted().Gates() {
				t.Errorf("accepted, it is %s, accepted in %d", f.Severity, f.AcceptedIn)
			}
		case "rbac-pods-exec":
			if f.AcceptedIn != 0 {
				t.Error("a warning needs no acceptance")
			}
		}
	}
	p.Access.Grants[0].Verbs = append(p.Access.Grants[0].Verbs, "list")
	if f := find(evaluate(t, Input{Plan: p, Accepted: accepted}), rules.RBACSecretsRead.Name); f.Severity != preview.Critical {
		t.Error("a wider grant counts as accepted")
	}
}

func TestUnknowns(t *testing.T) {
	p := &preview.Plan{Unknowns: []preview.Unknown{{Object: "core/Secret/app/s", Why: "forbidden"}}}
	f := evaluate(t, Input{Plan: p})[0]
	if f.ID != "unknown/core/Secret/app/s" || f.Severity != preview.NotKnown || f.Evidence != "forbidden" {
		t.Errorf("finding %+v", f)
	}
}

func TestFindingsMadeElsewhere(t *testing.T) {
	made := func(rule, object, evidence string) preview.Finding {
		return findingtest.Worded(preview.Finding{
			ID: rule + "/" + object, Rule: rule, Object: object, Severity: preview.Critical, Evidence: evidence,
			Fingerprint: preview.TextFingerprint(rule, evidence),
		})
	}
	const hook = "admissionregistration.k8s.io/ValidatingWebhookConfiguration/-/w"
	plan := planOf(t, webhook("Validating", "clientConfig: {service: {name: s}}, failurePolicy: Ignore"))
	kept, changed := preview.Object{ID: "g/K/-/kept", Action: preview.ActionKeep}, preview.Object{ID: "g/K/-/changed", Action: preview.ActionUpdate}
	plan.Objects = append(plan.Objects, kept, changed)
	findings := evaluate(t, Input{
		Plan: plan,
		Extra: []preview.Finding{
			made("webhook-without-ca", hook, "the format's words"), made("needs-external", "x", "b"), made("needs-external", "x", "a"), made("not-appliable", "y", "c; d"),
			made("stored-objects", kept.ID, "it holds objects"), made("stored-objects", changed.ID, "it loses objects"),
		},
		Accepted: map[string]int{
			preview.TextFingerprint("not-appliable", "c; d"): 2, preview.TextFingerprint("stored-objects", "it holds objects"): 2,
			preview.TextFingerprint("stored-objects", "it loses objects"): 2,
		},
	})
	if len(findings) != 5 {
		t.Fatalf("found %v", ids(findings))
	}
	if f := find(findings, "webhook-without-ca"); f.Evidence == "the format's words" {
		t.Error("a finding made elsewhere replaced that of the rule")
	}
	if f := find(findings, "needs-external"); f.Evidence != "a; b" || f.Fingerprint != preview.FindingFingerprint("needs-external", rules.Said("b", "a")...) {
		t.Errorf("two of one id: %+v", f)
	}
	if f := find(findings, "not-appliable"); f.Severity != preview.Critical || f.AcceptedIn != 0 {
		t.Errorf("of no object that the cluster has: %+v", f)
	}
	for _, f := range findings {
		switch f.Object {
		case kept.ID:
			if f.Severity != preview.Warning || f.AcceptedIn != 2 {
				t.Errorf("accepted: %+v", f)
			}
		case changed.ID:
			if f.Severity != preview.Critical {
				t.Errorf("accepted, and the plan changes it: %+v", f)
			}
		}
	}
}

func TestActions(t *testing.T) {
	of := func(id string, action preview.Action) preview.Object {
		group, kind, namespace, name, err := preview.ParseID(id)
		if err != nil {
			t.Fatal(err)
		}
		return preview.Object{ID: id, APIVersion: group + "/v1", Kind: kind, Namespace: namespace, Name: name, Action: action}
	}
	kept := of("core/ConfigMap/app/kept", preview.ActionCreate)
	kept.Planned = map[string]any{"kind": "ConfigMap"}
	conflict := of("apps/Deployment/app/op", preview.ActionUpdate)
	conflict.Conflicts = []preview.Conflict{{Manager: "helm", Path: ".spec.replicas"}}
	p := &preview.Plan{Objects: []preview.Object{
		kept, conflict,
		of("core/ConfigMap/app/old", preview.ActionDelete),
		of("core/PersistentVolumeClaim/app/data", preview.ActionDelete),
		of("rbac.authorization.k8s.io/ClusterRole/-/old", preview.ActionDelete),
		of("apps/Deployment/app/web", preview.ActionReplace),
		of("rbac.authorization.k8s.io/RoleBinding/app/b", preview.ActionReplace),
		of("core/Service/app/s", preview.ActionAdopt),
		of("core/Secret/app/s", preview.ActionBlocked),
		of("core/Namespace/-/app", preview.ActionKeep),
	}}
	got := ids(evaluate(t, Input{Plan: p}))
	want := []string{
		"critical object-deleted/core/PersistentVolumeClaim/app/data",
		"critical field-conflict/apps/Deployment/app/op",
		"critical object-blocked/core/Secret/app/s",
		"critical object-replaced/apps/Deployment/app/web",
		"warning object-adopted/core/Service/app/s",
		"warning object-deleted/core/ConfigMap/app/old",
		"warning object-replaced/rbac.authorization.k8s.io/RoleBinding/app/b",
		"info object-deleted/rbac.authorization.k8s.io/ClusterRole/-/old",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	p.Objects = p.Objects[2:]
	if f := find(evaluate(t, Input{Plan: &preview.Plan{Objects: p.Objects[:1]}}), "object-deleted"); f.Severity != preview.Info {
		t.Errorf("when everything goes, as asked, a deletion is %s", f.Severity)
	}
}

func TestImagesNotListed(t *testing.T) {
	p := planOf(t, pod("", "image: 'c@sha256:00'"))
	for _, test := range []struct {
		name   string
		listed []string
		want   bool
	}{
		{"no list is known", nil, false},
		{"the list is empty", []string{}, true},
		{"the list has it", []string{"c@sha256:00"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := find(evaluate(t, Input{Plan: p, RelatedImages: test.listed}), "image-not-listed") != nil; got != test.want {
				t.Errorf("found: %v", got)
			}
		})
	}
}

func TestCloudAccessAgainstTheInstalledRevision(t *testing.T) {
	p := planOf(t, awsRequest("{effect: Allow, action: ['ec2:DescribeTags'], resource: '*'}"))
	if find(evaluate(t, Input{Plan: p}), "cloud-access-widened") != nil {
		t.Error("found on a fresh install")
	}
	p.Base.Revision = 1
	f := find(evaluate(t, Input{Plan: p}), "cloud-access-widened")
	if f == nil || f.Object != "cloudcredential.openshift.io/CredentialsRequest/occo/op" || !slices.Contains(p.Cloud.Permissions[0].Rules, f.Rule) {
		t.Errorf("on an upgrade: %+v", f)
	}
}

func TestStaticCredentialsBesideTokens(t *testing.T) {
	p := planOf(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: app}\ndata: {aws_access_key_id: eA==}\n")
	if find(evaluate(t, Input{Plan: p}), "cloud-static-credentials") != nil {
		t.Error("found without token support")
	}
	p.Cloud.Declared = append(p.Cloud.Declared, preview.CloudDeclaration{Provider: "aws", Origin: "annotation features.operators.openshift.io/token-auth-aws"})
	if find(evaluate(t, Input{Plan: p}), "cloud-static-credentials") == nil {
		t.Error("not found with token support")
	}
}

func TestEvidenceIsBounded(t *testing.T) {
	var pieces []preview.Piece
	for i := range 200 {
		pieces = append(pieces, preview.Piece{What: strings.Repeat("x", i*100)})
	}
	long := preview.EvidenceText(words.SortedEvidence(pieces))
	if len(long) > len(pieces)*2200 {
		t.Errorf("%d bytes of evidence", len(long))
	}
	pieces[199].What += "y"
	if preview.EvidenceText(words.SortedEvidence(pieces)) == long {
		t.Error("what is not spelled out does not move the evidence")
	}
}

func TestWithoutAPlan(t *testing.T) {
	if _, err := Evaluate(Input{}); err == nil {
		t.Error("no error")
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, test := range objectCases {
		f.Add([]byte(test.meets))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := preview.Decode(data)
		if err != nil {
			return
		}
		for _, doc := range docs {
			if _, err := preview.Flatten(doc); err != nil {
				return
			}
		}
		first, second := evaluate(t, Input{Plan: planOf(t, string(data))}), evaluate(t, Input{Plan: planOf(t, string(data))})
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("two evaluations differ: %v, %v", ids(first), ids(second))
		}
		seen := map[string]bool{}
		for _, finding := range first {
			if seen[finding.ID] {
				t.Fatalf("%s twice", finding.ID)
			}
			seen[finding.ID] = true
		}
	})
}
