package rollout

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("decoding the test's own object: %d documents, %v", len(docs), err)
	}
	return docs[0].(map[string]any)
}

const deploymentHead = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: a, generation: 2}\nspec: {replicas: 1, progressDeadlineSeconds: 600}\n"

func TestAssess(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       State
		message    string
	}{
		{"a ConfigMap is ready once it exists", "{apiVersion: v1, kind: ConfigMap}", Ready, ""},
		{"an object on its way out", `{apiVersion: v1, kind: ConfigMap, metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}}`, Removing, "deleted"},
		{"a Deployment that no controller has seen", deploymentHead + "status: {observedGeneration: 1}", Waiting, "generation"},
		{"a Deployment without pods says why", deploymentHead + `status: {observedGeneration: 2, conditions: [{type: ReplicaFailure, status: "True", message: "exceeded quota: pods"}]}`, Waiting, "no pods: exceeded quota: pods"},
		{"a Deployment over its deadline", deploymentHead + `status: {observedGeneration: 2, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}, {type: ReplicaFailure, status: "True"}]}`, Failed, "deadline"},
		{"a Deployment that is available", deploymentHead + `status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]}`, Ready, ""},
		{"a Job that runs is not ready", `{apiVersion: batch/v1, kind: Job, status: {startTime: "2026-01-02T03:04:05Z", active: 1}}`, Waiting, "running: 1 active, 0 succeeded, 0 failed"},
		{"a Job that completed", `{apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Complete, status: "True"}]}}`, Ready, ""},
		{"a Job that failed", `{apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Failed, status: "True", message: "BackoffLimitExceeded"}]}}`, Failed, ""},
		{"a Job meant not to run", `{apiVersion: batch/v1, kind: Job, spec: {suspend: true}, status: {conditions: [{type: Suspended, status: "True"}]}}`, Ready, ""},
		{"an APIService without backend", `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, status: {conditions: [{type: Available, status: "False", message: "no endpoints"}]}}`, Waiting, "no endpoints"},
		{"an APIService that no controller has seen", `{apiVersion: apiregistration.k8s.io/v1, kind: APIService}`, Waiting, "Available"},
		{"an APIService that answers", `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, status: {conditions: [{type: Available, status: "True"}]}}`, Ready, ""},
		{"a CRD that is not established", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {generation: 1}}`, Waiting, ""},
		{"a CRD whose names are taken", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {conditions: [{type: NamesAccepted, status: "False", message: taken}]}}`, Failed, "taken"},
		{"a claim waiting for its first consumer does not gate", "{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Pending}}", Ready, ""},
		{"a claim whose volume is lost", "{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Lost}}", Failed, "lost"},
		{"a Namespace", "{apiVersion: v1, kind: Namespace, status: {phase: Active}}", Ready, ""},
		{"a custom resource that is not ready", `{apiVersion: example.com/v1, kind: Thing, status: {conditions: [{type: Ready, status: "False", reason: Pending, message: soon}]}}`, Waiting, "soon"},
		{"a custom resource whose controller gave up", `{apiVersion: example.com/v1, kind: Thing, status: {conditions: [{type: Stalled, status: "True", reason: Bad, message: gave up}]}}`, Failed, "gave up"},
		{"a Pod that crashes may recover", `{apiVersion: v1, kind: Pod, status: {phase: Running, containerStatuses: [{name: c, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]}}`, Waiting, "CrashLoopBackOff: container c: exit code 137 (OOMKilled)"},
		{"a Pod that ended in failure", "{apiVersion: v1, kind: Pod, status: {phase: Failed, reason: Evicted}}", Failed, "Evicted"},
		{"a status that is none", `{apiVersion: example.com/v1, kind: Thing, status: {conditions: 5}}`, Unknown, "cannot be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := assess(parse(t, test.body))
			if got.state != test.want || !strings.Contains(got.message, test.message) {
				t.Errorf("got %s %q, want %s %q", got.state, got.message, test.want, test.message)
			}
		})
	}
}

// FuzzAssess holds that no object a cluster may send panics or goes unjudged.
func FuzzAssess(f *testing.F) {
	f.Add(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":1},"spec":{"replicas":"x"},"status":{"conditions":[1,{"type":2}]}}`)
	f.Add(`{"apiVersion":"v1","kind":"Pod","status":{"phase":"Pending","containerStatuses":[{"state":5},"x"]}}`)
	f.Add(`{"apiVersion":"batch/v1","kind":"Job","status":{"active":18446744073709551615}}`)
	f.Add(`{"apiVersion":"apps/v1","kind":"StatefulSet","spec":{"updateStrategy":[]},"status":{"replicas":1.5}}`)
	f.Add(`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"generation":[]},"status":{"observedGeneration":{}}}`)
	f.Add(`{"kind":"Service","apiVersion":"v1","spec":5,"metadata":{"deletionTimestamp":5}}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := preview.DecodeJSON([]byte(text))
		body, ok := v.(map[string]any)
		if err != nil || !ok {
			return
		}
		if got := assess(body); got.state == "" {
			t.Errorf("no state for %s", text)
		}
		podSelector(body)
		l := &podReader{in: nothing{}, blind: map[string]bool{}}
		if d := l.diagnose(t.Context(), body); d.cause != "" && d.cause.Words() == "" {
			t.Errorf("an unknown cause %q for %s", d.cause, text)
		}
		for _, event := range warnings([]map[string]any{body}) {
			eventCause(event)
		}
	})
}

func TestPodProblem(t *testing.T) {
	for _, test := range []struct{ name, status, want string }{
		{"a pod that starts has none", "{containerStatuses: [{name: c, state: {waiting: {reason: ContainerCreating}}}]}", ""},
		{"a pod that runs has none", "{containerStatuses: [{name: c, state: {running: {}}, lastState: {terminated: {exitCode: 1}}}]}", ""},
		{"an init container that is done is none", "{initContainerStatuses: [{name: i, state: {terminated: {exitCode: 0}}}]}", ""},
		{"an image that cannot be pulled", "{containerStatuses: [{name: c, state: {waiting: {reason: ImagePullBackOff, message: unauthorized}}}]}", "ImagePullBackOff: unauthorized"},
		{"an init container that fails", "{initContainerStatuses: [{name: i, state: {terminated: {exitCode: 3, reason: Error}}}]}", "container ended: container i: exit code 3"},
		{"no node to run on", `{conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/1 nodes"}]}`, "Unschedulable: 0/1 nodes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, ok := podProblem(map[string]any{"status": parse(t, test.status)})
			got := ""
			if ok {
				got = p.text()
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWarningsComeNewestFirstByAnyOfTheirTimes(t *testing.T) {
	events := []map[string]any{
		parse(t, `{type: Warning, reason: Old, message: a, lastTimestamp: "2026-01-01T00:00:00Z"}`),
		parse(t, `{type: Warning, reason: New, message: b, eventTime: "2026-01-03T00:00:00.000001Z"}`),
		parse(t, `{type: Normal, reason: Newer, message: c, lastTimestamp: "2026-01-04T00:00:00Z"}`),
		parse(t, `{type: Warning, reason: Middle, message: d, series: {lastObservedTime: "2026-01-02T00:00:00Z"}}`),
	}
	var got []string
	for _, event := range warnings(events) {
		got = append(got, eventText(event))
	}
	if want := []string{"New: b", "Middle: d", "Old: a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPodSelector(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"labels and expressions", `{kind: Deployment, spec: {selector: {matchLabels: {b: c, a: d}, matchExpressions: [{key: k, operator: In, values: [x, z]}, {key: l, operator: DoesNotExist}, {key: m, operator: Exists}, {key: o, operator: NotIn, values: [p]}]}}}`, "!l,a=d,b=c,k in (x,z),m,o notin (p)"},
		{"a Service", `{kind: Service, spec: {selector: {a: b, c: d}}}`, "a=b,c=d"},
		{"a kind without pods", `{kind: Thing, spec: {selector: {matchLabels: {a: b}}}}`, ""},
		{"no selector selects nothing rather than everything", "{kind: Deployment}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := podSelector(parse(t, test.body)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
