package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// ownKind returns a CRD of things.example.com whose objects have a spec of this schema.
func ownKind(spec string) string {
	return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: things, kind: Thing}, " +
		"versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {" + spec + "}}}}}}]}}\n---\n"
}

// An account that may write what a stronger account of the same package carries out has
// what that account has.
func TestOrdersToTheControllerOfThePackage(t *testing.T) {
	const (
		pods     = "template: {properties: {spec: {properties: {serviceAccountName: {type: string}, containers: {type: array, items: {properties: {image: {type: string}}}}}}}}"
		objects  = "resources: {type: array, items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}"
		roles    = "access: {type: array, items: {properties: {verbs: {}, apiGroups: {}, resources: {}}}}"
		volumes  = "claim: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object}}}"
		webhooks = "rules: {type: array, items: {properties: {verbs: {}, apiGroups: {}, resources: {}, operations: {}}}}"
		size     = "size: {type: integer}"
		status   = "example.com|things/status|patch"
		create   = "example.com|things|create"
	)
	ofCluster := strings.NewReplacer("scope: Namespaced", "scope: Cluster").Replace
	app := strings.NewReplacer("example.com", "argoproj.io", "things", "applications", "Thing", "Application").Replace
	acts := holding("app", "op", "", status)
	strong := acts + granting("more", "app", "op", "", "|nodes/proxy|create")
	runs := acts + granting("more", "app", "op", "", "apps|deployments|create")
	for _, test := range []struct {
		name, plan string
		evidence   string // of the finding; empty for none
	}{
		{"whole objects, and an operator that controls nodes", ownKind(objects) + strong + holding("app", "web", "", create),
			"as a result, ServiceAccount app/web orders ServiceAccount app/op, which can control nodes, and acts on things.example.com by patch on things/status in example.com: the object holds whole objects, in spec.resources"},
		{"rules of roles", ownKind(roles) + strong + holding("app", "web", "", "example.com|things|patch|one"), "the object holds rules of roles, in spec.access"},
		{"a kind of the table", app(ownKind(size)+strong) + holding("app", "web", "", app(create)), "Argo CD fetches manifests and applies them with its own permissions"},
		{"pod templates, run anywhere", ownKind(pods) + runs + holding("app", "web", "", create), "which runs pods in any namespace, as accounts of the control plane too"},
		{"pod templates, run beside a strong account", ownKind(pods) + runs + holding("app", "web", "app", create) + holding("app", "keeper", "", "|nodes/proxy|create"), "which runs pods in namespace app, as ServiceAccount app/keeper too, which can control nodes"},
		{"pod templates, where no strong account is", ownKind(pods) + strings.ReplaceAll(runs, "namespace: app", "namespace: op") + holding("app", "web", "app", create) + holding("other", "keeper", "", "|nodes/proxy|create"), ""},
		{"pod templates, and an operator that runs none", ownKind(pods) + strong + holding("app", "web", "", create), ""},
		{"an operator by a wildcard", ownKind(objects) + holding("app", "op", "", "*|*|*") + holding("app", "web", "", create), "orders ServiceAccount app/op, which is cluster-admin in effect, and acts on things.example.com by all verbs on all resources"},
		{"an operator in the namespace of the orders", ownKind(objects) + holding("app", "op", "app", status) + granting("more", "app", "op", "", "|nodes/proxy|create") + holding("app", "web", "app", create), "orders ServiceAccount app/op"},
		{"an operator in another namespace", ownKind(objects) + holding("app", "op", "app", status) + granting("more", "app", "op", "", "|nodes/proxy|create") + holding("app", "web", "other", create), ""},
		{"objects of the cluster", ofCluster(ownKind(objects)) + strong + holding("app", "web", "", create), "orders ServiceAccount app/op"},
		{"objects of the cluster, written in a namespace", ofCluster(ownKind(objects)) + strong + holding("app", "web", "app", create), ""},
		{"objects of the cluster, acted on in a namespace", ofCluster(ownKind(objects)) + holding("app", "op", "app", status) + granting("more", "app", "op", "", "|nodes/proxy|create") + holding("app", "web", "", create), ""},
		{"an operator that orders software of others", ownKind(objects) + acts + granting("more", "app", "op", "", app(create)) + holding("app", "web", "", create), "orders ServiceAccount app/op, which can write objects that install software"},
		{"an operator that can do no more", ownKind(objects) + acts + holding("app", "web", "", create), ""},
		{"an account as strong as the operator", ownKind(objects) + strong + holding("app", "web", "", create) + granting("same", "app", "web", "", "|nodes/proxy|create"), ""},
		{"the operator itself", ownKind(objects) + strong + granting("own", "app", "op", "", create), ""},
		{"who may only read them", ownKind(objects) + strong + holding("app", "web", "", "example.com|things|list"), ""},
		{"who may only write their status", ownKind(objects) + strong + holding("app", "web", "", "example.com|things/scale|patch"), ""},
		{"a name that a new object cannot have", ownKind(objects) + strong + holding("app", "web", "", create+"|one"), ""},
		{"objects that hold a size", ownKind(size) + strong + holding("app", "web", "", create), ""},
		{"objects that hold a volume claim", ownKind(volumes) + strong + holding("app", "web", "", create), ""},
		{"objects that hold rules of webhooks", ownKind(webhooks) + strong + holding("app", "web", "", create), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: planOf(t, strings.TrimSuffix(test.plan, "---\n"))})
			f := find(findings, "rbac-own-orders-write")
			switch {
			case test.evidence == "" && f != nil, test.evidence != "" && f == nil:
				t.Errorf("found %+v among %v", f, ids(findings))
			case f != nil && (f.Severity != preview.Critical || !strings.Contains(f.Evidence, test.evidence)):
				t.Errorf("%s: %s\nwant %s", f.Severity, f.Evidence, test.evidence)
			}
		})
	}
}

// What an account may order of an operator, an account may that can act as it.
func TestOrdersToTheControllerLeadOn(t *testing.T) {
	plan := ownKind("resources: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}") +
		holding("op", "op", "", "example.com|things/status|patch") + granting("more", "op", "op", "", "|nodes/proxy|create") +
		holding("app", "web", "", "example.com|things|create") + holding("app", "job", "app", "|pods/exec|create")
	var evidence []string
	for _, f := range evaluate(t, Input{Plan: planOf(t, strings.TrimSuffix(plan, "---\n"))}) {
		if f.Rule == "access-reach" && f.Severity == preview.Critical {
			evidence = append(evidence, f.Evidence)
		}
	}
	if text := strings.Join(evidence, "\n"); !strings.Contains(text, "runs commands in pods of namespace app, such as those of ServiceAccount app/web, which can direct a stronger account of the package through its custom resources") {
		t.Errorf("%q", text)
	}
}
