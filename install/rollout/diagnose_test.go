package rollout

import (
	"context"
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// nothing is an inspector that finds nothing.
type nothing struct{}

func (nothing) List(context.Context, string, string, string, string, ...string) ([]map[string]any, error) {
	return nil, nil
}
func (nothing) Events(context.Context, string, string) ([]map[string]any, error) { return nil, nil }
func (nothing) Logs(context.Context, string, string, string, int, bool) ([]string, error) {
	return nil, nil
}
func (nothing) Endpoints(context.Context, string, string) (int, error) { return 0, nil }

func TestRefusalCause(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       Cause
		final      bool
	}{
		{"a quota that others fill", `pods "a" is forbidden: exceeded quota: q, requested: cpu=1,pods=1, used: cpu=2,pods=3, limited: cpu=2500m,pods=9`, Quota, false},
		{"a quota that is too small in itself", `pods "a" is forbidden: exceeded quota: q, requested: cpu=3,pods=1, used: cpu=0,pods=0, limited: cpu=2500m,pods=9`, Quota, true},
		{"a quota that wants a field", `pods "a" is forbidden: failed quota: q: must specify limits.cpu for: main`, Quota, true},
		{"a LimitRange's maximum", `pods "a" is forbidden: maximum cpu usage per Container is 100m, but limit is 1`, LimitRange, true},
		{"a LimitRange's ratio", `pods "a" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 10.0`, LimitRange, true},
		{"Pod Security", `pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`, PodSecurity, true},
		{"a webhook that denies", `admission webhook "deny.example.com" denied the request: no`, WebhookDenied, true},
		{"a webhook that denies in the words of a quota", `admission webhook "deny.example.com" denied the request: exceeded quota: none`, WebhookDenied, true},
		{"a webhook nobody answers for", `Internal error occurred: failed calling webhook "a.example.com": failed to call webhook: Post "https://127.0.0.1:1/": connect: connection refused`, WebhookUnreachable, false},
		{"a policy", `pods "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`, PolicyDenied, true},
		{"an account that is missing", `pods "a" is forbidden: error looking up service account a/sa: serviceaccount "sa" not found`, MissingReference, false},
		{"an account that may not", `pods is forbidden: User "system:serviceaccount:a:b" cannot list resource "pods" in API group "" in the namespace "a"`, Forbidden, false},
		{"words of nobody", "it did not work", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, final := RefusalCause(test.text); got != test.want || final != test.final {
				t.Errorf("got %q (final: %v), want %q (%v)", got, final, test.want, test.final)
			}
		})
	}
}

func FuzzRefusalCause(f *testing.F) {
	f.Add(`exceeded quota: q, requested: cpu=1e999,pods==, used: , limited: cpu=-1`)
	f.Add(`0/1 nodes are available: , , 12. preemption: `)
	f.Fuzz(func(t *testing.T, text string) {
		if cause, _ := RefusalCause(text); cause != "" && cause.Words() == "" {
			t.Errorf("an unknown cause %q for %q", cause, text)
		}
		predicates(text)
		imageCause("ErrImagePull", text)
		forbiddenLine([]string{text}, "a")
	})
}

func TestPredicates(t *testing.T) {
	for _, test := range []struct{ name, message, want string }{
		{"one", "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.", "Insufficient cpu"},
		{"several", "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) had untolerated taint {a: b}. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.", "node(s) didn't match Pod's node affinity/selector, node(s) had untolerated taint {a: b}"},
		{"another scheduler's own words", "waiting for a GPU", "waiting for a GPU"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := predicates(test.message); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// one is an inspector with one pod, and events and logs of any object.
type one struct {
	pod    map[string]any
	claims []map[string]any
	events map[string][]map[string]any // by uid
	logs   []string
	err    error
}

func (o one) List(_ context.Context, _, kind, _, _ string, _ ...string) ([]map[string]any, error) {
	switch {
	case o.err != nil:
		return nil, o.err
	case kind == "PersistentVolumeClaim":
		return o.claims, nil
	case o.pod == nil:
		return nil, nil
	}
	return []map[string]any{o.pod}, nil
}
func (o one) Events(_ context.Context, _, uid string) ([]map[string]any, error) {
	return o.events[uid], o.err
}
func (o one) Logs(context.Context, string, string, string, int, bool) ([]string, error) {
	return slices.Clone(o.logs), o.err
}
func (o one) Endpoints(context.Context, string, string) (int, error) { return 0, o.err }

const podHead = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a, uid: p1}\nspec: {serviceAccountName: sa, volumes: [{persistentVolumeClaim: {claimName: data}}]}\n"

func TestDiagnose(t *testing.T) {
	warning := func(reason, message string) map[string]any {
		return map[string]any{"type": "Warning", "reason": reason, "message": message}
	}
	deployment := parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: a, uid: d1}, spec: {selector: {matchLabels: {a: b}}}}")
	for _, test := range []struct {
		name     string
		pod      string
		events   map[string][]map[string]any
		claims   string
		logs     []string
		body     string // instead of a Deployment
		want     Cause
		final    bool
		offender string
	}{
		{name: "an image that an older kubelet names only in an event", want: ImageNotFound, final: true, offender: "core/Pod/a/p",
			pod:    "{containerStatuses: [{name: c, state: {waiting: {reason: ImagePullBackOff, message: Back-off pulling image x}}}]}",
			events: map[string][]map[string]any{"p1": {warning("Failed", `Failed to pull image "x": manifest unknown`)}}},
		{name: "a registry that does not answer", want: ImagePull, offender: "core/Pod/a/p",
			pod: "{containerStatuses: [{name: c, state: {waiting: {reason: ErrImagePull, message: 'dial tcp: i/o timeout'}}}]}"},
		{name: "a name that is none", want: ImageInvalid, final: true, offender: "core/Pod/a/p",
			pod: "{containerStatuses: [{name: c, state: {waiting: {reason: InvalidImageName, message: bad}}}]}"},
		{name: "a crash with a log of its own account's rights", want: Forbidden, offender: "core/Pod/a/p",
			pod:  "{containerStatuses: [{name: c, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}}]}",
			logs: []string{"E1122 main.go:1] failed", `things.example.com is forbidden: User "system:serviceaccount:a:sa" cannot list resource "things" in API group "example.com"`}},
		{name: "a crash with a log about somebody else's rights", want: Crash, offender: "core/Pod/a/p",
			pod:  "{containerStatuses: [{name: c, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}}]}",
			logs: []string{`things.example.com is forbidden: User "system:serviceaccount:b:other" cannot list resource "things" in API group "example.com"`}},
		{name: "a program that is not in the image", want: CannotStart, final: true, offender: "core/Pod/a/p",
			pod: "{containerStatuses: [{name: c, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 128, reason: StartError}}}]}"},
		{name: "a container that its liveness probe ends", want: Probe, offender: "core/Pod/a/p",
			pod:    "{containerStatuses: [{name: c, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 137}}}]}",
			events: map[string][]map[string]any{"p1": {warning("BackOff", "Back-off"), warning("Unhealthy", "Liveness probe failed: x")}}},
		{name: "a container that needs time", want: "", offender: "core/Pod/a/p",
			pod: "{containerStatuses: [{name: c, ready: false, state: {running: {}}}]}"},
		{name: "a volume of a class that is missing", want: VolumePending, final: true, offender: "core/PersistentVolumeClaim/a/data",
			pod:    "{conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found'}]}",
			claims: "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: a, uid: c1}, status: {phase: Pending}}",
			events: map[string][]map[string]any{"c1": {warning("ProvisioningFailed", `storageclass.storage.k8s.io "fast" not found`)}}},
		{name: "a Secret to mount that is missing", want: MissingReference, offender: "apps/Deployment/a/web",
			pod:    "{phase: Pending, containerStatuses: [{name: c, state: {waiting: {reason: ContainerCreating}}}]}",
			events: map[string][]map[string]any{"p1": {warning("FailedMount", `MountVolume.SetUp failed for volume "tls" : secret "tls" not found`)}}},
		{name: "a set whose pods are refused", want: PodSecurity, final: true, offender: "apps/StatefulSet/a/s",
			body:   "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s, namespace: a, uid: s1}, spec: {selector: {matchLabels: {a: b}}}}",
			events: map[string][]map[string]any{"s1": {warning("FailedCreate", `create Pod s-0 failed: pods "s-0" is forbidden: violates PodSecurity "restricted:latest": x`)}}},
		{name: "a Deployment over its deadline", want: Deadline, offender: "apps/Deployment/a/d",
			body: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: a}, status: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}}"},
		{name: "a Job that failed", want: Reported, offender: "batch/Job/a/j",
			body: "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: a}, status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded}]}}"},
		{name: "a Job over its deadline", want: Deadline, offender: "batch/Job/a/j",
			body: "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: a}, status: {conditions: [{type: Failed, status: 'True', reason: DeadlineExceeded}]}}"},
		{name: "a certificate whose issuance failed", want: NotIssued, final: true, offender: "cert-manager.io/Certificate/a/c",
			body: "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: c, namespace: a}, status: {conditions: [{type: Ready, status: 'False', message: no secret}, {type: Issuing, status: 'False', reason: Failed, message: denied by the CA}]}}"},
		{name: "a certificate that waits for its issuer", want: NotIssued, offender: "cert-manager.io/Certificate/a/c",
			body: "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: c, namespace: a}, status: {conditions: [{type: Ready, status: 'False', message: no secret}]}}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := one{events: test.events, logs: test.logs}
			if test.pod != "" {
				in.pod = parse(t, podHead+"status: "+test.pod)
			}
			if test.claims != "" {
				in.claims = []map[string]any{parse(t, test.claims)}
			}
			body := deployment
			if test.body != "" {
				body = parse(t, test.body)
			}
			l := &podReader{in: in, blind: map[string]bool{}}
			d := l.diagnose(t.Context(), body)
			if d.cause != test.want || d.final != test.final || d.offender.ID() != test.offender {
				t.Errorf("got %q (final: %v) of %s, want %q (%v) of %s\n%s", d.cause, d.final, d.offender.ID(), test.want, test.final, test.offender, d.message)
			}
		})
	}
}

func TestWhatMayNotBeReadIsSaid(t *testing.T) {
	l := &podReader{in: one{err: &preview.Refusal{Reason: preview.ReasonForbidden}}, blind: map[string]bool{}}
	d := l.diagnose(t.Context(), parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: a, uid: d1}, spec: {selector: {matchLabels: {a: b}}}}"))
	if d.cause != "" || !l.blind["list pods in namespace a"] || !l.blind["list events in namespace a"] {
		t.Errorf("got %+v, blind to %v", d, l.blind)
	}
}
