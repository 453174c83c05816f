package install_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// patience is the time limit of something that takes a second.
const patience = 2 * time.Minute

// makeNamespace makes the release namespace before any plan does.
func makeNamespace(t *testing.T, raw *sandboxtest.RawClient, name string) {
	t.Helper()
	body := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
	if status, answer, err := raw.Do(t.Context(), http.MethodPost, "/api/v1/namespaces", "", body); err != nil || status != http.StatusCreated {
		t.Fatalf("making the namespace: %d, %v, %v", status, answer, err)
	}
}

// intercept registers a webhook for writes in one namespace and returns when
// the API server asks it.
func intercept(t *testing.T, raw *sandboxtest.RawClient, name string, resources ...string) *sandboxtest.Webhook {
	t.Helper()
	const closed = "not open yet"
	webhook := sandboxtest.NewWebhook(t, func(sandboxtest.Admission) sandboxtest.Verdict { return sandboxtest.Verdict{Deny: closed} })
	at := "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
	body := webhook.Registration("MutatingWebhookConfiguration", name, name, append(resources, "configmaps")...)
	if status, answer, err := raw.Do(t.Context(), http.MethodPost, at, "", body); err != nil || status != http.StatusCreated {
		t.Fatalf("registering the webhook: %d, %v, %v", status, answer, err)
	}
	t.Cleanup(func() { _, _, _ = raw.Do(context.Background(), http.MethodDelete, at+"/"+name, "", nil) })
	probe := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "probe"}}
	deadline := time.Now().Add(patience)
	for {
		_, answer, err := raw.Do(t.Context(), http.MethodPost, "/api/v1/namespaces/"+name+"/configmaps?dryRun=All", "", probe)
		if strings.Contains(preview.String(answer, "message"), closed) {
			webhook.Answer(sandboxtest.Allow)
			return webhook
		}
		if time.Now().After(deadline) {
			t.Fatalf("the webhook was never asked: %v, %v", answer, err)
		}
	}
}

// TestClusterAdmissionChangesItsMind has a webhook behave at the write as it did not at
// the review: only the write is not a dry run.
func TestClusterAdmissionChangesItsMind(t *testing.T) {
	annotate := func(path string) sandboxtest.Verdict {
		return sandboxtest.Verdict{Patch: []map[string]any{{"op": "add", "path": path, "value": "injected"}}}
	}
	for i, test := range []struct {
		name  string
		part  part
		write func(w *sandboxtest.Webhook) sandboxtest.Verdict
		kind  install.Kind // 0 for success
		state record.ObjectState
		says  string
	}{
		{
			name: "a pod template is mutated: nothing is built on it", part: part{"Deployment", "p", "v"}, kind: install.Failed, state: record.StateDiverged, says: "injected",
			write: func(*sandboxtest.Webhook) sandboxtest.Verdict {
				return annotate("/spec/template/metadata/annotations/injected")
			},
		},
		{
			name: "a ConfigMap is mutated: it is reported", part: part{"ConfigMap", "p", "v"}, state: record.StateDiverged, says: "injected",
			write: func(*sandboxtest.Webhook) sandboxtest.Verdict { return annotate("/data/injected") },
		},
		{
			name: "a reviewed value is replaced", part: part{"ConfigMap", "p", "v"}, state: record.StateDiverged, says: "key",
			write: func(*sandboxtest.Webhook) sandboxtest.Verdict { return annotate("/data/key") },
		},
		{
			name: "it denies", part: part{"ConfigMap", "p", "v"}, kind: install.Failed, state: record.StateFailed, says: "not today",
			write: func(*sandboxtest.Webhook) sandboxtest.Verdict { return sandboxtest.Verdict{Deny: "not today"} },
		},
		{
			name: "it is gone", part: part{"ConfigMap", "p", "v"}, kind: install.Failed, state: record.StateFailed, says: "failed calling webhook",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fmt.Sprint("admission-", i))
			raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
			makeNamespace(t, raw, w.release.Namespace)
			webhook := intercept(t, raw, w.release.Name, "apps/deployments")
			// The objects before it were written, and the error says so.
			first := part{"ServiceAccount", "first", "v"}
			plan := w.plan(t, w.content(t, "1.0.0", first.manifest(w.release.Namespace), test.part.manifest(w.release.Namespace)))
			if test.write != nil {
				webhook.Answer(func(a sandboxtest.Admission) sandboxtest.Verdict {
					if a.DryRun {
						return sandboxtest.Verdict{}
					}
					return test.write(webhook)
				})
			}
			receipt, err := w.through(t, plan, func(r sandboxtest.Request) sandboxtest.Fault {
				if test.write == nil && isPlanObject(r) && strings.HasSuffix(r.Path, "/"+test.part.name) {
					webhook.Close()
				}
				return sandboxtest.Fault{}
			})
			if err == nil && test.kind != 0 || err != nil && install.KindOf(err) != test.kind {
				t.Errorf("ended with %v, want kind %d", err, test.kind)
			}
			if receipt == nil {
				t.Fatal("no receipt")
			}
			for _, o := range receipt.Objects {
				if strings.HasSuffix(o.ID, "/p") && (o.State != test.state || !strings.Contains(o.Message, test.says)) {
					t.Errorf("the receipt tells that %s is %s: %s; want %s: %s", o.ID, o.State, o.Message, test.state, test.says)
				}
			}
		})
	}
}

// TestClusterControllerFightsOverAnObject has another client write an object of the
// plan before every attempt to update it.
func TestClusterControllerFightsOverAnObject(t *testing.T) {
	for i, test := range []struct {
		name   string
		rounds int
		patch  map[string]any
		kind   install.Kind
	}{
		{"beside what is reviewed, three times: the fourth attempt succeeds", 3, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.com/beat": "x"}}}, 0},
		{"beside what is reviewed, without end: it gives up", 1000, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.com/beat": "x"}}}, install.Failed},
		{"over a reviewed field: refused at once", 1000, map[string]any{"data": map[string]any{"key": "mine"}}, install.Failed},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fmt.Sprint("fight-", i))
			raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
			contested, first := part{"ConfigMap", "p", "old"}, part{"ServiceAccount", "first", "old"}
			w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", first.manifest(w.release.Namespace), contested.manifest(w.release.Namespace))))
			first.value, contested.value = "new", "new"
			plan := w.plan(t, w.content(t, "2.0.0", first.manifest(w.release.Namespace), contested.manifest(w.release.Namespace)))
			attempts := 0
			_, err := w.through(t, plan, func(r sandboxtest.Request) sandboxtest.Fault {
				if !isPlanObject(r) || r.Path != contested.path(w.release.Namespace) {
					return sandboxtest.Fault{}
				}
				if attempts++; attempts <= test.rounds {
					test.patch["metadata"] = map[string]any{"annotations": map[string]any{"example.com/beat": fmt.Sprint(attempts)}}
					if status, answer, err := raw.Do(t.Context(), http.MethodPatch, r.Path, sandboxtest.MergePatch, test.patch); err != nil || status != http.StatusOK {
						t.Errorf("the other client: %d, %v, %v", status, answer, err)
					}
				}
				return sandboxtest.Fault{}
			})
			if err == nil && test.kind != 0 || err != nil && install.KindOf(err) != test.kind {
				t.Errorf("ended with %v, want kind %d", err, test.kind)
			}
			if attempts > 10 {
				t.Errorf("%d attempts", attempts)
			}
			t.Logf("%d attempts; ended with %v", attempts, err)
		})
	}
}
