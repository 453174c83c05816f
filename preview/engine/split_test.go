package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// compared plans newer as if older were installed.
func compared(t *testing.T, older, newer planned.Content) *preview.Plan {
	t.Helper()
	p, err := engine.Compare([]planned.Content{newer}, []planned.Content{older}, preview.Baseline{Reference: "./old", Package: "op", Version: "1.0.0"},
		engine.Options{Release: preview.Release{Name: "op", Namespace: "app"}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// splitDangers are objects with a part replaced in the newer version (OLD by NEW), with
// the rule whose finding must stay critical then, and the object that it is about.
var splitDangers = []struct{ name, rule, object, text, was, is string }{
	{"a mutation of pods", "admission-policy", "admissionregistration.k8s.io/MutatingAdmissionPolicy/-/op", `
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: op}, spec: {failurePolicy: Ignore, reinvocationPolicy: Never,
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]},
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "CHANGED"}}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: op}, spec: {policyName: op}}`,
		`Object{metadata: Object.metadata{labels: {'team': 'a'}}}`, `Object{spec: Object.spec{hostPID: true}}`},
	{"the parameters of a mutation", "admission-policy", "admissionregistration.k8s.io/MutatingAdmissionPolicy/-/op", `
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: op}, spec: {failurePolicy: Ignore, reinvocationPolicy: Never,
  paramKind: {apiVersion: v1, kind: ConfigMap}, matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]},
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{spec: Object.spec{hostPID: params.data.host == 'true'}}"}}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: op}, spec: {policyName: op, paramRef: {selector: {matchLabels: {a: b}}, parameterNotFoundAction: Allow}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, labels: {a: b}}, data: {host: "CHANGED"}}`, "false", "true"},
	{"the configuration of Argo CD", "well-known-object", "core/ConfigMap/argocd/argocd-rbac-cm", `
{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-rbac-cm, namespace: argocd}, data: {policy.default: "CHANGED"}}`, "role:readonly", "role:admin"},
	{"the image of a privileged pod", "pod-privileged", "apps/DaemonSet/app/op", daemonSet("CHANGED", "settings"), "registry.example.com/a:v1", "registry.example.net/b:v9"},
	{"the arguments of a privileged pod in a ConfigMap", "pod-privileged", "apps/DaemonSet/app/op", daemonSet("registry.example.com/a:v1", "settings") + `
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {run: "CHANGED"}}`, "true", "curl https://example.net"},
	{"the subject of cluster-admin", "binding-cluster-admin", "rbac.authorization.k8s.io/ClusterRoleBinding/-/op", `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: op}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin},
  subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: "CHANGED"}]}`, "alice", "mallory"},
}

func daemonSet(image, settings string) string {
	return `
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: op}, spec: {selector: {matchLabels: {app: op}}, template: {metadata: {labels: {app: op}}, spec: {
  containers: [{name: web, image: "` + image + `", securityContext: {privileged: true}, envFrom: [{configMapRef: {name: ` + settings + `, optional: true}}]}]}}}}`
}

// A danger in two steps: the older version has what is judged in the same words, and the
// newer one changes what it does. The finding is as critical as in a first review.
func TestADangerSplitOverTwoVersionsStaysCritical(t *testing.T) {
	for _, test := range splitDangers {
		t.Run(test.name, func(t *testing.T) {
			versions := map[string]planned.Content{}
			for version, value := range map[string]string{"1.0.0": test.was, "1.0.1": test.is} {
				versions[version] = versionOf(t, version, parseAll(t, strings.ReplaceAll(test.text, "CHANGED", value))...)
			}
			find := func(p *preview.Plan) preview.Finding {
				at := slices.IndexFunc(p.Findings, func(f preview.Finding) bool { return f.Rule == test.rule && f.Object == test.object })
				if at < 0 {
					t.Fatalf("no finding %s of %s: %+v", test.rule, test.object, p.Findings)
				}
				return p.Findings[at]
			}
			if f := find(compared(t, versions["1.0.0"], versions["1.0.1"])); f.Severity != preview.Critical || f.AlsoIn != "" || f.Lowered {
				t.Errorf("what changed: %s, also in %q, lowered %v", f.Severity, f.AlsoIn, f.Lowered)
			}
			if f := find(compared(t, versions["1.0.0"], versions["1.0.0"])); f.Severity != preview.Warning || f.AlsoIn != "1.0.0" || !f.Lowered {
				t.Errorf("what stays: %s, also in %q, lowered %v", f.Severity, f.AlsoIn, f.Lowered)
			}
		})
	}
}
