package install_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// addition is what a webhook adds to an object, and where that shows.
type addition struct {
	kind, manifest string
	patch          []map[string]any
	says           string // path and value
}

func add(path string, value any) map[string]any {
	return map[string]any{"op": "add", "path": path, "value": value}
}

// additionsOfAdmission are the ways to get more than was asked for out of each kind.
var additionsOfAdmission = []addition{
	{"Deployment", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replicas: 0, selector: {matchLabels: {app: x}},
  template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: c.example.com/c}]}}}}`, []map[string]any{
		add("/spec/template/spec/hostNetwork", true),
		add("/spec/template/spec/containers/-", map[string]any{"name": "side", "image": "evil.example.com/e", "securityContext": map[string]any{"privileged": true}}),
	}, ".spec.template.spec.hostNetwork: true"},
	{"ServiceAccount", `{apiVersion: v1, kind: ServiceAccount, metadata: {name: x}}`, []map[string]any{
		add("/metadata/annotations", map[string]any{"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/admin"}),
	}, "['eks.amazonaws.com/role-arn']: \"arn:aws:iam::1:role/admin\""},
	{"NetworkPolicy", `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: x}, spec: {podSelector: {}, policyTypes: [Ingress]}}`, []map[string]any{
		add("/spec/ingress", []any{map[string]any{}}),
	}, ".spec.ingress[0]: {}"},
	{"Service", `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {selector: {app: x}, ports: [{port: 80}]}}`, []map[string]any{
		add("/spec/externalIPs", []any{"192.0.2.7"}),
	}, ".spec.externalIPs: "},
	{"ConfigMap", `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {key: v}}`, []map[string]any{
		add("/data/more", "injected"),
	}, `.data.more: "injected"`},
	{"Role", `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: x}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`, []map[string]any{
		add("/rules/-", map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "verbs": []any{"get"}}),
	}, "secrets"},
	{"RoleBinding", `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: x}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view},
  subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: ada}]}`, []map[string]any{
		add("/subjects/-", map[string]any{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "mallory"}),
	}, "mallory"},
}

// meddler is a webhook for all kinds of [additionsOfAdmission] in every namespace.
type meddler struct {
	webhook *sandboxtest.Webhook
	world   *world
}

func newMeddler(t *testing.T) *meddler {
	t.Helper()
	box := sandboxtest.Borrow(t)
	w := newWorldIn(t, box, "probe")
	raw := sandboxtest.NewRawClient(t, box.Kubeconfig())
	makeNamespace(t, raw, "probe")
	m := &meddler{world: w, webhook: intercept(t, raw, "probe", "apps/deployments", "serviceaccounts", "networking.k8s.io/networkpolicies", "services",
		"rbac.authorization.k8s.io/roles", "rbac.authorization.k8s.io/rolebindings")}
	at := "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/probe"
	everywhere := []map[string]any{{"op": "remove", "path": "/webhooks/0/namespaceSelector"}}
	if status, answer, err := raw.Do(t.Context(), http.MethodPatch, at, "application/json-patch+json", everywhere); err != nil || status != http.StatusOK {
		t.Fatalf("widening the webhook: %d, %v, %v", status, answer, err)
	}
	m.webhook.Answer(func(sandboxtest.Admission) sandboxtest.Verdict { return sandboxtest.Verdict{Deny: "everywhere"} })
	for {
		_, answer, err := raw.Do(t.Context(), http.MethodPost, "/api/v1/namespaces/default/configmaps?dryRun=All", "", body(t, configMap("probe", "v")))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(preview.String(answer, "message"), "everywhere") {
			break
		}
	}
	m.webhook.Answer(sandboxtest.Allow)
	return m
}

// adds lets the webhook add to objects of a kind that are named x, in one namespace or in
// all.
func (m *meddler) adds(a addition, namespace string) {
	m.webhook.Answer(func(asked sandboxtest.Admission) sandboxtest.Verdict {
		if asked.Operation != "CREATE" || asked.Object["kind"] != a.kind || asked.Name != "x" || namespace != "" && asked.Namespace != namespace {
			return sandboxtest.Verdict{}
		}
		return sandboxtest.Verdict{Patch: a.patch}
	})
}

func (m *meddler) in(t *testing.T, name string) *world {
	t.Helper()
	w := *m.world
	w.release = preview.Release{Name: name, Namespace: name}
	return &w
}

// planGet makes a plan by reads alone.
func (w *world) planGet(t testing.TB, contents ...planned.Content) *preview.Plan {
	t.Helper()
	return w.planWith(t, func(o *engine.Options) { o.ReadMode = preview.ReadGet }, contents...)
}

// TestClusterNothingIsAddedBehindTheReview: an addition to an object by a webhook of the
// cluster is in the review, or is refused before the object is written: by kind, in a
// namespace that exists and in one that the plan makes, by a webhook that was there at the
// review or not, that changes the copy in another namespace or not, and for both modes of
// reading.
func TestClusterNothingIsAddedBehindTheReview(t *testing.T) {
	m := newMeddler(t)
	raw := sandboxtest.NewRawClient(t, m.world.sandbox.Kubeconfig())
	for n, a := range additionsOfAdmission {
		for _, tt := range []struct {
			name           string
			exists, get    bool
			before, hidden bool // the webhook was there at the review; it sees the object's own namespace alone
			kind           install.Kind
		}{
			{name: "new-shown", before: true},
			{name: "new-late", kind: install.Refused},
			{name: "new-hidden", before: true, hidden: true, kind: install.Failed},
			{name: "new-hidden-late", hidden: true, kind: install.Failed},
			{name: "new-get", get: true, before: true, kind: install.Refused},
			{name: "new-get-hidden", get: true, before: true, hidden: true, kind: install.Failed},
			{name: "old-shown", exists: true, before: true},
			{name: "old-late", exists: true, kind: install.Refused},
			{name: "old-get", exists: true, get: true, before: true, kind: install.Refused},
		} {
			t.Run(a.kind+"/"+tt.name, func(t *testing.T) {
				w := m.in(t, fmt.Sprintf("%s-%d", tt.name, n))
				if tt.exists {
					makeNamespace(t, raw, w.release.Namespace)
				}
				namespace := ""
				if tt.hidden {
					namespace = w.release.Namespace
				}
				content := w.content(t, "1.0.0", configMap("other", "v"), a.manifest)
				m.webhook.Answer(sandboxtest.Allow)
				if tt.before {
					m.adds(a, namespace)
				}
				review := w.plan
				if tt.get {
					review = w.planGet
				}
				plan := review(t, content)
				m.adds(a, namespace)
				receipt, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.quiet(t))
				if tt.kind == 0 {
					if err != nil {
						t.Fatal(err)
					}
					m.isShown(t, w, plan, a)
					return
				}
				if install.KindOf(err) != tt.kind || !strings.Contains(err.Error(), a.says) && tt.kind == install.Failed {
					t.Errorf("ended with %v (kind %d), want kind %d that says %q", err, install.KindOf(err), tt.kind, a.says)
				}
				if live := w.read(t, preview.RefOf(body(t, a.manifest)).APIVersion, a.kind, w.release.Namespace, "x"); live != nil {
					t.Errorf("it was written: %v", live)
				}
				if live := w.read(t, "v1", "ConfigMap", w.release.Namespace, "other"); live != nil {
					t.Error("another object was written before it")
				}
				if tt.kind == install.Refused {
					if receipt != nil || !tt.exists && w.read(t, "v1", "Namespace", "", w.release.Namespace) != nil {
						t.Error("a refusal wrote something")
					}
					return
				}
				// The namespace is on record, so that the next review sees what happens in it.
				again := w.plan(t, content)
				w.applyQuietly(t, again)
				m.isShown(t, w, again, a)
			})
		}
	}
}

func (w *world) quiet(t *testing.T) install.Options {
	opts := w.options(t)
	opts.Sink, opts.NoWait = nil, true
	return opts
}

// isShown fails unless the plan shows the addition, and the object is as shown.
func (m *meddler) isShown(t *testing.T, w *world, plan *preview.Plan, a addition) {
	t.Helper()
	at := slices.IndexFunc(plan.Objects, func(o preview.Object) bool { return o.Kind == a.kind && o.Name == "x" })
	o := &plan.Objects[at]
	finding := slices.IndexFunc(plan.Findings, func(f preview.Finding) bool { return f.Rule == "admission-adds" && f.Object == o.ID })
	if len(o.Changes) == 0 || o.Result == "" || finding < 0 || !strings.Contains(plan.Findings[finding].Evidence, a.says) {
		t.Errorf("the review does not show what is added: %v", o.Changes)
	}
	stored, err := record.Load(t.Context(), w, w.release)
	if err != nil || stored.State != record.Applied {
		t.Fatalf("the record: %+v, %v", stored, err)
	}
	live := w.read(t, o.APIVersion, o.Kind, o.Namespace, o.Name)
	if verdict, notes, err := install.Compare(w.schemas, install.WrittenObject{Sealed: o.Planned, Reviewed: o.ResultBody, Live: live}); err != nil || verdict != install.Same {
		t.Errorf("the object is not as reviewed: %v, %v", notes, err)
	}
	if drift := w.driftOf(t, o.ID); drift.Drift != install.DriftNone {
		t.Errorf("status of what was reviewed: %+v", drift)
	}
}

// TestClusterStatusSeesWhatIsAddedLater: an addition by another client after the install
// is drift, in a namespace that the plan made and in one that was there; metadata and
// the number of replicas are not.
func TestClusterStatusSeesWhatIsAddedLater(t *testing.T) {
	w := newWorld(t, "added-later")
	raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
	for n, a := range append(slices.Clone(additionsOfAdmission), addition{
		kind: "Secret", manifest: `{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {key: v}}`, patch: []map[string]any{add("/data/more", "djI=")},
	}) {
		for _, exists := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", a.kind, exists), func(t *testing.T) {
				w := *w
				name := fmt.Sprintf("added-later-%d-%t", n, exists)
				w.release = preview.Release{Name: name, Namespace: name}
				if exists {
					makeNamespace(t, raw, name)
				}
				plan := w.plan(t, w.content(t, "1.0.0", a.manifest))
				w.applyQuietly(t, plan)
				at := plan.Objects[slices.IndexFunc(plan.Objects, func(o preview.Object) bool { return o.Kind == a.kind })]
				w.edit(t, "label", strings.ToLower(a.kind), "x", "-n", name, "seen=yes")
				if a.kind == "Deployment" {
					w.edit(t, "annotate", "deployment", "x", "-n", name, "example.com/beat=1")
				}
				if drift := w.driftOf(t, at.ID); drift.Drift != install.DriftNone {
					t.Errorf("before anything was added: %+v", drift)
				}
				plural, err := w.Plural(t.Context(), at.APIVersion, at.Kind)
				if err != nil {
					t.Fatal(err)
				}
				root := "/api/"
				if at.Ref().Group() != "" {
					root = "/apis/"
				}
				path := root + at.APIVersion + "/namespaces/" + name + "/" + plural + "/x"
				if status, answer, err := raw.Do(t.Context(), http.MethodPatch, path, "application/json-patch+json", a.patch); err != nil || status != http.StatusOK {
					t.Fatalf("adding: %d, %v, %v", status, answer, err)
				}
				if drift := w.driftOf(t, at.ID); drift.Drift != install.DriftChanged || len(drift.Paths) == 0 {
					t.Errorf("after %v was added: %+v", a.patch, drift)
				}
			})
		}
	}
}

// driftOf returns what status says of an object of the release.
func (w *world) driftOf(t *testing.T, id string) install.ObjectDrift {
	t.Helper()
	stored, err := record.Load(t.Context(), w, w.release)
	if err != nil {
		t.Fatal(err)
	}
	var refs []preview.Ref
	for _, item := range stored.Items() {
		refs = append(refs, item.Ref())
	}
	drifts, err := install.Drifts(t.Context(), w, w.schemas, stored, w.Read(t.Context(), refs))
	if err != nil {
		t.Fatal(err)
	}
	for _, drift := range drifts {
		if drift.ID == id {
			return drift
		}
	}
	t.Fatalf("%s is not in the inventory", id)
	return install.ObjectDrift{}
}

// lampDefinition is a CRD whose schema has defaults.
const lampDefinition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: lamps.GROUP}, spec: {
  group: GROUP, scope: Namespaced, names: {kind: Lamp, plural: lamps, singular: lamp, listKind: LampList},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
    watts: {type: integer, default: 40}, image: {type: string}, colour: {type: object, default: {}, properties: {warm: {type: boolean, default: true}}}}}}}}}]}}`

// TestClusterCustomResourcesOfNewKinds: the defaults of a CRD's schema are no additions, of
// a CRD that comes with the plan and of one that is there while the namespace is new;
// additions by admission to the custom resource are refused before it is written.
func TestClusterCustomResourcesOfNewKinds(t *testing.T) {
	m := newMeddler(t)
	raw := sandboxtest.NewRawClient(t, m.world.sandbox.Kubeconfig())
	group := "lamps.example.com"
	at := "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/probe"
	rule := add("/webhooks/0/rules/-", map[string]any{"apiGroups": []any{"*"}, "apiVersions": []any{"*"}, "resources": []any{"lamps"}, "operations": []any{"CREATE"}, "scope": "*"})
	if status, answer, err := raw.Do(t.Context(), http.MethodPatch, at, "application/json-patch+json", []map[string]any{rule}); err != nil || status != http.StatusOK {
		t.Fatalf("widening the webhook: %d, %v, %v", status, answer, err)
	}
	definition := strings.ReplaceAll(lampDefinition, "GROUP", group)
	lamp := fmt.Sprintf("{apiVersion: %s/v1, kind: Lamp, metadata: {name: x}, spec: {}}", group)
	var asked atomic.Bool
	injects := func(sandboxtest.Admission) sandboxtest.Verdict {
		asked.Store(true)
		return sandboxtest.Verdict{Patch: []map[string]any{add("/spec/image", "evil.example.com/e")}}
	}
	for _, tt := range []struct {
		name      string
		manifests []string
	}{
		{"with-its-definition", []string{definition, lamp}},
		{"of-a-definition-there", []string{lamp}}, // the first one leaves it
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := m.in(t, "plain-"+tt.name)
			m.webhook.Answer(sandboxtest.Allow)
			w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", tt.manifests...)))
			if live := w.read(t, group+"/v1", "Lamp", w.release.Namespace, "x"); preview.Value(live, "spec", "watts") != int64(40) {
				t.Fatalf("the defaults are not there: %v", live)
			}
			w = m.in(t, "added-"+tt.name)
			plan := w.plan(t, w.content(t, "1.0.0", tt.manifests...))
			for !asked.Load() { // until the webhook sees the kind
				m.webhook.Answer(injects)
				m.world.DryRun(t.Context(), []preview.DryRun{{Body: body(t, strings.Replace(lamp, "name: x", "name: x, namespace: probe", 1))}})
			}
			m.webhook.Answer(injects)
			_, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.quiet(t))
			if install.KindOf(err) != install.Failed || !strings.Contains(err.Error(), `.spec.image: "evil.example.com/e"`) {
				t.Errorf("ended with %v", err)
			}
			if live := w.read(t, group+"/v1", "Lamp", w.release.Namespace, "x"); live != nil {
				t.Errorf("it was written: %v", live)
			}
		})
	}
}
