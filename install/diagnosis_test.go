package install_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// jumpClock is the machine's, until an hour passes at once.
type jumpClock struct {
	mu     sync.Mutex
	ahead  time.Duration
	jumped chan struct{}
}

func newJumpClock() *jumpClock { return &jumpClock{jumped: make(chan struct{})} }

func (c *jumpClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *jumpClock) After(d time.Duration) <-chan time.Time {
	fired := make(chan time.Time, 1)
	c.mu.Lock()
	jumped := c.jumped
	c.mu.Unlock()
	go func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-jumped:
		}
		fired <- c.Now()
	}()
	return fired
}

// jump lets an hour pass: everything that waits for less has waited enough.
func (c *jumpClock) jump() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += time.Hour
	close(c.jumped)
	c.jumped = make(chan struct{})
}

// faultyDeployment has one pod that fails on demand. $$NS is the namespace.
func faultyDeployment(annotations, podSpec string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  progressDeadlineSeconds: 3000
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {%s}}
    spec: {%s}
`, annotations, podSpec)
}

const container = `containers: [{name: main, image: "registry.example/main:1"}]`

func fault(name string) string {
	return faultyDeployment("kubectl-operator/sandbox-fault: "+name, container)
}

const webDeployment = "apps/Deployment/$NS/web"

// failingRollout is a way that a rollout fails, and how it must be told.
type failingRollout struct {
	name     string
	before   func(t *testing.T, w *world) // prepares the namespace
	manifest string
	object   string // the object of the plan that is not ready
	cause    rollout.Cause
	offender string // id, a prefix for pods
	evidence []string
	kind     install.Kind // the exit code
	// settled are calls of kubectl that wait until the cause stays, where what is
	// waited for can still change its mind.
	settled [][]string
	// event is the reason of an Event that is awaited too: it comes by itself, sometimes
	// after the state that it is about.
	event string
}

// failingRollouts are made by what makes them in a cluster: the kubelet's part
// is played by the sandbox's failing stages, the rest is real.
var failingRollouts = []failingRollout{
	{name: "an image the registry does not have", manifest: fault("image-pull"), cause: rollout.ImageNotFound,
		offender: "core/Pod/$NS/web-", evidence: []string{`image not found: pod web-`, `"registry.example/main:1": not found`}, kind: install.Failed},
	{name: "an image that needs a login", manifest: fault("image-unauthorized"), cause: rollout.ImageUnauthorized,
		offender: "core/Pod/$NS/web-", evidence: []string{"401 Unauthorized"}, kind: install.Failed},
	{name: "a container that crashes", manifest: fault("crash-loop"), cause: rollout.Crash,
		offender: "core/Pod/$NS/web-", evidence: []string{"container main: exit code 1", "cannot reach the database\ngiving up"}, kind: install.Interrupted},
	{name: "a container that needs more memory", manifest: fault("out-of-memory"), cause: rollout.OutOfMemory,
		offender: "core/Pod/$NS/web-", evidence: []string{"exit code 137 (OOMKilled)", "loading everything into memory"}, kind: install.Interrupted},
	{name: "a program that is not in the image", manifest: fault("start-error"), cause: rollout.CannotStart,
		offender: "core/Pod/$NS/web-", evidence: []string{"exit code 128 (StartError)", "no such file"}, kind: install.Failed},
	{name: "a probe that fails", manifest: fault("probe"), cause: rollout.Probe,
		offender: "core/Pod/$NS/web-", evidence: []string{"Readiness probe failed: HTTP probe failed with statuscode: 503", "waiting for the leader"}, kind: install.Interrupted},
	{name: "a Secret that is missing", manifest: fault("config-error"), cause: rollout.MissingReference,
		offender: "core/Pod/$NS/web-", evidence: []string{`secret "missing" not found`}, kind: install.Interrupted},
	{name: "a node selector that no node has", manifest: faultyDeployment("", `nodeSelector: {moon: "true"}, `+container), cause: rollout.Unschedulable,
		offender: "core/Pod/$NS/web-", evidence: []string{"no node takes the pod: pod web-", "didn't match Pod's node affinity/selector"}, kind: install.Interrupted},
	{name: "more CPU than a node has", manifest: faultyDeployment("", `containers: [{name: main, image: "registry.example/main:1", resources: {requests: {cpu: 5000000}}}]`),
		cause: rollout.Unschedulable, offender: "core/Pod/$NS/web-", evidence: []string{"Insufficient cpu"}, kind: install.Interrupted},
	{name: "a quota that has no room at all", manifest: fault("none"), cause: rollout.Quota,
		before:   setUp("exceeded quota", "{apiVersion: v1, kind: ResourceQuota, metadata: {name: none, namespace: $NS}, spec: {hard: {pods: '0'}}}"),
		offender: webDeployment, evidence: []string{"exceeded quota: none, requested: pods=1"}, kind: install.Failed},
	{name: "a quota that somebody else fills", manifest: fault("none"), cause: rollout.Quota,
		before:   fullQuota,
		offender: webDeployment, evidence: []string{"used: pods=1, limited: pods=1"}, kind: install.Interrupted},
	{name: "a LimitRange", cause: rollout.LimitRange,
		manifest: faultyDeployment("", `containers: [{name: main, image: "registry.example/main:1", resources: {limits: {cpu: "1"}}}]`),
		before:   setUp("maximum cpu usage", "{apiVersion: v1, kind: LimitRange, metadata: {name: small, namespace: $NS}, spec: {limits: [{type: Container, max: {cpu: 100m}}]}}"),
		offender: webDeployment, evidence: []string{"maximum cpu usage per Container is 100m"}, kind: install.Failed},
	{name: "Pod Security", manifest: fault("none"), cause: rollout.PodSecurity,
		before: func(t *testing.T, w *world) {
			w.edit(t, "label", "namespace", w.release.Namespace, "pod-security.kubernetes.io/enforce=restricted")
			setUp("violates PodSecurity")(t, w)
		},
		offender: webDeployment, evidence: []string{`violates PodSecurity "restricted:latest"`}, kind: install.Failed},
	{name: "an admission policy", manifest: fault("none"), cause: rollout.PolicyDenied, before: denyPods,
		offender: webDeployment, evidence: []string{"denied request: no pods today"}, kind: install.Failed},
	{name: "a webhook that denies", manifest: fault("none"), cause: rollout.WebhookDenied, before: denyingWebhook,
		offender: webDeployment, evidence: []string{`admission webhook "pods.$NS.example.com" denied the request: not on a Sunday`}, kind: install.Failed},
	{name: "a webhook nobody answers for", manifest: fault("none"), cause: rollout.WebhookUnreachable, before: closedWebhook,
		offender: webDeployment, evidence: []string{`failed calling webhook "pods.$NS.example.com"`, "connection refused"}, kind: install.Interrupted},
	{name: "rights that the program misses", cause: rollout.Forbidden, // the manifest is forbiddenLog's
		offender: "core/Pod/$NS/web-", evidence: []string{`cannot list resource "secrets" in API group "" at the cluster scope`}, kind: install.Interrupted},
	{name: "a definition whose names are taken", cause: rollout.NotEstablished,
		before: setUp("", thingDefinition("others")), manifest: thingDefinition("things"), object: "apiextensions.k8s.io/CustomResourceDefinition/-/things.$NS.example.com",
		offender: "apiextensions.k8s.io/CustomResourceDefinition/-/things.$NS.example.com", evidence: []string{"CRD not established", "is already in use"}, kind: install.Failed},
	{name: "a certificate whose issuer does not exist", cause: rollout.NotIssued, object: "cert-manager.io/Certificate/$NS/web",
		manifest: "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: web}, spec: {secretName: web, dnsNames: [web], issuerRef: {name: missing}}}",
		offender: "cert-manager.io/Certificate/$NS/web", evidence: []string{"certificate not issued", "missing"}, kind: install.Interrupted},
	{name: "a claim of a class that does not exist", cause: rollout.VolumePending,
		manifest: faultyDeployment("", container+", volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]") +
			"---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: missing, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n",
		offender: "core/PersistentVolumeClaim/$NS/data", evidence: []string{`storageclass.storage.k8s.io "missing" not found`}, kind: install.Failed},
	{name: "a Deployment over its own deadline", cause: rollout.Deadline,
		manifest: strings.Replace(fault("pending"), "progressDeadlineSeconds: 3000", "progressDeadlineSeconds: 5", 1),
		offender: webDeployment, evidence: []string{"deadline exceeded", "Failed to create pod sandbox"}, kind: install.Failed,
		// A pod that is counted late is progress; its Event has to be there before the deadline is over.
		settled: [][]string{
			{"wait", "deployment/web", "--for=jsonpath={.status.updatedReplicas}=1", "--timeout=2m"},
			{"wait", "deployment/web", "--for=condition=Progressing=False", "--timeout=2m"},
		}, event: "FailedCreatePodSandBox"},
	{name: "a Job that fails", cause: rollout.Crash, object: "batch/Job/$NS/once",
		manifest: "{apiVersion: batch/v1, kind: Job, metadata: {name: once}, spec: {backoffLimit: 0, template: {metadata: {annotations: {kubectl-operator/sandbox-fault: exit}}, spec: {restartPolicy: Never, containers: [{name: main, image: a}]}}}}",
		offender: "core/Pod/$NS/once-", evidence: []string{"exit code 3", "nothing to do here"}, kind: install.Failed},
}

func TestClusterFailingRolloutsNameTheirCause(t *testing.T) {
	sandboxtest.CertManager(t, sandboxtest.Start(t))
	for i, test := range failingRollouts {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fmt.Sprintf("cause-%d", i))
			admin := connect(t, w.sandbox.Kubeconfig())
			w.make(t, admin, "{apiVersion: v1, kind: Namespace, metadata: {name: $NS}}")
			if test.before != nil {
				test.before(t, w)
			}
			manifest := test.manifest
			if test.cause == rollout.Forbidden {
				manifest = w.forbiddenLog(t)
			}
			test.run(t, w, w.here(manifest))
		})
	}
}

// run applies until the cause is told, lets an hour pass, and looks at the end.
func (f failingRollout) run(t *testing.T, w *world, manifest string) {
	object := f.object
	if object == "" {
		object = webDeployment
	}
	object = w.here(object)
	plan := w.plan(t, w.content(t, "1.0.0", manifest))
	clock := newJumpClock()
	opts := w.options(t)
	opts.Clock, opts.RolloutTimeout, opts.StageTimeout = clock, 10*time.Minute, 10*time.Minute
	log := opts.Sink
	var last install.Event
	var printed strings.Builder
	var logs []string
	opts.Sink = func(e install.Event) {
		log(e)
		switch {
		case e.Type == install.EventResult:
			last = e
		case e.Object == object && e.Type == install.EventLog:
			logs = append(logs, e.Message)
		case e.Object == object && e.Type == install.EventObject:
			fmt.Fprintln(&printed, e.Message)
			if e.Cause == f.cause {
				for _, args := range f.settled {
					w.edit(t, append(args, "-n", w.release.Namespace)...)
				}
				w.awaitEvent(t, f.event)
				clock.jump()
			}
		}
	}
	receipt, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	if install.KindOf(err) != f.kind {
		t.Errorf("exit code %d, want %d: %v", install.KindOf(err), f.kind, err)
	}
	if last.Cause != f.cause || last.Object != object {
		t.Errorf("the result says %q of %s, want %q of %s", last.Cause, last.Object, f.cause, object)
	}
	printed.WriteString(strings.Join(logs, "\n"))
	for _, evidence := range f.evidence {
		if !strings.Contains(printed.String(), w.here(evidence)) {
			t.Errorf("the evidence %q is not printed:\n%s", w.here(evidence), printed.String())
		}
	}
	for _, entry := range receipt.Objects {
		if entry.ID == object && (entry.Cause != f.cause || !strings.HasPrefix(entry.Offender, w.here(f.offender))) {
			t.Errorf("the receipt says %q of %s, want %q of %s", entry.Cause, entry.Offender, f.cause, w.here(f.offender))
		}
	}
}

// awaitEvent returns when an Event of the reason is in the release's namespace.
func (w *world) awaitEvent(t *testing.T, reason string) {
	t.Helper()
	if reason == "" {
		return
	}
	until(t, "an Event "+reason, func() bool {
		events, err := w.List(t.Context(), "v1", "Event", w.release.Namespace, "")
		return err == nil && slices.ContainsFunc(events, func(e map[string]any) bool { return preview.String(e, "reason") == reason })
	})
}

// here puts the world's namespace into a text.
func (w *world) here(text string) string { return strings.ReplaceAll(text, "$NS", w.release.Namespace) }

// make applies an object of another user's.
func (w *world) make(t *testing.T, c *k8s.Client, text string) {
	t.Helper()
	if _, err := c.Apply(t.Context(), preview.DryRun{Body: body(t, w.here(text))}); err != nil {
		t.Fatal(err)
	}
}

// setUp makes objects of another user's, and waits until pods of the namespace are
// refused with a text, if any.
func setUp(refused string, objects ...string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		admin := connect(t, w.sandbox.Kubeconfig())
		for _, text := range objects {
			w.make(t, admin, text)
		}
		if refused != "" {
			w.awaitRefusal(t, admin, refused)
		}
	}
}

// awaitRefusal waits until admission knows what it was given: it learns of it
// by a watch.
func (w *world) awaitRefusal(t *testing.T, c *k8s.Client, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	pod := body(t, w.here("{apiVersion: v1, kind: Pod, metadata: {name: probe, namespace: $NS}, spec: {containers: [{name: a, image: a, resources: {limits: {cpu: 1}}}]}}"))
	for {
		result := c.DryRun(ctx, []preview.DryRun{{Body: pod}})[0]
		if result.Err != nil && strings.Contains(result.Err.Error(), text) {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("pods are not refused with %q: %v", text, result.Err)
		}
	}
}

// thingDefinition has its own kind group, the same whatever its name.
func thingDefinition(plural string) string {
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ` + plural + `.$NS.example.com}, spec: {group: $NS.example.com,
  scope: Namespaced, names: {kind: Thing, plural: ` + plural + `}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`
}

// denyingWebhook is a server on a loopback address that admits no pods.
func denyingWebhook(t *testing.T, w *world) {
	hook := sandboxtest.NewWebhook(t, func(sandboxtest.Admission) sandboxtest.Verdict {
		return sandboxtest.Verdict{Deny: "not on a Sunday"}
	})
	w.register(t, hook, "not on a Sunday")
}

// closedWebhook is one at a port that no one listens on.
func closedWebhook(t *testing.T, w *world) {
	hook := sandboxtest.NewWebhook(t, sandboxtest.Allow)
	hook.Close()
	w.register(t, hook, "connection refused")
}

// register makes the API server ask a webhook about pods of the namespace.
func (w *world) register(t *testing.T, hook *sandboxtest.Webhook, refused string) {
	admin := connect(t, w.sandbox.Kubeconfig())
	registration := hook.Registration("ValidatingWebhookConfiguration", "pods."+w.release.Namespace, w.release.Namespace, "pods")
	if _, err := admin.Apply(t.Context(), preview.DryRun{Body: registration}); err != nil {
		t.Fatal(err)
	}
	w.awaitRefusal(t, admin, refused)
}

// denyPods is a ValidatingAdmissionPolicy.
func denyPods(t *testing.T, w *world) {
	setUp("no pods today", `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: $NS}, spec: {
  matchConstraints: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}, resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]},
  validations: [{expression: "false", message: no pods today}]}}`,
		`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: $NS}, spec: {policyName: $NS, validationActions: [Deny]}}`)(t, w)
}

// fullQuota is a quota of one pod, which another user has.
func fullQuota(t *testing.T, w *world) {
	setUp("", "{apiVersion: v1, kind: Pod, metadata: {name: other, namespace: $NS}, spec: {containers: [{name: a, image: a}]}}")(t, w)
	setUp("exceeded quota", "{apiVersion: v1, kind: ResourceQuota, metadata: {name: one, namespace: $NS}, spec: {hard: {pods: '1'}}}")(t, w)
}

// forbiddenLog is a program that prints what the API server answers to its own
// account, and crashes.
func (w *world) forbiddenLog(t *testing.T) string {
	account := connect(t, sandboxtest.User(t, w.sandbox, "system:serviceaccount:"+w.release.Namespace+":default"))
	_, err := account.List(t.Context(), "v1", "Secret", "", "")
	if preview.ReasonOf(err) != preview.ReasonForbidden {
		t.Fatalf("listing secrets: %v, want it to be forbidden", err)
	}
	log, jsonErr := json.Marshal("starting\nE1122 reflector.go:150] failed to list: " + err.Error())
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	return faultyDeployment("kubectl-operator/sandbox-fault: crash-loop, kubectl-operator/sandbox-log: "+string(log), container)
}
