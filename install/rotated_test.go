package install_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// kept is an object with a value that another client rotates: VALUE in its text, or
// HIDDEN in base64. OTHER stands next to it, and FIXED cannot change in place.
type kept struct {
	path, text string
	named      string // what a refusal calls the value
	secret     bool
}

var keptValues = map[string]kept{
	"secret": {
		"/api/v1/namespaces/NS/secrets/a",
		`{"apiVersion":"v1","kind":"Secret","type":"example.com/FIXED","metadata":{"name":"a","namespace":"NS","annotations":{"example.com/other":"OTHER"}},"data":{"key":"HIDDEN","other":"b3RoZXI="}}`,
		"core/Secret/NS/a .data.key", true,
	},
	"sensitive key": {
		"/api/v1/namespaces/NS/configmaps/a",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"NS"},"data":{"password":"VALUE","other":"OTHER"}}`,
		"core/ConfigMap/NS/a .data.password", true,
	},
	"plain key": {
		"/api/v1/namespaces/NS/configmaps/a",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"NS"},"data":{"plain":"VALUE","other":"OTHER"}}`,
		"core/ConfigMap/NS/a .data.plain", false,
	},
	"environment": {
		"/apis/apps/v1/namespaces/NS/deployments/a",
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"NS","annotations":{"example.com/other":"OTHER"}},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"FIXED"}},"template":{"metadata":{"labels":{"app":"FIXED"}},"spec":{"containers":[{"name":"main","image":"registry.example.com/app:v1","env":[{"name":"DB_PASSWORD","value":"VALUE"}]}]}}}}`,
		"apps/Deployment/NS/a .spec.template.spec.containers[name=main].env[name=DB_PASSWORD].value", true,
	},
}

func (k kept) manifest(namespace, value, other, fixed string) string {
	hidden := base64.StdEncoding.EncodeToString([]byte(value))
	return strings.NewReplacer("NS", namespace, "VALUE", value, "HIDDEN", hidden, "OTHER", other, "FIXED", fixed).Replace(k.text)
}

// rotations are the plans that lose or overwrite what another client writes.
var rotations = map[string]struct {
	action preview.Action
	by     string // field manager that rotates
	choose func(*engine.Options)
	absent bool // from the release before the plan
	after  func(k kept, namespace string) []string
}{
	"uninstall": {action: preview.ActionDelete, by: "vault", after: func(kept, string) []string { return nil }},
	"prune": {action: preview.ActionDelete, by: "vault", after: func(kept, string) []string {
		return []string{configMap("beside", "new")}
	}},
	"take": {action: preview.ActionUpdate, by: "vault", choose: conflictsTo(preview.ConflictsTake), after: func(k kept, ns string) []string {
		return []string{k.manifest(ns, "planned", "old", "one")}
	}},
	"adopt": {action: preview.ActionAdopt, by: "vault", choose: adoptTaking, absent: true, after: func(k kept, ns string) []string {
		return []string{k.manifest(ns, "planned", "old", "one")}
	}},
	"replace": {action: preview.ActionReplace, by: "vault", choose: conflictsTo(preview.ConflictsTake), after: func(k kept, ns string) []string {
		return []string{k.manifest(ns, "planned", "old", "two")}
	}},
	"update": {action: preview.ActionUpdate, by: preview.FieldManager, after: func(k kept, ns string) []string {
		return []string{k.manifest(ns, "hunter1", "new", "one")}
	}},
}

// TestClusterValueThatWasRotatedIsNotOverwritten: whatever a plan would lose of a live
// object is an object as the review saw it. A sensitive value is named by its key alone.
func TestClusterValueThatWasRotatedIsNotOverwritten(t *testing.T) {
	for plan, r := range rotations {
		for what, k := range keptValues {
			if r.action == preview.ActionReplace && !strings.Contains(k.text, "FIXED") {
				continue // nothing of a ConfigMap that can change is replaced
			}
			t.Run(plan+"/"+what, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, "rotated-"+plan+"-"+strings.ReplaceAll(what, " ", "-"))
				ns := w.release.Namespace
				raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
				before := []string{configMap("beside", "old")}
				if !r.absent {
					before = append(before, k.manifest(ns, "installed", "old", "one"))
				}
				w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", before...)))
				k.rotate(t, raw, r.by, ns, "hunter1")

				var contents []planned.Content
				if list := r.after(k, ns); list != nil {
					contents = append(contents, w.content(t, "2.0.0", list...))
				}
				reviewed := w.planWith(t, func(o *engine.Options) {
					if r.choose != nil {
						r.choose(o)
					}
				}, contents...)
				id, path, _ := strings.Cut(strings.ReplaceAll(k.named, "NS", ns), " ")
				if o := reviewed.Object(id); o == nil || o.Action != r.action {
					t.Fatalf("planned as %+v, want %s", o, r.action)
				}
				k.rotate(t, raw, r.by, ns, "swordfish")
				written := len(w.writes(t))
				opts := w.options(t)
				opts.NoWait = true
				_, err := install.Apply(t.Context(), reviewed, byDigest(reviewed), w, opts)
				if err == nil || install.KindOf(err) != install.Refused {
					t.Fatalf("ended with %v, want a refusal", err)
				}
				if now := w.writes(t); len(now) != written {
					t.Errorf("a refused plan wrote %v", now[written:])
				}
				said := err.Error()
				// A value that is set in this program's name in a later second is a write that
				// no record has.
				unrecorded := r.by == preview.FieldManager && strings.Contains(said, "the history does not hold")
				if !unrecorded && (!strings.Contains(said, id) || !strings.Contains(said, path)) {
					t.Errorf("the refusal does not name %s: %v", k.named, said)
				}
				if k.secret {
					for _, value := range []string{"hunter1", "aHVudGVyMQ==", "swordfish", "c3dvcmRmaXNo", "fingerprint"} {
						if strings.Contains(said, value) {
							t.Errorf("the refusal says %q: %s", value, said)
						}
					}
				}
			})
		}
	}
}

// rotate writes a value as another client does; the labels stay.
func (k kept) rotate(t *testing.T, raw *sandboxtest.RawClient, manager, namespace, value string) {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal([]byte(k.manifest(namespace, value, "old", "one")), &body); err != nil {
		t.Fatal(err)
	}
	at := strings.ReplaceAll(k.path, "NS", namespace)
	if status, live, err := raw.Do(t.Context(), http.MethodGet, at, "", nil); err == nil && status == http.StatusOK {
		if labels := preview.Map(live, "metadata", "labels"); labels != nil {
			preview.Map(body, "metadata")["labels"] = labels
		}
	}
	status, answer, err := raw.Do(t.Context(), http.MethodPatch, at+"?force=true&fieldManager="+manager, sandboxtest.ApplyPatch, body)
	if err != nil || status != http.StatusOK && status != http.StatusCreated {
		t.Fatal(fmt.Errorf("rotating: %d, %v, %w", status, answer, err))
	}
}
