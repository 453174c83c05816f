package rollout_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// limited connects as a user who may only do some verbs on Deployments.
func limited(t *testing.T, admin *k8s.Client, namespace, verbs string) *k8s.Client {
	t.Helper()
	create(t, admin, namespace, "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: limited, namespace: NS}, rules: [{apiGroups: [apps], resources: [deployments], verbs: ["+verbs+"]}]}")
	create(t, admin, namespace, "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: limited, namespace: NS}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: limited}, subjects: [{kind: User, name: limited-NS}]}")
	kubeconfig := sandboxtest.User(t, sandboxtest.Start(t), "limited-"+namespace)
	c, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClusterWithoutTheRightToListOrWatchItReadsOneByOneAndSaysWhatIsMissing(t *testing.T) {
	admin := connect(t)
	namespace := newNamespace(t, admin)
	refs := []preview.Ref{create(t, admin, namespace, deployment("crash", "crash-loop")), create(t, admin, namespace, deployment("web", ""))}
	c := limited(t, admin, namespace, "get")
	o := options(c, refs...)
	o.Timeout = 2 * time.Minute
	done := make(chan struct{})
	var once sync.Once
	o.Each = func(s rollout.Snapshot) {
		if len(s.Blind) == 2 && s.Done() == 1 {
			once.Do(func() { close(done) })
		}
	}
	o.Clock = until{done}
	report, err := rollout.Wait(t.Context(), o)
	if err != nil || report.Outcome != rollout.TimedOut {
		t.Fatalf("got %q, %v", report.Outcome, err)
	}
	if want := []string{"list events in namespace " + namespace, "list pods in namespace " + namespace}; !slices.Equal(report.Blind, want) {
		t.Errorf("blind to %q, want %q", report.Blind, want)
	}
	if crash := report.Objects[0]; crash.Ref != refs[0] || crash.State != rollout.Waiting || crash.Cause != rollout.Deadline {
		t.Errorf("without its pods the Deployment is %+v", crash)
	}
	if web := report.Objects[1]; web.State != rollout.Ready {
		t.Errorf("what may be read is not: %+v", web)
	}
}

// until is the machine's clock, but that the longest timers fire when done is
// closed.
type until struct{ done <-chan struct{} }

func (until) Now() time.Time { return time.Now() }
func (u until) After(d time.Duration) <-chan time.Time {
	if d < time.Minute {
		return time.After(d)
	}
	fired := make(chan time.Time, 1)
	go func() {
		<-u.done
		fired <- time.Now()
	}()
	return fired
}

func TestClusterWhatMayNotBeReadAtAllEndsTheWaitOnceTheRestIsReady(t *testing.T) {
	admin := connect(t)
	namespace := newNamespace(t, admin)
	refs := []preview.Ref{
		create(t, admin, namespace, deployment("web", "")),
		create(t, admin, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: NS}}"),
	}
	o := options(limited(t, admin, namespace, "get, list, watch"), refs...)
	o.Timeout, o.Grace = 5*time.Minute, time.Second
	report, err := rollout.Wait(t.Context(), o)
	if err != nil || report.Outcome != rollout.Unseen {
		t.Fatalf("got %q, %v", report.Outcome, err)
	}
	if o := report.Objects[0]; o.Ref != refs[1] || o.State != rollout.Unknown || !strings.Contains(o.Message, "forbidden") {
		t.Errorf("got %+v", o)
	}
}

func TestClusterRolloutOutlivesTheAPIServer(t *testing.T) {
	sb := sandboxtest.New(t)
	c, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: sb.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	namespace := newNamespace(t, c)
	ref := create(t, c, namespace, service)
	o := options(c)
	o.Endpoints, o.Timeout = []preview.Ref{ref}, 5*time.Minute
	restarted := make(chan error, 1)
	begin := sync.OnceFunc(func() {
		go func() {
			err := sb.RestartAPIServer(t.Context())
			if err == nil {
				_, err = c.Apply(t.Context(), preview.DryRun{Body: parsed(t, strings.ReplaceAll(deployment("web", ""), "NS", namespace))})
			}
			restarted <- err
		}()
	})
	o.Each = func(s rollout.Snapshot) {
		if s.Objects[0].State == rollout.Waiting && s.Objects[0].Message != rollout.NotRead {
			begin()
		}
	}
	report, err := rollout.Wait(t.Context(), o)
	if err != nil || report.Outcome != rollout.AllReady {
		t.Fatalf("got %q of %+v, %v", report.Outcome, report.Objects, err)
	}
	if err := <-restarted; err != nil {
		t.Error(err)
	}
}

func parsed(t *testing.T, text string) map[string]any {
	docs, err := preview.Decode([]byte(text))
	if err != nil {
		t.Error(err) // not in the test's goroutine
		return nil
	}
	return docs[0].(map[string]any)
}
