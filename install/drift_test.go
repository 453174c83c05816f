package install_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// TestEveryDriftUnderEveryAction lets somebody do something to an object after
// the review: what the review relied on refuses the plan with nothing written,
// the rest does not matter.
func TestEveryDriftUnderEveryAction(t *testing.T) {
	const refused, passes = install.Refused, install.Kind(0)
	for action, drifts := range map[preview.Action]map[string]install.Kind{
		preview.ActionCreate: {"create": refused},
		preview.ActionUpdate: {
			"change": refused, "aside": passes, "delete": refused, "recreate": refused, "finalize": refused,
			"take": refused, "share": refused, "own": refused,
		},
		preview.ActionUnchanged: {
			"change": refused, "aside": passes, "delete": refused, "recreate": refused, "finalize": refused,
			"take": refused, "share": passes, "own": refused,
		},
		preview.ActionDelete: {
			"change": refused, "aside": refused, "delete": refused, "recreate": refused, "finalize": refused,
			"take": refused, "share": passes, "own": refused,
		},
	} {
		for how, want := range drifts {
			t.Run(string(action)+"/"+how, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, fmt.Sprintf("drift-%s-%s", action, how))
				raw := sandboxtest.NewRaw(t, w.sandbox.Kubeconfig())
				ns := w.release.Namespace
				object, other := part{"ConfigMap", "p", "v"}, part{"ServiceAccount", "other", "old"}
				before, after := []part{other}, []part{other}
				after[0].value = "new" // so that every plan has something to write
				if action != preview.ActionCreate {
					before = append(before, object)
				}
				changed := object
				if action == preview.ActionUpdate {
					changed.value = "new"
				}
				if action != preview.ActionDelete {
					after = append(after, changed)
				}
				w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", manifests(before, ns)...)))
				plan := w.plan(t, w.content(t, "2.0.0", manifests(after, ns)...))
				if o := plan.Object("core/ConfigMap/" + ns + "/p"); o == nil || o.Action != action {
					t.Fatalf("planned as %+v, want %s", o, action)
				}
				if did, err := edit(t.Context(), raw, how, object, ns); err != nil || !did {
					t.Fatalf("the drift: %t, %v", did, err)
				}
				written := len(w.writes(t))
				opts := w.options(t)
				opts.NoWait = true
				_, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
				if err == nil && want != passes || err != nil && install.KindOf(err) != want {
					t.Errorf("ended with %v, want kind %d", err, want)
				}
				if now := w.writes(t); want == refused && len(now) != written {
					t.Errorf("a refused plan wrote %v", now[written:])
				}
			})
		}
	}
}

// TestANamespaceThatIsGoingAway refuses at review and at apply.
func TestANamespaceThatIsGoingAway(t *testing.T) {
	w := newWorld(t, "terminating")
	raw := sandboxtest.NewRaw(t, w.sandbox.Kubeconfig())
	makeNamespace(t, raw, w.release.Namespace)
	plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1")))
	// A finalizer keeps it in Terminating.
	holder := part{"ConfigMap", "holder", "v"}
	for _, how := range []string{"create", "finalize"} {
		if did, err := edit(t.Context(), raw, how, holder, w.release.Namespace); err != nil || !did {
			t.Fatalf("%s: %t, %v", how, did, err)
		}
	}
	if status, answer, err := raw.Do(t.Context(), http.MethodDelete, "/api/v1/namespaces/"+w.release.Namespace, "", nil); err != nil || status != http.StatusOK {
		t.Fatalf("deleting the namespace: %d, %v, %v", status, answer, err)
	}
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
	if install.KindOf(err) != install.Refused || !strings.Contains(err.Error(), "being deleted") {
		t.Errorf("apply ended with %v", err)
	}
	if made := w.writes(t); len(made) > 0 {
		t.Errorf("a refused plan wrote %v", made)
	}
	_, err = engine.Build(t.Context(), []engine.Content{w.content(t, "1.0.0", configMap("a", "1"))}, w, engine.Options{
		Release: w.release, Apply: preview.DefaultOptions(), Schemas: w.schemas, Request: preview.Request{Action: preview.RequestInstall},
	})
	var no *engine.Refused
	if !errors.As(err, &no) {
		t.Errorf("a review of it ended with %v", err)
	}
}

// TestADefinitionThatIsNeverEstablished stops before anything that builds on
// it: its names belong to another one.
func TestADefinitionThatIsNeverEstablished(t *testing.T) {
	w := newWorld(t, "unestablished")
	raw := sandboxtest.NewRaw(t, w.sandbox.Kubeconfig())
	taken := part{"CustomResourceDefinition", "thing", "v"}
	if did, err := edit(t.Context(), raw, "create", taken, w.release.Namespace); err != nil || !did {
		t.Fatalf("making the other definition: %t, %v", did, err)
	}
	rival := strings.NewReplacer("things.", "rivals.", `"plural":"things"`, `"plural":"rivals"`).Replace(taken.manifest(w.release.Namespace))
	plan := w.plan(t, w.content(t, "1.0.0", rival, part{"Deployment", "later", "v"}.manifest(w.release.Namespace)))
	opts := w.options(t)
	opts.StageTimeout = 3 * time.Second
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	if kind := install.KindOf(err); err == nil || kind != install.Interrupted && kind != install.Failed || !strings.Contains(err.Error(), "rivals.") {
		t.Errorf("ended with %v", err)
	}
	if live := w.read(t, "apps/v1", "Deployment", w.release.Namespace, "later"); live != nil {
		t.Error("the next stage was written")
	}
}

// TestAnAPIWithoutABackendIsNotInTheWay installs while the discovery of another
// group fails.
func TestAnAPIWithoutABackendIsNotInTheWay(t *testing.T) {
	w := newWorld(t, "partial")
	raw := sandboxtest.NewRaw(t, w.sandbox.Kubeconfig())
	const at = "/apis/apiregistration.k8s.io/v1/apiservices"
	body := map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.down.example.com"},
		"spec": map[string]any{
			"group": "down.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10, "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": "default", "name": "nobody"},
		},
	}
	if status, answer, err := raw.Do(t.Context(), http.MethodPost, at, "", body); err != nil || status != http.StatusCreated {
		t.Fatalf("registering the API: %d, %v, %v", status, answer, err)
	}
	defer func() { _, _, _ = raw.Do(t.Context(), http.MethodDelete, at+"/v1.down.example.com", "", nil) }()
	plan := w.plan(t, w.content(t, "1.0.0", w.operator("one")))
	w.apply(t, plan)
	w.sameAsReviewed(t, plan)
}
