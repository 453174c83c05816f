package rollout_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Package k8s offers what a wait asks for.
var (
	_ rollout.Watcher   = (*k8s.Client)(nil)
	_ rollout.Inspector = (*k8s.Client)(nil)
	_ rollout.Discovery = (*k8s.Client)(nil)
	_ rollout.Reader    = (*k8s.Client)(nil)
)

var names atomic.Int64

func connect(t *testing.T) *k8s.Client {
	t.Helper()
	c, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: sandboxtest.Start(t).Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// create writes an object of the test's namespace, NS in its text.
func create(t *testing.T, c *k8s.Client, namespace, text string) preview.Ref {
	t.Helper()
	docs, err := preview.Decode([]byte(strings.ReplaceAll(text, "NS", namespace)))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := c.Apply(t.Context(), preview.DryRun{Body: docs[0].(map[string]any)})
	if err != nil {
		t.Fatal(err)
	}
	return preview.RefOf(stored)
}

func newNamespace(t *testing.T, c *k8s.Client) string {
	t.Helper()
	name := fmt.Sprintf("rollout-%d", names.Add(1))
	create(t, c, name, "{apiVersion: v1, kind: Namespace, metadata: {name: NS}}")
	return name
}

// deployment has one pod; fault is how it fails, empty when it does not.
func deployment(name, fault string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: NS}
spec:
  progressDeadlineSeconds: 600
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}, annotations: {kubectl-operator/sandbox-fault: "%[2]s"}}
    spec: {containers: [{name: main, image: "registry.example/main:1", ports: [{containerPort: 80}]}]}
`, name, fault)
}

const service = "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: NS}, spec: {selector: {app: web}, ports: [{port: 80}]}}"

func options(c *k8s.Client, refs ...preview.Ref) rollout.Options {
	return rollout.Options{Watcher: c, Inspector: c, Discovery: c, Refs: refs, Timeout: time.Minute, Interval: 200 * time.Millisecond}
}

func TestClusterWaitUntilEverythingIsReady(t *testing.T) {
	c := connect(t)
	namespace := newNamespace(t, c)
	group := namespace + ".example"
	var refs []preview.Ref
	for _, text := range []string{
		deployment("web", ""), service,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: NS}}",
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: NS}, spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things." + group + "}, spec: {group: " + group + ", scope: Cluster, names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}",
	} {
		refs = append(refs, create(t, c, namespace, text))
	}
	o := options(c, refs...)
	o.Endpoints = []preview.Ref{refs[1]}
	report, err := rollout.Wait(t.Context(), o)
	if err != nil || report.Outcome != rollout.AllReady || report.Done() != len(refs) {
		t.Fatalf("got %+v, %v", report, err)
	}
	if n, err := c.Endpoints(t.Context(), namespace, "web"); n != 1 || err != nil {
		t.Errorf("ready without endpoint: %d, %v", n, err)
	}
	if _, err := c.Kind(t.Context(), group+"/v1", "Thing"); err != nil {
		t.Errorf("ready without being served: %v", err)
	}
}

func TestClusterWaitTellsWhatKeepsAPodFromStarting(t *testing.T) {
	c := connect(t)
	namespace := newNamespace(t, c)
	var refs []preview.Ref
	for _, fault := range []string{"image-pull", "crash-loop", "pending"} {
		refs = append(refs, create(t, c, namespace, deployment(fault, fault)))
	}
	refs = append(refs, create(t, c, namespace, deployment("web", "")))
	o := options(c, refs...)
	o.Timeout = 8 * time.Second
	report, err := rollout.Wait(t.Context(), o)
	if err != nil || report.Outcome != rollout.TimedOut {
		t.Fatalf("got %+v, %v", report, err)
	}
	want := map[string][2]string{ // message, event
		"image-pull": {`ImagePullBackOff: Back-off pulling image "registry.example/main:1"`, "Failed: Error: ImagePullBackOff"},
		"crash-loop": {"CrashLoopBackOff: container main: exit code 1", "BackOff: Back-off restarting failed container"},
		"pending":    {"", "FailedCreatePodSandBox: Failed to create pod sandbox"},
	}
	for _, object := range report.Objects[:3] {
		texts := want[object.Ref.Name]
		if object.State != rollout.Waiting || !strings.Contains(object.Message, texts[0]) || !strings.HasPrefix(object.Event, texts[1]) {
			t.Errorf("%s is %s\nmessage %q\nevent   %q", object.Ref.Name, object.State, object.Message, object.Event)
		}
	}
	if last := report.Objects[3]; last.Ref.Name != "web" || last.State != rollout.Ready {
		t.Errorf("the ready object is not last: %+v", report.Objects)
	}

	status := rollout.Status(t.Context(), c, c, refs)
	for i, object := range status.Objects {
		if object.State != report.Objects[i].State || object.Message != report.Objects[i].Message {
			t.Errorf("status says %s %q, the wait %s %q", object.State, object.Message, report.Objects[i].State, report.Objects[i].Message)
		}
	}
}

func TestClusterWaitEndsWhenADeploymentIsOverItsDeadline(t *testing.T) {
	c := connect(t)
	namespace := newNamespace(t, c)
	ref := create(t, c, namespace, strings.Replace(deployment("web", "image-pull"), "progressDeadlineSeconds: 600", "progressDeadlineSeconds: 1", 1))
	other := create(t, c, namespace, deployment("other", ""))
	report, err := rollout.Wait(t.Context(), options(c, other, ref))
	if err != nil || report.Outcome != rollout.HasFailed {
		t.Fatalf("got %+v, %v", report, err)
	}
	failed := report.Objects[0]
	if failed.Ref != ref || failed.State != rollout.Failed || !strings.Contains(failed.Message, "ImagePullBackOff") {
		t.Errorf("got %+v", failed)
	}
}

func TestClusterWaitSaysWhyThereAreNoPods(t *testing.T) {
	c := connect(t)
	namespace := newNamespace(t, c)
	create(t, c, namespace, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: none, namespace: NS}, spec: {hard: {pods: '0'}}}")
	ref := create(t, c, namespace, deployment("web", ""))
	o := options(c, ref)
	o.Timeout = 5 * time.Second
	report, err := rollout.Wait(t.Context(), o)
	if err != nil || report.Outcome != rollout.TimedOut {
		t.Fatalf("got %+v, %v", report, err)
	}
	if message := report.Objects[0].Message; !strings.Contains(message, "exceeded quota") {
		t.Errorf("got %q", message)
	}
}

func TestClusterWaitHoldsAServiceUntilItHasAnEndpoint(t *testing.T) {
	c := connect(t)
	namespace := newNamespace(t, c)
	ref := create(t, c, namespace, service)
	o := options(c)
	o.Endpoints = []preview.Ref{ref}
	var seen []string
	o.Each = func(s rollout.Snapshot) {
		seen = append(seen, s.Objects[0].Message)
		if len(seen) == 1 { // nothing is ready yet: now comes what the Service selects
			create(t, c, namespace, deployment("web", ""))
		}
	}
	report, err := rollout.Wait(t.Context(), o)
	if err != nil || report.Outcome != rollout.AllReady {
		t.Fatalf("got %+v, %v", report, err)
	}
	if !strings.Contains(strings.Join(seen, "\n"), "no ready endpoint") {
		t.Errorf("saw %q", seen)
	}
}

func TestClusterWaitUntilADeletedObjectIsGone(t *testing.T) {
	c := connect(t)
	namespace := newNamespace(t, c)
	ref := create(t, c, namespace, deployment("web", ""))
	if _, err := rollout.Wait(t.Context(), options(c, ref)); err != nil {
		t.Fatal(err)
	}
	for {
		live, err := c.Get(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Delete(t.Context(), ref, preview.String(live, "metadata", "uid"), preview.String(live, "metadata", "resourceVersion"), preview.Foreground)
		if err == nil {
			break
		}
		if preview.ReasonOf(err) != preview.ReasonChanged {
			t.Fatal(err)
		}
	}
	var seen []rollout.State
	report, err := rollout.Wait(t.Context(), rollout.Options{
		Watcher: c, Gone: []preview.Ref{ref}, Timeout: time.Minute,
		Each: func(s rollout.Snapshot) { seen = append(seen, s.Objects[0].State) },
	})
	if err != nil || report.Outcome != rollout.AllReady || seen[len(seen)-1] != rollout.Removed {
		t.Errorf("got %q through %q, %v", report.Outcome, seen, err)
	}
}

func TestClusterWhatStandsBehindAnObject(t *testing.T) {
	c := connect(t)
	namespace := newNamespace(t, c)
	crash := create(t, c, namespace, deployment("crash", "crash-loop"))
	ready := create(t, c, namespace, deployment("ready", ""))
	if _, err := rollout.Wait(t.Context(), options(c, ready)); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(2 * time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var events, logs rollout.Diagnostics
	for ; ; <-tick.C {
		var err error
		if events, err = rollout.Events(t.Context(), c, c, crash); err != nil {
			t.Fatal(err)
		}
		if logs, err = rollout.Logs(t.Context(), c, c, crash); err != nil {
			t.Fatal(err)
		}
		if len(logs.Logs) > 0 && strings.Contains(fmt.Sprint(events.Events), "Back-off restarting") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("events %+v\nlogs %+v", events, logs)
		}
	}
	kinds := map[string]bool{}
	for i, e := range events.Events {
		kinds[e.About.Kind] = true
		if i > 0 && e.Time.Before(events.Events[i-1].Time) {
			t.Errorf("event %d is older than the one before it", i)
		}
		if e.Count < 1 || e.Text == "" || e.Time.IsZero() {
			t.Errorf("event %d says %+v", i, e)
		}
	}
	if !kinds["Deployment"] || !kinds["Pod"] {
		t.Errorf("events about %v, want those of the Deployment and of its pod", kinds)
	}
	log := logs.Logs[0]
	if !strings.HasPrefix(log.Pod.Name, "crash-") || log.Container != "main" || !strings.Contains(strings.Join(log.Lines, "\n"), "cannot reach the database") {
		t.Errorf("the log is %+v", log)
	}
	if got, err := rollout.Logs(t.Context(), c, c, ready); err != nil || len(got.Logs) != 0 {
		t.Errorf("of what is ready: %+v, %v", got, err)
	}
	gone := crash
	gone.Name = "nobody"
	if got, err := rollout.Events(t.Context(), c, c, gone); err != nil || len(got.Events) != 0 {
		t.Errorf("of what does not exist: %+v, %v", got, err)
	}
	blind, err := rollout.Logs(t.Context(), c, limited(t, c, namespace, "get, list, watch"), crash)
	if err != nil || len(blind.Blind) == 0 {
		t.Errorf("without the right to list pods: %+v, %v", blind, err)
	}
}
