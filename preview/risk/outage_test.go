package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// What an outage of a webhook refuses is said in words.
func TestOutagesAreSaidInWords(t *testing.T) {
	const pods = "rules: [{apiGroups: [''], resources: [pods], operations: [CREATE, UPDATE]}]"
	for _, test := range []struct{ name, webhook, want string }{
		{"everything", "rules: [{apiGroups: ['*'], resources: ['*/*'], operations: ['*']}]",
			"every change of everything and its subresources of every API group in every namespace, kube-system and app among them"},
		{"pods everywhere", pods, "create and update of pods in every namespace, kube-system and app among them"},
		{"its own namespace, which is another", pods + ", clientConfig: {service: {name: s, namespace: hooks}}",
			"create and update of pods in every namespace, kube-system, app and hooks among them"},
		{"all but some namespaces", pods + ", namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, app]}, {key: unchecked, operator: DoesNotExist}]}",
			"create and update of pods in every namespace but those named app or kube-system or with a label unchecked"},
		{"labelled namespaces", pods + ", namespaceSelector: {matchLabels: {team: a}, matchExpressions: [{key: checked, operator: Exists}]}",
			"create and update of pods in namespaces labelled team=a and with a label checked"},
		{"one namespace by name", pods + ", namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [app]}]}",
			"create and update of pods in namespaces named app, app among them"},
		{"labelled objects", pods + ", objectSelector: {matchLabels: {inject: 'true'}}",
			"create and update of pods labelled inject=true in every namespace, kube-system and app among them"},
		{"all objects but labelled ones", pods + ", objectSelector: {matchExpressions: [{key: skip, operator: DoesNotExist}]}",
			"create and update of pods but those with a label skip in every namespace, kube-system and app among them"},
		{"some objects but labelled ones", pods + ", objectSelector: {matchExpressions: [{key: skip, operator: Exists}, {key: a, operator: NotIn, values: [b, c]}]}",
			"create and update of pods with a label skip but those labelled a=b or c in every namespace, kube-system and app among them"},
		{"conditions", pods + ", matchConditions: [{name: not-leases, expression: 'true'}, {name: mine, expression: 'false'}]",
			"create and update of pods in every namespace, kube-system and app among them, as far as its conditions not-leases and mine hold"},
		{"what is in no namespace", "rules: [{apiGroups: [''], resources: [nodes, namespaces], operations: [DELETE]}], namespaceSelector: {matchLabels: {a: b}}",
			"delete of namespaces and nodes in the whole cluster"},
		{"by its scope", "rules: [{apiGroups: ['*'], resources: ['*'], scope: Cluster, operations: [CONNECT]}]",
			"connect of everything of every API group in the whole cluster"},
		{"a group", "rules: [{apiGroups: [apps, ''], resources: [deployments, pods/exec], operations: [CREATE]}]",
			"create of deployments and pods/exec (core,apps) in every namespace, kube-system and app among them"},
		{"a selector of no sense", pods + ", namespaceSelector: {matchExpressions: [{key: a, operator: Near}]}",
			"create and update of pods in namespaces that its selector, which cannot be read, selects, kube-system and app among them"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: planOf(t, webhook("Validating", test.webhook))}), "webhook-fail-closed-cluster-wide")
			want := "webhook h: while it does not answer, the API server refuses " + test.want
			if f == nil || !strings.HasSuffix(f.Evidence, ": "+want) {
				t.Errorf("want %q, got %+v", want, f)
			}
		})
	}
}

// Labels that a namespace is known to have count.
func TestKnownLabelsOfNamespacesDecideWhatAWebhookCovers(t *testing.T) {
	hook := webhook("Validating", "rules: [{apiGroups: [''], resources: [pods]}], clientConfig: {service: {name: s, namespace: app}}, namespaceSelector: {matchExpressions: [{key: unchecked, operator: DoesNotExist}]}")
	p := planOf(t, hook)
	if f := find(evaluate(t, Input{Plan: p}), "webhook-blocks-itself"); f == nil {
		t.Error("it would block itself")
	}
	p = planOf(t, hook)
	p.Reads = []preview.Read{{ID: namespaceID("app"), Body: map[string]any{"metadata": map[string]any{"labels": map[string]any{"unchecked": "yes"}}}}}
	if f := find(evaluate(t, Input{Plan: p}), "webhook-blocks-itself"); f != nil {
		t.Errorf("its namespace is left out: %s", f.Evidence)
	}
}

// A webhook in words is made of texts of the bundle; none of them is shown raw.
func TestWebhooksAreReadWhateverTheyHold(t *testing.T) {
	for _, fields := range []string{
		"rules: 5", "rules: [5, {apiGroups: 5, resources: {a: b}, operations: [5]}]", "namespaceSelector: 5", "namespaceSelector: {matchExpressions: [5]}",
		"rules: [{apiGroups: [''], resources: [pods]}], namespaceSelector: {matchLabels: {a: 5}}, objectSelector: {matchLabels: 5}, matchConditions: 5, clientConfig: 5",
	} {
		evaluate(t, Input{Plan: planOf(t, webhook("Validating", fields))})
	}
}

func TestNamespacesWhoseLevelIsLowered(t *testing.T) {
	namespace := func(labels string) map[string]any {
		return planOf(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: app, labels: {"+labels+"}}\n").Objects[0].Planned
	}
	const enforce, version = "pod-security.kubernetes.io/enforce: ", "pod-security.kubernetes.io/enforce-version: "
	for _, test := range []struct{ name, live, sealed, result, want string }{
		{"from restricted to baseline", enforce + "restricted", enforce + "baseline", "", "enforces level restricted:latest now, and baseline:latest after the apply"},
		{"from a level to none", enforce + "baseline", enforce + "privileged", "", "enforces level baseline:latest now, and privileged:latest after the apply"},
		{"to an older version of it", enforce + "restricted", enforce + "restricted, " + version + "v1.24", "", "enforces level restricted:latest now, and restricted:v1.24 after the apply"},
		{"to a higher one", enforce + "baseline", enforce + "restricted", "", ""},
		{"the plan says nothing of it", enforce + "restricted", "a: b", "", ""},
		{"the plan takes its own label away", enforce + "restricted", "a: b", "a: b", "enforces level restricted:latest now, and privileged:latest after the apply"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := planOf(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n")
			o := &p.Objects[0]
			o.Action, o.LiveBody, o.Planned = preview.ActionUpdate, namespace(test.live), namespace(test.sealed)
			if test.result != "" {
				o.ResultBody = namespace(test.result)
			}
			f := find(evaluate(t, Input{Plan: p}), "pod-security-relaxed")
			if test.want == "" && f != nil || test.want != "" && (f == nil || !strings.HasSuffix(f.Evidence, test.want)) {
				t.Errorf("want %q, got %+v", test.want, f)
			}
		})
	}
}
