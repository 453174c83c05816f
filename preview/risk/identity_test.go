package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

const argoDefinition = `
kind: CustomResourceDefinition
metadata: {name: %s.argoproj.io}
spec: {group: argoproj.io, names: {kind: X, plural: %s}}
`

func definition(apiVersion, plural string) string {
	return "---\napiVersion: " + apiVersion + strings.ReplaceAll(argoDefinition, "%s", plural)
}

const (
	argoWriter = "---\n" + roleHead + "}\nrules: [{apiGroups: [argoproj.io], resources: [applications], verbs: [create]}]\n"
	argoStar   = "---\n" + roleHead + "}\nrules: [{apiGroups: [argoproj.io], resources: ['*'], verbs: [create]}]\n"
	binding    = "---\n" + bindingHead + "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}\nsubjects: [{kind: ServiceAccount, name: op, namespace: app}]\n"
)

// An object is what its group, kind and action say; a copy, or a kind of the
// same name in another group, excuses nothing.
func TestOnlyWhatThePlanBringsIsItsOwn(t *testing.T) {
	const realCRD = "apiextensions.k8s.io/v1"
	acts := "---\n" + strings.TrimSuffix(holding("app", "actor", "", "argoproj.io|applications/status|patch"), "---\n")
	token := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: t, namespace: app, annotations: {kubernetes.io/service-account.name: boss}}\ntype: kubernetes.io/service-account-token\n"
	account := func(version string) string {
		return "---\napiVersion: " + version + "\nkind: ServiceAccount\nmetadata: {name: boss, namespace: app}\n"
	}
	for name, test := range map[string]struct {
		text, of string // the object whose action is set
		action   preview.Action
		rule     string
		want     bool
	}{
		"a definition that is created is own":                 {definition(realCRD, "applications") + argoWriter + binding + acts, "CustomResourceDefinition", preview.ActionCreate, "rbac-installers-write", false},
		"one that the release has already is own":             {definition(realCRD, "applications") + argoWriter + binding + acts, "CustomResourceDefinition", preview.ActionUpdate, "rbac-installers-write", false},
		"one on which nothing of the plan acts is none":       {definition(realCRD, "applications") + argoWriter + binding, "CustomResourceDefinition", preview.ActionCreate, "rbac-installers-write", true},
		"one in a foreign group is none":                      {definition("demo.example.com/v1", "applications") + argoWriter + binding, "CustomResourceDefinition", preview.ActionCreate, "rbac-installers-write", true},
		"a copy that is taken over is not own":                {definition(realCRD, "applications") + argoWriter + binding, "CustomResourceDefinition", preview.ActionAdopt, "rbac-installers-write", true},
		"a copy that is shared is not own":                    {definition(realCRD, "applications") + argoWriter + binding, "CustomResourceDefinition", preview.ActionShared, "rbac-installers-write", true},
		"another kind does not make all of the group own":     {definition(realCRD, "others") + argoStar + binding, "CustomResourceDefinition", preview.ActionCreate, "rbac-installers-write", true},
		"a token of an account that is created is no foreign": {account("v1") + token, "ServiceAccount", preview.ActionCreate, "token-of-foreign-account", false},
		"one in a foreign group is no account":                {account("demo.example.com/v1") + token, "ServiceAccount", preview.ActionCreate, "token-of-foreign-account", true},
		"an account that is taken over stays foreign":         {account("v1") + token, "ServiceAccount", preview.ActionAdopt, "token-of-foreign-account", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, test.text)
			for i := range p.Objects {
				if p.Objects[i].Kind == test.of {
					p.Objects[i].Action = test.action
				}
			}
			f := find(evaluate(t, Input{Plan: p}), test.rule)
			if (f != nil) != test.want || f != nil && f.Severity != preview.Critical {
				t.Errorf("%s: %v, want found: %v", test.rule, f, test.want)
			}
		})
	}
}

// A role's name excuses a binding only where the role is what the name says.
func TestBuiltInRolesAreExcusedOnlyAsTheyAre(t *testing.T) {
	bind := func(kind, role, subject string) string {
		return "---\n" + bindingHead + "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: " + kind + ", name: '" + role + "'}\nsubjects: [" + subject + "]\n"
	}
	const anybody = "{kind: Group, name: 'system:unauthenticated'}"
	const pod = "{kind: ServiceAccount, name: op, namespace: app}"
	redefined := func(name string) string {
		return "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: '" + name + "'}\nrules: [{apiGroups: [''], resources: [secrets], verbs: [list]}]\n"
	}
	for name, test := range map[string]struct {
		text string
		live map[string]any // what the cluster has of the role; nil: not read
		rule string
		want bool
	}{
		"discovery is for everybody":                 {text: bind("ClusterRole", "system:discovery", anybody), rule: "binding-anonymous"},
		"discovery redefined is not":                 {text: bind("ClusterRole", "system:discovery", anybody) + redefined("system:discovery"), rule: "binding-anonymous", want: true},
		"discovery that the cluster has otherwise":   {text: bind("ClusterRole", "system:discovery", anybody), live: role("system:discovery"), rule: "binding-anonymous", want: true},
		"a built-in role is known":                   {text: bind("ClusterRole", "system:auth-delegator", pod), rule: "binding-unknown-role"},
		"another that begins with system: is not":    {text: bind("ClusterRole", "system:anything", pod), rule: "binding-unknown-role", want: true},
		"view redefined is judged by its rules":      {text: bind("ClusterRole", "view", pod) + redefined("view"), rule: "rbac-secrets-read", want: true},
		"a role of everybody redefined, without own": {text: redefined("system:public-info-viewer"), rule: "rbac-secrets-read", want: true},
		"a role of nobody redefined":                 {text: redefined("system:auth-delegator"), rule: "rbac-secrets-read"},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, test.text)
			if test.live != nil {
				p.Reads = append(p.Reads, preview.Read{ID: preview.RefOf(test.live).ID(), UID: "u", Body: test.live})
			}
			var bodies []map[string]any
			for i := range p.Objects {
				bodies = append(bodies, p.Objects[i].Planned)
			}
			p.Access.Grants = access.Delta(nil, access.Compute(access.Input{Objects: bodies, Unread: true}))
			f := find(evaluate(t, Input{Plan: p}), test.rule)
			if (f != nil) != test.want {
				t.Errorf("%s: %v, want found: %v", test.rule, f, test.want)
			}
			if test.rule == "rbac-secrets-read" && f != nil && strings.HasPrefix(name, "a role of everybody") && !strings.Contains(f.Evidence, "system:unauthenticated") {
				t.Errorf("the evidence does not say who: %s", f.Evidence)
			}
		})
	}
}

func role(name string) map[string]any {
	return map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": name},
		"rules": []any{map[string]any{"apiGroups": []any{"*"}, "resources": []any{"*"}, "verbs": []any{"*"}}},
	}
}
