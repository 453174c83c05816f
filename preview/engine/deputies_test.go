package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

func customDefinition(plural, kind string) string {
	return fmt.Sprintf("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %s.acting.example.com}, spec: {group: acting.example.com, scope: Namespaced, names: {plural: %s, singular: %s, kind: %s, listKind: %sList}, "+
		"versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}\n---\n",
		plural, plural, strings.ToLower(kind), kind, kind)
}

// controllerOf is an account with rules, bound in the whole cluster.
func controllerOf(name, rules string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ServiceAccount, metadata: {name: %[1]s, namespace: acting-system}}\n---\n"+
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: acting-%[1]s}, rules: [%[2]s]}\n---\n"+
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: acting-%[1]s}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: acting-%[1]s}, subjects: [{kind: ServiceAccount, name: %[1]s, namespace: acting-system}]}\n---\n",
		name, rules)
}

// actingBefore is a cluster whose controllers act on three kinds: one with all Secrets,
// one with nothing else, and one with no controller.
var actingBefore = "{apiVersion: v1, kind: Namespace, metadata: {name: acting}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: acting-system}}\n---\n" +
	customDefinition("things", "Thing") + customDefinition("gadgets", "Gadget") + customDefinition("widgets", "Widget") +
	controllerOf("strong", "{apiGroups: [acting.example.com], resources: [things/status], verbs: [update]}, {apiGroups: [\"\"], resources: [secrets], verbs: [get, list]}") +
	controllerOf("other", "{apiGroups: [acting.example.com], resources: [things/finalizers], verbs: [update]}") +
	controllerOf("weak", "{apiGroups: [acting.example.com], resources: [gadgets], verbs: [get, list, patch]}") +
	controllerOf("reader", "{apiGroups: [acting.example.com], resources: [widgets, widgets/status], verbs: [get, list]}") +
	controllerOf("admin", "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}") +
	"{apiVersion: v1, kind: ConfigMap, metadata: {name: end, namespace: acting}}"

func customObject(kind string) string {
	return "{apiVersion: acting.example.com/v1, kind: " + kind + ", metadata: {name: a}, spec: {}}"
}

// writerOf is an account of the plan that may write a resource.
func writerOf(resource string) string {
	return "{apiVersion: v1, kind: ServiceAccount, metadata: {name: op}}\n---\n" +
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: acting-op}, rules: [{apiGroups: [acting.example.com], resources: [" + resource + "], verbs: [create]}]}\n---\n" +
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: acting-op}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: acting-op}, subjects: [{kind: ServiceAccount, name: op, namespace: acting}]}"
}

// A custom resource is an order to the controllers of the cluster: the plan says who
// acts on it and what that account comes to.
func TestWhoActsOnCustomKinds(t *testing.T) {
	before := recorded(t, "acting", actingBefore)
	for _, test := range []struct {
		name, docs string
		want       []string // SEVERITY RULE: TITLE
		absent     string   // a rule
	}{
		{"an object on which an account with all Secrets acts", customObject("Thing"),
			[]string{"warning order-acted-on: things.acting.example.com: acted on by ServiceAccount acting-system/strong, can read the Secrets of every namespace"}, "unknown-kind"},
		{"one on which an account acts that may do no more", customObject("Gadget"),
			[]string{"info order-acted-on: gadgets.acting.example.com: acted on by ServiceAccount acting-system/weak"}, "unknown-kind"},
		{"one that is only read", customObject("Widget"), []string{"unknown unknown-kind: Widget a: is of an unknown kind"}, "order-acted-on"},
		{"a right to write them", writerOf("things"),
			[]string{"warning rbac-acted-on: things.acting.example.com: can be written by the plan's accounts, and is acted on by ServiceAccount acting-system/strong, can read the Secrets of every namespace"}, "rbac-unknown-kind"},
		{"a right to write what is only read", writerOf("widgets"), []string{"unknown rbac-unknown-kind: API group acting.example.com: is unknown, and the plan's accounts can write its kinds"}, "rbac-acted-on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := before.cluster("")
			p := planFrom(t, client, "acting", test.docs)
			var got []string
			for _, f := range p.Findings {
				got = append(got, string(f.Severity)+" "+f.Rule+": "+f.Title)
				if f.Rule == test.absent {
					t.Errorf("%s: %s", f.Rule, f.Title)
				}
			}
			for _, want := range test.want {
				if !strings.Contains(strings.Join(got, "\n"), want) {
					t.Errorf("missing %s among\n%s", want, strings.Join(got, "\n"))
				}
			}
			readAgain(t, client, p)
			if again, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas()); err != nil || again.Digest != p.Digest {
				t.Errorf("planned again: %v", err)
			}
		})
	}
}
