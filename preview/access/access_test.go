package access

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// objects decodes a YAML stream of RBAC objects.
func objects(t testing.TB, text string) []map[string]any {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for _, doc := range docs {
		list, err := preview.Flatten(doc)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, list...)
	}
	return out
}

// brief writes a grant in one line, for tables.
func brief(g preview.Grant) string {
	where := "cluster"
	if g.Scope == preview.ScopeNamespace {
		where = g.Namespace
	}
	what := strings.Join(g.APIGroups, ",") + "|" + strings.Join(g.Resources, ",")
	if len(g.ResourceNames) > 0 {
		what += "[" + strings.Join(g.ResourceNames, ",") + "]"
	}
	if len(g.NonResourceURLs) > 0 {
		what += " url " + strings.Join(g.NonResourceURLs, ",")
	}
	line := fmt.Sprintf("%s %s@%s: %s %s via %s", g.Subject.Kind, g.Subject.Name, where, strings.Join(g.Verbs, ","), what, strings.Join(g.Via, " "))
	if g.Change != "" {
		line = g.Change + " " + line
	}
	return line
}

func briefs(grants []preview.Grant) []string {
	out := []string{}
	for _, g := range grants {
		out = append(out, brief(g))
	}
	return out
}

const role = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: [""], resources: [secrets, pods], verbs: [watch, get, get]}
- {nonResourceURLs: [/metrics], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: writer, namespace: app}
rules:
- {apiGroups: [apps], resources: [deployments], resourceNames: [web], verbs: [patch]}
`

func binding(kind, namespace, roleKind, roleName, subjects string) string {
	meta := "{name: b}"
	if namespace != "" {
		meta = "{name: b, namespace: " + namespace + "}"
	}
	return fmt.Sprintf("---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata: %s\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %s}\nsubjects: %s\n",
		kind, meta, roleKind, roleName, subjects)
}

func TestCompute(t *testing.T) {
	account := "[{kind: ServiceAccount, name: op, namespace: app}]"
	tests := []struct {
		name, objects, existing string
		want                    []string
	}{
		{"a role without binding grants nothing", role, "", []string{}},
		{
			"a ClusterRoleBinding grants every rule in the cluster, lists sorted",
			role + binding("ClusterRoleBinding", "", "ClusterRole", "reader", account), "",
			[]string{
				"ServiceAccount op@cluster: get | url /metrics via ClusterRole/reader ClusterRoleBinding/b",
				"ServiceAccount op@cluster: get,watch |pods,secrets via ClusterRole/reader ClusterRoleBinding/b",
			},
		},
		{
			"a RoleBinding to a ClusterRole grants in its own namespace",
			role + binding("RoleBinding", "app", "ClusterRole", "reader", "[{kind: Group, name: devs, apiGroup: rbac.authorization.k8s.io}]"), "",
			[]string{
				"Group devs@app: get | url /metrics via ClusterRole/reader RoleBinding/app/b",
				"Group devs@app: get,watch |pods,secrets via ClusterRole/reader RoleBinding/app/b",
			},
		},
		{
			"a RoleBinding to a Role, the account's namespace left out",
			role + binding("RoleBinding", "app", "Role", "writer", "[{kind: ServiceAccount, name: op}]"), "",
			[]string{"ServiceAccount op@app: patch apps|deployments[web] via Role/app/writer RoleBinding/app/b"},
		},
		{
			"a Role of another namespace is another role",
			role + binding("RoleBinding", "other", "Role", "writer", account), "", []string{},
		},
		{
			"a user name of a service account is that account",
			role + binding("RoleBinding", "app", "Role", "writer", "[{kind: User, name: 'system:serviceaccount:app:op'}, {kind: ServiceAccount, name: op}]"), "",
			[]string{"ServiceAccount op@app: patch apps|deployments[web] via Role/app/writer RoleBinding/app/b"},
		},
		{
			"cluster-admin is known without a cluster",
			binding("ClusterRoleBinding", "", "ClusterRole", "cluster-admin", account), "",
			[]string{
				"ServiceAccount op@cluster: * | url * via ClusterRole/cluster-admin ClusterRoleBinding/b",
				"ServiceAccount op@cluster: * *|* via ClusterRole/cluster-admin ClusterRoleBinding/b",
			},
		},
		{
			"so is what a role of every cluster permits in one namespace",
			binding("RoleBinding", "app", "ClusterRole", "system:auth-delegator", account), "",
			[]string{
				"ServiceAccount op@app: create authentication.k8s.io|tokenreviews via ClusterRole/system:auth-delegator RoleBinding/app/b",
				"ServiceAccount op@app: create authorization.k8s.io|subjectaccessreviews via ClusterRole/system:auth-delegator RoleBinding/app/b",
			},
		},
		{
			"another role is not, and nothing is made up about it",
			binding("ClusterRoleBinding", "", "ClusterRole", "editor", account), "", []string{},
		},
		{
			"a role read from the cluster counts",
			binding("RoleBinding", "app", "Role", "writer", account), role,
			[]string{"ServiceAccount op@app: patch apps|deployments[web] via Role/app/writer RoleBinding/app/b"},
		},
		{
			"a binding in the cluster to a role of the plan counts",
			role, binding("RoleBinding", "app", "Role", "writer", account),
			[]string{"ServiceAccount op@app: patch apps|deployments[web] via Role/app/writer RoleBinding/app/b"},
		},
		{
			"a binding in the cluster to a role in the cluster does not",
			"", role + binding("RoleBinding", "app", "Role", "writer", account), []string{},
		},
		{
			"the stored copy of a planned binding does not",
			role + binding("RoleBinding", "app", "Role", "writer", "[]"),
			binding("RoleBinding", "app", "Role", "writer", account), []string{},
		},
		{
			"rules without verbs, or without anything they are on, grant nothing",
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: x}\nrules: [{apiGroups: [''], resources: [pods]}, {verbs: [get]}, 7]\n" +
				binding("ClusterRoleBinding", "", "ClusterRole", "x", account), "", []string{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := briefs(Compute(Input{Objects: objects(t, test.objects), Existing: objects(t, test.existing)}))
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

func TestTheSameRuleThroughTwoRolesIsOneGrant(t *testing.T) {
	text := ""
	for _, name := range []string{"two", "one"} {
		text += "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: " + name + "}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n"
		text += "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b-" + name + "}\nroleRef: {kind: ClusterRole, name: " + name + "}\nsubjects: [{kind: ServiceAccount, name: op, namespace: app}]\n"
	}
	got := briefs(Compute(Input{Objects: objects(t, text)}))
	want := []string{"ServiceAccount op@cluster: get |pods via ClusterRole/one ClusterRoleBinding/b-one ClusterRole/two ClusterRoleBinding/b-two"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAggregation(t *testing.T) {
	const labelled = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: part, labels: {tier: gold}}
rules: [{apiGroups: [""], resources: [vaults], verbs: [get]}]
`
	tests := []struct {
		name, selector string
		want           bool
	}{
		{"matchLabels that hold", "matchLabels: {tier: gold}", true},
		{"matchLabels of another value", "matchLabels: {tier: silver}", false},
		{"an In expression", "matchExpressions: [{key: tier, operator: In, values: [silver, gold]}]", true},
		{"a NotIn expression", "matchExpressions: [{key: tier, operator: NotIn, values: [gold]}]", false},
		{"an Exists expression", "matchExpressions: [{key: tier, operator: Exists}]", true},
		{"a DoesNotExist expression", "matchExpressions: [{key: tier, operator: DoesNotExist}]", false},
		{"labels and expressions must both hold", "matchLabels: {tier: gold}, matchExpressions: [{key: x, operator: Exists}]", false},
		{"an operator that does not exist", "matchExpressions: [{key: tier, operator: Near}]", false},
		{"an empty selector takes every role", "", true},
		{"a label value that is a list", "matchLabels: {tier: [gold]}", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := labelled + `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: sum, labels: {level: two}}
aggregationRule: {clusterRoleSelectors: [{` + test.selector + `}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: top}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {level: two}}]}
` + binding("ClusterRoleBinding", "", "ClusterRole", "top", "[{kind: ServiceAccount, name: op, namespace: app}]")
			grants := Compute(Input{Objects: objects(t, text)})
			got := slices.ContainsFunc(grants, func(g preview.Grant) bool { return slices.Contains(g.Resources, "vaults") })
			if got != test.want {
				t.Errorf("aggregated: %v, want %v (%d grants)", got, test.want, len(grants))
			}
		})
	}
}

func TestTooManyGrantsAreOverstatedNotDropped(t *testing.T) {
	var rules, subjects []any
	for i := range 400 {
		name := fmt.Sprint(i)
		rules = append(rules, map[string]any{"apiGroups": []any{"g"}, "resources": []any{name}, "verbs": []any{"get"}})
		subjects = append(subjects, map[string]any{"kind": "User", "name": name})
	}
	grants := Compute(Input{Objects: []map[string]any{
		{"apiVersion": rbacVersion, "kind": "ClusterRole", "metadata": map[string]any{"name": "r"}, "rules": rules},
		{
			"apiVersion": rbacVersion, "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "b"}, "subjects": subjects,
			"roleRef": map[string]any{"kind": "ClusterRole", "name": "r"},
		},
	}})
	if len(grants) != 2*len(subjects) || !Reaches(grants[1], "g", "7", "get") {
		t.Errorf("%d grants for %d subjects, the second %v", len(grants), len(subjects), brief(grants[1]))
	}
}

func TestRoleRefs(t *testing.T) {
	text := role + binding("ClusterRoleBinding", "", "ClusterRole", "reader", "[]") +
		binding("ClusterRoleBinding", "", "ClusterRole", "edit", "[]") +
		binding("RoleBinding", "other", "Role", "writer", "[]") + binding("RoleBinding", "ns", "ClusterRole", "edit", "[]")
	var got []string
	for _, ref := range RoleRefs(objects(t, text)) {
		got = append(got, ref.ID())
	}
	want := []string{"rbac.authorization.k8s.io/ClusterRole/-/edit", "rbac.authorization.k8s.io/Role/other/writer"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReaches(t *testing.T) {
	tests := []struct {
		name                     string
		groups, resources, verbs []string
		group, resource, verb    string
		want                     bool
	}{
		{"the star covers sub-resources", []string{""}, []string{"*"}, []string{"get"}, "", "pods/exec", "get", true},
		{"a star before the slash covers that sub-resource", []string{""}, []string{"*/exec"}, []string{"get"}, "", "pods/exec", "get", true},
		{"a star behind the slash is nothing special", []string{""}, []string{"pods/*"}, []string{"get"}, "", "pods/exec", "get", false},
		{"a resource does not cover its sub-resources", []string{""}, []string{"pods"}, []string{"get"}, "", "pods/exec", "get", false},
		{"the core group is one group", []string{""}, []string{"pods"}, []string{"*"}, "apps", "pods", "get", false},
		{"every group", []string{"*"}, []string{"pods"}, []string{"*"}, "apps", "pods", "bind", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := preview.Grant{APIGroups: test.groups, Resources: test.resources, Verbs: test.verbs}
			if got := Reaches(g, test.group, test.resource, test.verb); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestViaRef(t *testing.T) {
	for via, want := range map[string]string{
		"ClusterRole/x":      "rbac.authorization.k8s.io/ClusterRole/-/x",
		"Role/ns/x":          "rbac.authorization.k8s.io/Role/ns/x",
		"RoleBinding/ns/a:b": "rbac.authorization.k8s.io/RoleBinding/ns/a:b",
		"ClusterRole/a/b":    "rbac.authorization.k8s.io/ClusterRole/-/a/b",
	} {
		if got := ViaRef(via).ID(); got != want {
			t.Errorf("%s: got %s, want %s", via, got, want)
		}
	}
}

func FuzzCompute(f *testing.F) {
	f.Add([]byte(role + binding("ClusterRoleBinding", "", "ClusterRole", "reader", "[{kind: User, name: u}]")))
	f.Add([]byte("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x, labels: {a: [1]}}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: [1]}}]}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := preview.Decode(data)
		if err != nil {
			return
		}
		var all []map[string]any
		for _, doc := range docs {
			list, err := preview.Flatten(doc)
			if err == nil {
				all = append(all, list...)
			}
		}
		grants := Compute(Input{Objects: all, Existing: all})
		RoleRefs(all)
		for _, g := range Delta(grants, grants) {
			if g.Change != preview.GrantSame {
				t.Fatalf("compared with itself, %s", brief(g))
			}
			words.Explain(g)
		}
	})
}
