package engine_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
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
	"accounts that act as each other": `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a%[1]d, namespace: n}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a%[1]d, namespace: n}, rules: [{apiGroups: [apps], resources: [deployments], verbs: [create]}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a%[1]d, namespace: n}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a%[1]d}
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
	cost := func(t *testing.T, kind string, n int) float64 {
		plan := planOfMany(t, schemas, kind, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plan()
		runtime.ReadMemStats(&after)
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

// planOfMany prepares n objects of a kind, and returns what plans them.
func planOfMany(t testing.TB, schemas *k8s.Schemas, kind string, n int) func() *preview.Plan {
	t.Helper()
	release := preview.Release{Name: "r", Namespace: "n"}
	var text strings.Builder
	text.WriteString(`{apiVersion: v1, kind: Service, metadata: {name: all, namespace: n}, spec: {selector: {app: a}}}`)
	for i := range n {
		text.WriteString("\n---\n" + fmt.Sprintf(kind, i))
	}
	content, err := planned.Prepare(release, material(t, text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return func() *preview.Plan {
		plan, err := engine.Build(t.Context(), []planned.Content{content}, nil, engine.Options{Release: release, Schemas: schemas})
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
}

// objectsVariable is the environment variable with the number of objects of
// TestSlowManyObjects.
const objectsVariable = "KUBECTL_OPERATOR_OBJECTS"

// TestSlowManyObjects plans many objects of each kind. [TestSlowVisitsAreLinear] runs it
// in two sizes.
func TestSlowManyObjects(t *testing.T) {
	slowtest.Skip(t, "plans that are compared in two sizes")
	n, err := strconv.Atoi(cmp.Or(os.Getenv(objectsVariable), "1"))
	if err != nil {
		t.Fatal(err)
	}
	schemas := k8s.NewSchemas()
	for _, kind := range manyKinds {
		planOfMany(t, schemas, kind, n)()
	}
}

// TestSlowVisitsAreLinear counts how often each statement of the engine, its checks and
// what they call is run for plans of two sizes. A step that looks at all objects for
// each of them is named with its line, on any machine, however fast it is.
func TestSlowVisitsAreLinear(t *testing.T) {
	slowtest.Skip(t, "builds of the engine with counters")
	const few, times = 150, 4
	dir := t.TempDir()
	program := filepath.Join(dir, "engine.test")
	goCommand(t, "test", "-c", "-ldflags=-s -w", "-covermode=count", "-coverpkg="+counted, "-o", program, ".")
	visits := func(n int) map[string]int {
		profile := filepath.Join(dir, fmt.Sprint("visits-", n))
		cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestSlowManyObjects$", "-test.coverprofile", profile)
		cmd.Env = append(os.Environ(), fmt.Sprint(objectsVariable, "=", n))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return counters(t, profile)
	}
	one, each := visits(few), visits(few*times)
	run := 0
	for block, n := range each {
		if n >= few*times {
			run++
		}
		// Sorting costs a logarithm more; what looks at all objects for each costs times more.
		if n > 50*few*times && n > 2*times*one[block] {
			t.Errorf("%s is run %d times for %d objects of each kind, %d times for %d", block, one[block], few, n, few*times)
		}
	}
	t.Logf("%d blocks of statements are run at least once for each object", run)
	if run < 100 {
		t.Errorf("%d blocks are run for each object: they are not counted", run)
	}
}

// counted lists the packages whose statements are counted.
const counted = "./,../,../access,../cloud,../diff,../escalation,../fields,../flyte,../owners,../risk/...,../rollback,../schema,../verdict"

func goCommand(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v: %s", args, err, out)
	}
}

// counters reads a coverage profile: how often each block was run, by file and lines.
func counters(t *testing.T, path string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line) // FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT
		if len(fields) != 3 {
			continue
		}
		n, err := strconv.Atoi(fields[2])
		if err != nil {
			t.Fatal(err)
		}
		out[fields[0]] += n
	}
	return out
}
