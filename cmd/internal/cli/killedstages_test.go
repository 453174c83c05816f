package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// stagedChart has an object for every stage that a cluster without add-ons has.
var stagedChart = map[string]string{
	"Chart.yaml": "apiVersion: v2\nname: staged\nversion: 1.0.0\n",
	"templates/hooks.yaml": `
apiVersion: batch/v1
kind: Job
metadata: {name: before, annotations: {helm.sh/hook: "pre-install", helm.sh/hook-weight: "-1"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: registry.example.com/before}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: after, annotations: {helm.sh/hook: post-install}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: registry.example.com/after}]}}}
`,
	"templates/objects.yaml": `
apiVersion: v1
kind: Namespace
metadata: {name: {{ .Release.Name }}-more}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: op}
spec: {podSelector: {}, policyTypes: [Ingress]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: {{ .Release.Name }}}
value: 10
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: op}
---
apiVersion: v1
kind: Secret
metadata: {name: op}
stringData: {password: hunter2}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: op, namespace: {{ .Release.Name }}-more}
data: {mode: one}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: op}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.{{ .Release.Name }}.example.com}
spec:
  group: {{ .Release.Name }}.example.com
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: {{ .Release.Name }}}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: {{ .Release.Name }}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ .Release.Name }}}
subjects: [{kind: ServiceAccount, name: op, namespace: {{ .Release.Namespace }}}]
---
apiVersion: v1
kind: Service
metadata: {name: op}
spec: {selector: {app: op}, ports: [{port: 443}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: op}
spec:
  selector: {matchLabels: {app: op}}
  template:
    metadata: {labels: {app: op}}
    spec: {serviceAccountName: op, terminationGracePeriodSeconds: 0, containers: [{name: main, image: registry.example.com/op}]}
---
apiVersion: {{ .Release.Name }}.example.com/v1
kind: Thing
metadata: {name: first}
spec: {size: 1}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: op}
spec: {defaultBackend: {service: {name: op, port: {number: 443}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: {{ .Release.Name }}}
webhooks:
- name: things.{{ .Release.Name }}.example.com
  clientConfig: {service: {name: op, namespace: {{ .Release.Namespace }}, port: 443}}
  rules: [{apiGroups: [{{ .Release.Name }}.example.com], apiVersions: [v1], resources: [others], operations: [CREATE]}]
  failurePolicy: Ignore
  sideEffects: None
  admissionReviewVersions: [v1]
`,
}

// killedAt are the writes of an install and of a removal that the usual run kills at: in
// the middle, and around the last. A soak kills at each of them, before and after.
var killedAt = map[string][]int{"install": {21, 43}, "removal": {28}}

// TestClusterKilledInEveryStage ends the installation of a bundle with every stage, and
// its removal with definitions and namespaces, with kill -9 at their writes.
// Resumed, they are what uninterrupted ones make.
func TestClusterKilledInEveryStage(t *testing.T) {
	t.Parallel()
	k := &stageKills{t: t, box: sandboxtest.Start(t), schemas: k8s.NewSchemas()}
	k.group.SetLimit(killedAtOnce)
	if !slowtest.Soak() {
		k.group.Go(func() error { k.uninterrupted(); return nil })
		k.kill("after", sandboxtest.CutAnswer, killedAt)
	} else {
		k.uninterrupted()
		every := map[string][]int{"install": upTo(k.writes["install"]), "removal": upTo(k.writes["removal"])}
		k.kill("after", sandboxtest.CutAnswer, every)
		k.kill("before", sandboxtest.CutBefore, every)
	}
	_ = k.group.Wait() // each victim has its own findings
	for _, v := range k.victims {
		if want := k.ends[v.phase]; v.ended != want {
			v.find("it ended as\n%swant\n%s", v.ended, want)
		}
		for _, finding := range v.findings {
			t.Errorf("%s: %s", v.name, finding)
		}
	}
	t.Logf("writes: %v; killed %d times", k.writes, len(k.victims))
}

// stageKills are the victims of a test, and what an uninterrupted run of each
// phase took and made.
type stageKills struct {
	t       *testing.T
	box     *sandbox.Sandbox
	schemas *k8s.Schemas
	group   errgroup.Group
	victims []*stageVictim
	writes  map[string]int
	ends    map[string]string
}

// stageVictim is killed in one phase of its life.
type stageVictim struct {
	*victim
	phase string
	ended string
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

func (k *stageKills) uninterrupted() {
	v := stagedVictim(k.t, k.box, k.schemas, "st")
	k.writes, k.ends = map[string]int{}, map[string]string{}
	code, said := v.install()
	k.writes["install"], k.ends["install"] = v.writes, v.outcome()
	if code != 0 {
		k.t.Errorf("without a fault: exit %d\n%s", code, said)
	}
	code, said = v.struck(nil, v.removalBy())
	k.writes["removal"], k.ends["removal"] = v.writes, v.rest()
	if code != 0 {
		k.t.Errorf("the removal without a fault: exit %d\n%s", code, said)
	}
}

// kill kills its own victim at each of some writes of each phase.
func (k *stageKills) kill(name string, cut sandboxtest.CutPoint, writes map[string][]int) {
	for phase, list := range writes {
		for _, at := range list {
			v := &stageVictim{victim: stagedVictim(k.t, k.box, k.schemas, fmt.Sprintf("st%c%c%d", phase[0], name[0], at)), phase: phase}
			k.victims = append(k.victims, v)
			k.group.Go(func() error {
				if phase == "install" {
					v.killAndResume(at, cut)
					v.ended = v.outcome()
					return nil
				}
				v.killRemoval(at, cut)
				v.ended = v.rest()
				return nil
			})
		}
	}
}

func stagedVictim(t *testing.T, box *sandbox.Sandbox, schemas *k8s.Schemas, name string) *victim {
	t.Helper()
	v := emptyVictim(t, box, schemas, name)
	for path, text := range stagedChart {
		to := filepath.Join(v.bundle, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func (v *victim) receipt() string { return filepath.Join(v.dir, "removed.json") }

// removalBy reviews the removal, and returns the command that approves it.
func (v *victim) removalBy() []string {
	args := []string{"uninstall", v.name, "-n", v.name, "--include-crds", "--include-namespaces"}
	out, err := v.program(v.box.Kubeconfig(), append(args, "--preview", "-o", "json")...).Output()
	var plan struct{ Digest string }
	if err := errors.Join(err, json.Unmarshal(out, &plan)); err != nil {
		v.find("reviewing the removal: %v", err)
	}
	return append(args, "--receipt", v.receipt(), "--yes", "--approve", plan.Digest, "--ruleset", strconv.Itoa(preview.Ruleset))
}

// killRemoval installs, and kills the removal at a write. The same command goes
// on with it.
func (v *victim) killRemoval(at int, cut sandboxtest.CutPoint) {
	if code, said := v.install(); code != 0 {
		v.find("the install: exit %d\n%s", code, said)
		return
	}
	args := v.removalBy()
	strike, killed := v.killing(at, cut)
	if code, said := v.struck(strike, args); !killed(code, said) {
		return
	}
	if code, said := v.run(v.program(v.kubeconfig(), args...)); code != 0 {
		v.find("killed at write %d and resumed: exit %d\n%s", at, code, said)
	}
}

// rest says what a removal left in the cluster, and what its receipt tells.
func (v *victim) rest() string {
	var lines []string
	for _, ref := range []preview.Ref{
		{APIVersion: "v1", Kind: "Namespace", Name: v.name},
		{APIVersion: "v1", Kind: "Namespace", Name: v.name + "-more"},
		{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: v.name},
		{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding", Name: v.name},
		{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass", Name: v.name},
		{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "things." + v.name + ".example.com"},
		{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration", Name: v.name},
	} {
		live, err := v.client.Get(v.t.Context(), ref)
		lines = append(lines, fmt.Sprintf("%s is there: %t %v", ref.ID(), live != nil, err))
	}
	data, err := os.ReadFile(v.receipt())
	receipt := record.Receipt{}
	if err := errors.Join(err, json.Unmarshal(data, &receipt)); err != nil {
		v.find("the receipt: %v", err)
	}
	for _, o := range receipt.Objects {
		lines = append(lines, fmt.Sprintf("receipt: %s %s %s", o.ID, o.Action, o.State))
	}
	lines = append(lines, fmt.Sprintf("revision %d %s", receipt.Revision, receipt.State))
	return strings.ReplaceAll(strings.Join(lines, "\n")+"\n", v.name, "RELEASE")
}
