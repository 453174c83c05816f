package risk

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
)

// A finding says what its evidence is, and not all that its rule can find.
func TestAFindingIsWordedByItsEvidence(t *testing.T) {
	grants := func(texts ...string) *preview.Plan { return grantsPlan(texts...) }
	objects := func(text string) *preview.Plan { return planOf(t, text) }
	for name, test := range map[string]struct {
		plan             *preview.Plan
		rule, title, why string
	}{
		"evictions":                       {grants("|pods/eviction|create"), "rbac-evict", "ServiceAccount op: can evict pods", "Evictions can"},
		"nodes":                           {grants("|nodes|delete"), "rbac-evict", "ServiceAccount op: can delete nodes", "Pods of a deleted node"},
		"both in one role":                {grants("|pods/eviction|create", "|nodes|delete"), "rbac-evict", "ServiceAccount op: can evict pods or delete nodes", "Evictions and deleted nodes"},
		"certificates":                    {grants("cert-manager.io|certificates|create"), "rbac-secret-sources-write", "ServiceAccount op: can write cert-manager certificates or issuers in every namespace", "cert-manager issues"},
		"sealed secrets":                  {grants("bitnami.com|sealedsecrets|create"), "rbac-secret-sources-write", "ServiceAccount op: can write SealedSecrets in every namespace", "The Sealed Secrets controller"},
		"every resource of a group":       {grants("apps|*|*"), "rbac-group-wildcard", "ServiceAccount op: has full control of API group apps in every namespace", "With Deployments"},
		"the group of roles":              {grants("rbac.authorization.k8s.io|*|*"), "rbac-group-wildcard", "ServiceAccount op: has full control of API group rbac.authorization.k8s.io in every namespace", "The verbs escalate and bind"},
		"another group":                   {grants("x.io|*|*"), "rbac-group-wildcard", "ServiceAccount op: has full control of an API group in every namespace", "All verbs on all resources"},
		"two groups":                      {grants("apps,x.io|*|*"), "rbac-group-wildcard", "ServiceAccount op: has full control of an API group in every namespace", "All verbs on all resources"},
		"constraints used":                {grants("security.openshift.io|securitycontextconstraints|use|privileged"), "rbac-scc", "ServiceAccount op: can use SecurityContextConstraints", "The subject's pods"},
		"constraints written":             {grants("security.openshift.io|securitycontextconstraints|update"), "rbac-scc", "ServiceAccount op: can write SecurityContextConstraints", "SecurityContextConstraints and"},
		"everything deleted":              {grants("|*|delete"), "rbac-write-all-resources", "ServiceAccount op: can delete every resource in every namespace", "Every workload"},
		"everything written":              {grants("|*|get,patch"), "rbac-write-all-resources", "ServiceAccount op: can write every resource in every namespace", "Every resource includes workloads"},
		"processes of the node":           {objects(pod("hostPID: true, ", "image: c")), "pod-host-processes", "Deployment op: shares the node's processes", "The pod can see and signal every"},
		"processes and memory":            {objects(pod("hostPID: true, hostIPC: true, ", "image: c")), "pod-host-processes", "Deployment op: shares processes or memory with the node", "The pod can see and signal the"},
		"a download":                      {objects(pod("", "command: [sh, -c, 'curl x']")), "pod-remote-code", "Deployment op: downloads code when it starts", "Code that is downloaded"},
		"a group":                         {objects(toRole("x", "{kind: Group, name: 'system:serviceaccounts'}")), "binding-authenticated", "ClusterRoleBinding b: grants permissions to every ServiceAccount", "Every pod of the cluster"},
		"a new namespace":                 {objects(namespaceOf("enforce: privileged") + pod("", "image: c")), "pod-security-relaxed", "Namespace app: is created with Pod Security level privileged", "The level privileged"},
		"an action of the cloud":          {objects(awsRequest("{effect: Allow, action: ['s3:Get*'], resource: '*'}")), "cloud-all-buckets", "CredentialsRequest/occo/op: can read every S3 bucket", "The permission is not limited"},
		"every action of a cloud service": {objects(awsRequest("{effect: Allow, action: ['s3:*'], resource: '*'}")), "cloud-wildcard-action", "CredentialsRequest/occo/op: asks for every action of a service", "The wildcard includes actions of the service"},
	} {
		t.Run(name, func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: test.plan}), test.rule)
			if f == nil {
				t.Fatal("not found")
			}
			if f.Title != test.title || !strings.HasPrefix(f.Why, test.why) {
				t.Errorf("title %q, want %q\nwhy %q, want %s...", f.Title, test.title, f.Why, test.why)
			}
		})
	}
}

// The plan's own API group is no danger to others.
func TestTheOwnGroupIsNamedAsSuch(t *testing.T) {
	p := planOf(t, crdOf("x.io", "ys")+"---\n"+roleHead+"}\nrules: [{apiGroups: [x.io], resources: ['*'], verbs: ['*']}]\n"+binding)
	f := find(evaluate(t, Input{Plan: p}), "rbac-group-wildcard")
	if f == nil || f.Severity != preview.Info || !strings.Contains(f.Title, "its own API group") || strings.Contains(f.Why, "escalate") {
		t.Errorf("%+v", f)
	}
}

// A wildcard that includes a verb of the rule says so: "all verbs" alone reads as
// kubectl's.
func TestWildcardsNameTheVerbOfTheRule(t *testing.T) {
	for rule, test := range map[string][2]string{
		"rbac-impersonate":  {"|users|*", "all verbs (impersonate included) on users"},
		"rbac-escalate":     {"rbac.authorization.k8s.io|clusterroles|*", "all verbs (escalate included) on clusterroles in rbac.authorization.k8s.io"},
		"rbac-secrets-read": {"|secrets|*", "all verbs on secrets"},
	} {
		f := find(evaluate(t, Input{Plan: grantsPlan(test[0])}), rule)
		if f == nil || f.Evidence != "ServiceAccount app/op cluster-wide: "+test[1] {
			t.Errorf("%s: %+v", rule, f)
		}
	}
}

// A case of words that no evidence of its rule can have would never be shown.
func TestCasesAreOfWhatTheRuleMatches(t *testing.T) {
	cased := 0
	for _, e := range table() {
		if e.grant == nil || e.grant.items != nil && e.grant.effect == "" {
			continue
		}
		var resources []string
		for _, k := range deputy.Kinds() {
			if k.Effect == e.grant.effect {
				resources = append(resources, k.Group)
			}
		}
		for _, s := range e.grant.shapes {
			resources = append(resources, s.resources...)
		}
		if e.grant.custom != nil {
			resources = append(resources, "nodes") // a shape inside of a function
		}
		for _, of := range e.Cases {
			cased++
			for _, word := range strings.Fields(of.For) {
				if !slices.Contains(resources, word) {
					t.Errorf("rule %s has a case for %s, which it does not match", e.Name, word)
				}
			}
		}
	}
	if cased < 10 {
		t.Errorf("only %d cases were looked at", cased)
	}
}

func roleOfRules(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\n- {apiGroups: [x.io], resources: [kind%d], verbs: [get]}", i)
	}
	return roleHead + "}\nrules:" + b.String() + "\n---\n" + toRole("r", "{kind: Group, name: 'system:authenticated'}")
}

// What a binding gives is said in the words of its role's rules; the fingerprint
// covers what there is no room for.
func TestBindingsShowThePermissions(t *testing.T) {
	evidence := func(text string) *preview.Finding {
		f := find(evaluate(t, Input{Plan: planOf(t, text)}), "binding-authenticated")
		if f == nil {
			t.Fatalf("not found in %s", text)
		}
		return f
	}
	short := roleHead + "}\nrules: [{apiGroups: [''], resources: [secrets], resourceNames: [a], verbs: [list, get]}, {nonResourceURLs: [/metrics], verbs: [get]}]\n---\n"
	f := evidence(short + toRole("r", "{kind: Group, name: 'system:authenticated'}"))
	want := "rbac.authorization.k8s.io/ClusterRoleBinding/-/b: Group system:authenticated cluster-wide: get, list on secrets named a and get on /metrics"
	if f.Evidence != want {
		t.Errorf("evidence\n%s\nwant\n%s", f.Evidence, want)
	}
	many, more := evidence(roleOfRules(40)), evidence(roleOfRules(41))
	if len(many.Evidence) > 1000 || !strings.Contains(many.Evidence, "get on kind0 in x.io") || !strings.Contains(many.Evidence, "32 more rules (sha256:") {
		t.Errorf("%d bytes: %s", len(many.Evidence), many.Evidence)
	}
	last := evidence(strings.Replace(roleOfRules(40), "[kind39]", "[kind99]", 1))
	if many.Fingerprint == more.Fingerprint || many.Fingerprint == last.Fingerprint {
		t.Errorf("the fingerprint does not cover all rules: %s and %s", many.Evidence, last.Evidence)
	}
	if f := evidence(roleOfRules(0)); !strings.Contains(f.Evidence, "no permissions") {
		t.Errorf("an empty role: %s", f.Evidence)
	}
}
