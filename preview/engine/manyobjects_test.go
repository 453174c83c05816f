package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// manyKinds are objects that rules look at in the light of the others: %d is
// the number of each.
var manyKinds = map[string]string{
	"ConfigMaps": `{apiVersion: v1, kind: ConfigMap, metadata: {name: a%[1]d, namespace: n}}`,
	"ConfigMaps with templates of Flyte": `
apiVersion: v1
kind: ConfigMap
metadata: {name: a%[1]d, namespace: n}
data:
  account.yaml: "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: '{{ namespace }}'}}"
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a%[1]d}, rules: []}`,
	"engines of Flyte and their workloads": `
apiVersion: v1
kind: ConfigMap
metadata: {name: a%[1]d, namespace: n}
data:
  plugins.yaml: "tasks: {task-plugins: {enabled-plugins: [container, sidecar, k8s-array, ray, spark], default-for-task-types: {ray: ray, spark: spark}}}"
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a%[1]d, namespace: n}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {serviceAccountName: a%[1]d, containers: [{name: c, image: "example.com/a:1"}], volumes: [{name: config, configMap: {name: a%[1]d}}]}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a%[1]d, namespace: n}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a%[1]d, namespace: n}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:node-proxier}
subjects: [{kind: ServiceAccount, name: a%[1]d, namespace: n}]`,
	"definitions and their objects": `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: a%[1]ds.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: A%[1]d, plural: a%[1]ds}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {x: {type: integer}}}}}]
---
{apiVersion: example.com/v1, kind: A%[1]d, metadata: {name: a, namespace: n}, x: 1}`,
	"accounts with bindings": `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a%[1]d, namespace: n}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a%[1]d, namespace: n}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:node-proxier}
subjects: [{kind: ServiceAccount, name: a%[1]d, namespace: n}]`,
	"roles that collect each other": `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: a%[1]d, labels: {all: "yes"}}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {all: "yes"}}]}
rules: []`,
	"webhooks and the pods behind them": `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: a%[1]d}
webhooks:
- name: a.example.com
  clientConfig: {service: {name: all, namespace: n}}
  objectSelector: {matchLabels: {app: none}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a%[1]d, namespace: n}
spec:
  selector: {matchLabels: {app: a}}
  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: "example.com/a:1"}]}}`,
}

// TestSlowPlanningIsLinear counts what a plan of many objects costs each of them, in
// bytes that are allocated: a step that gathers all objects for each of them
// shows at once, on any machine.
func TestSlowPlanningIsLinear(t *testing.T) {
	slowtest.Skip(t, "plans of 2,000 objects of each kind")
	const few, many = 250, 2000
	schemas := k8s.NewSchemas()
	release := preview.Release{Name: "r", Namespace: "n"}
	cost := func(t *testing.T, kind string, n int) float64 {
		var text strings.Builder
		text.WriteString(`{apiVersion: v1, kind: Service, metadata: {name: all, namespace: n}, spec: {selector: {app: a}}}`)
		for i := range n {
			text.WriteString("\n---\n" + fmt.Sprintf(kind, i))
		}
		content, err := engine.Prepare(release, material(t, text.String()))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = engine.Build(t.Context(), []engine.Content{content}, nil, engine.Options{Release: release, Schemas: schemas})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	for name, kind := range manyKinds {
		t.Run(name, func(t *testing.T) {
			cost(t, kind, 1) // what is made once
			one, each := cost(t, kind, few), cost(t, kind, many)
			t.Logf("%.0f bytes for each of %d, %.0f for each of %d", one, few, each, many)
			if each > 1.3*one {
				t.Errorf("each of %d costs %.0f bytes, each of %d costs %.0f", few, one, many, each)
			}
		})
	}
}
