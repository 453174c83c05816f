package engine_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
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
  sideEffects: None
  admissionReviewVersions: [v1]
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

// TestSlowManyObjectsInACluster plans many objects of each kind by recorded reads, and
// writes the plan in each form. [TestSlowVisitsAreLinear] runs it in two sizes.
func TestSlowManyObjectsInACluster(t *testing.T) {
	slowtest.Skip(t, "plans that are compared in two sizes")
	n, err := strconv.Atoi(cmp.Or(os.Getenv(objectsVariable), "1"))
	if err != nil {
		t.Fatal(err)
	}
	planInCluster(t, n, manyWriter)
	plan := planInCluster(t, n, "")
	for _, form := range report.Forms() {
		if form.Scope == report.OfRequest { // by the options of a request, and not the plan alone
			continue
		}
		if err := report.Write(io.Discard, plan, report.Options{Format: form.Name}); err != nil {
			t.Errorf("%s: %v", form.Name, err)
		}
	}
}

// TestSlowVisitsAreLinear counts how often each statement of the engine, its checks and
// what they call is run for plans of two sizes. A step that looks at all objects for
// each of them is named with its line, on any machine, however fast it is.
func TestSlowVisitsAreLinear(t *testing.T) {
	slowtest.Skip(t, "builds of the engine with counters")
	program := countingEngine(t)
	t.Run("of plans without a cluster", func(t *testing.T) { visitsOfObjects(t, program) })
	t.Run("of plans that rest on reads, and of their reports", func(t *testing.T) { visitsOfReads(t, program) })
}

// countingEngine builds the tests of this package with counters in all that is [counted],
// and returns the path of the program.
func countingEngine(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "engine.test")
	goCommand(t, "test", "-c", "-ldflags=-s -w", "-covermode=count", "-coverpkg="+counted, "-o", program, ".")
	return program
}

func visitsOfObjects(t *testing.T, program string) {
	t.Helper()
	const few, times = 150, 4
	one, each := visitsOf(t, program, "TestSlowManyObjects", few), visitsOf(t, program, "TestSlowManyObjects", few*times)
	run := 0
	for block, n := range each {
		if n >= few*times {
			run++
		}
		// Sorting costs a logarithm more; a loop over all objects for each costs many times more.
		if n > 50*few*times && n > 2*times*one[block] {
			t.Errorf("%s is run %d times for %d objects of each kind, %d times for %d", block, one[block], few, n, few*times)
		}
	}
	t.Logf("%d blocks of statements are run at least once for each object", run)
	if run < 100 {
		t.Errorf("%d blocks are run for each object: they are not counted", run)
	}
}

// visitsOf returns how often a test of a program with counters runs each block of
// statements for n objects.
func visitsOf(t *testing.T, program, test string, n int) map[string]int {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "visits")
	cmd := exec.CommandContext(t.Context(), program, "-test.run", "^"+test+"$", "-test.coverprofile", profile)
	cmd.Env = append(os.Environ(), fmt.Sprint(objectsVariable, "=", n))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return counters(t, profile)
}

// knownVisits are statements that are run for pairs of objects, by file and a reason.
var knownVisits = map[string]string{
	"preview/risk/roles.go":      "how many roles are compared with what collects them has a bound, see around.left",
	"preview/risk/outage.go":     "each webhook is compared with the pods that its own Service selects",
	"preview/engine/recorder.go": "each of many engines of Flyte lists what is bound in its projects; an application has one",
	"preview/object.go":          "the same: ids of what an engine of Flyte lists",
}

// visitsOfReads is [visitsOfObjects] for a plan that rests on what a cluster answered, with
// each check of the engine, and for the reports of it.
func visitsOfReads(t *testing.T, program string) {
	t.Helper()
	const few, times, test = 30, 4, "TestSlowManyObjectsInACluster"
	one, each := visitsOf(t, program, test, few), visitsOf(t, program, test, few*times)
	for block, n := range each {
		file, _, _ := strings.Cut(strings.TrimPrefix(block, "github.com/kubectl-operator/kubectl-operator/"), ":")
		// In few objects sorting costs more than twice what it does later.
		if n > 50*few*times && 2*n > 5*times*one[block] && knownVisits[file] == "" {
			t.Errorf("%s is run %d times for %d objects of each kind, %d times for %d", block, one[block], few, n, few*times)
		}
	}
	for _, of := range engine.Checks() {
		for method, visited := range methodsVisited(t, each, of) {
			if !visited && slices.Contains([]string{"read", "findings", "staleReads"}, method) {
				t.Errorf("check %s: %s is not run, so that its visits are not counted; give manyKinds or the recorded cluster what it looks at", of, method)
			}
		}
	}
}

// methodsVisited reports of each method of a type whether a statement of it was run.
func methodsVisited(t *testing.T, visits map[string]int, typ string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || len(f.Recv.List) != 1 {
				continue
			}
			if receiver, ok := f.Recv.List[0].Type.(*ast.Ident); !ok || receiver.Name != typ {
				continue
			}
			first, last := set.Position(f.Pos()).Line, set.Position(f.End()).Line
			out[f.Name.Name] = out[f.Name.Name] || visitedBetween(visits, name, first, last)
		}
	}
	if len(out) == 0 {
		t.Errorf("type %s has no methods", typ)
	}
	return out
}

func visitedBetween(visits map[string]int, file string, first, last int) bool {
	for block, n := range visits {
		path, lines, _ := strings.Cut(block, ":")
		line, _, _ := strings.Cut(lines, ".")
		if at, err := strconv.Atoi(line); err == nil && n > 0 && filepath.Base(path) == file && filepath.Base(filepath.Dir(path)) == "engine" && first <= at && at <= last {
			return true
		}
	}
	return false
}

// counted lists the packages whose statements are counted.
const counted = "./,../,../access,../admission,../cloud,../diff,../escalation,../fields,../flyte,../installer,../owners,../report,../risk/...,../rollback,../schema,../verdict"

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
