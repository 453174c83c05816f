package engine_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// newHome is a package that brings its namespace and a CRD with defaults, and objects
// of both.
const newHome = `{apiVersion: v1, kind: Namespace, metadata: {name: home, labels: {tier: new, pod-security.kubernetes.io/enforce: baseline}}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: lamps.home.example.com}, spec: {
  group: home.example.com, scope: Namespaced, names: {kind: Lamp, plural: lamps, singular: lamp, listKind: LampList},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, default: {}, properties: {
    watts: {type: integer, default: 40}, colour: {type: object, default: {}, properties: {warm: {type: boolean, default: true}}},
    bulbs: {type: array, items: {type: object, properties: {socket: {type: string, default: E27}, spare: {type: boolean}}}}}}}}}}]}}
---
{apiVersion: home.example.com/v1, kind: Lamp, metadata: {name: desk, namespace: home}, spec: {bulbs: [{spare: true}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: home, labels: {app: web}}, spec: {selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c.example.com/c, ports: [{containerPort: 80}], livenessProbe: {httpGet: {port: 80}}, env: [{name: SELF, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}],
    volumes: [{name: v, secret: {secretName: s}}]}}}}
---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: home}, spec: {selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, namespace: home}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: home-viewer}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: home-viewer}, roleRef: {kind: ClusterRole, name: home-viewer},
  subjects: [{kind: ServiceAccount, name: web, namespace: home}, {kind: User, name: ada}]}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: tidy, namespace: home}, spec: {schedule: "* * * * *", suspend: true,
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c.example.com/c}]}}}}}}
`

// TestClusterComputedIsWhatIsStored compares what was computed of objects whose
// namespace or CRD comes with the plan with what the API server stores.
func TestClusterComputedIsWhatIsStored(t *testing.T) {
	box := sandboxtest.Borrow(t)
	client := connected(t, box)
	p := planFrom(t, client, "home", newHome)
	if c := p.Computed; c == nil || c.BySchema != 1 || c.ByCopy != 4 || c.ByKind != 1 || len(c.Open) > 0 || len(c.Refused) > 0 {
		t.Fatalf("computed: %+v", c)
	}
	store(t, box, planned.Content{Objects: slices.Clone(p.Objects)})
	for _, name := range []string{
		"home.example.com/Lamp/home/desk", "apps/Deployment/home/web", "core/Service/home/web", "batch/CronJob/home/tidy",
		"rbac.authorization.k8s.io/ClusterRoleBinding/-/home-viewer",
	} {
		o := p.Object(name)
		if o == nil || o.Computed == nil || o.Result != "" {
			t.Fatalf("%s was not computed: %+v", name, o)
		}
		if diff.Text(o.Computed) == diff.Text(o.Planned) {
			t.Errorf("%s: nothing was added to what is planned", name)
		}
		live := client.Read(t.Context(), []preview.Ref{o.Ref()})[0]
		if live.Err != nil || live.Body == nil {
			t.Fatalf("%s: %+v", name, live)
		}
		for _, c := range diff.Changes(o.Computed, preview.WithoutVolatile(live.Body, o.Planned)) {
			t.Errorf("%s: %s was computed as %v and is stored as %v", name, c.Path, c.From, c.To)
		}
	}
}

// TestClusterUnreadAdmissionIsOpen: a user who may plan and not list the admission
// configuration has the same digest, and is shown what is open.
func TestClusterUnreadAdmissionIsOpen(t *testing.T) {
	box := sandboxtest.Borrow(t)
	apply(t, box, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: most}, rules: [
  {apiGroups: ["", apps, batch, apiextensions.k8s.io, home.example.com, rbac.authorization.k8s.io], resources: ["*"], verbs: ["*"]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: most}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: most},
  subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: most}]}
`)
	p := planFrom(t, as(t, box, "most"), "home", newHome)
	if c := p.Computed; c == nil || c.ByCopy != 4 || len(c.Open) != 1 || !strings.HasPrefix(c.Open[0], "which webhooks and policies see them for want of the right to list each MutatingWebhookConfiguration, ") {
		t.Errorf("computed: %+v", c)
	}
	if all := planFrom(t, connected(t, box), "home", newHome); all.Digest != p.Digest {
		t.Errorf("who may read less has another digest: %s and %s", p.Digest, all.Digest)
	}
}

// store applies a content in the order of its objects.
func store(t *testing.T, box *sandbox.Sandbox, content planned.Content) {
	t.Helper()
	applyDefinitions(t, box, content)
	client := connected(t, box)
	slices.SortStableFunc(content.Objects, func(a, b preview.Object) int { return strings.Compare(a.Namespace, b.Namespace) })
	for i := range content.Objects {
		if content.Objects[i].Is(preview.KindCustomResourceDefinition) {
			continue
		}
		if _, err := client.Apply(t.Context(), preview.DryRun{Body: content.Objects[i].Planned}); err != nil {
			t.Fatalf("%s: %v", content.Objects[i].ID, err)
		}
	}
}

// TestClusterAdmissionOfANewNamespace: the effects of the cluster's webhooks and
// policies on objects whose namespace comes with the plan are computed where possible,
// and named where not.
func TestClusterAdmissionOfANewNamespace(t *testing.T) {
	box := sandboxtest.Borrow(t)
	client := connected(t, box)
	plan := func(setup string) *preview.Plan {
		t.Helper()
		apply(t, box, setup)
		p := planFrom(t, client, "home", newHome)
		for _, body := range parseAll(t, setup) {
			ref := preview.RefOf(body)
			plural, err := client.Plural(context.Background(), ref.APIVersion, ref.Kind)
			if err != nil {
				t.Fatal(err)
			}
			remove(t, box, ref.APIVersion, plural, "", ref.Name)
		}
		if p.Computed == nil {
			t.Fatal("nothing was computed")
		}
		return p
	}
	policy := func(namespaces, expression, more string) string {
		return `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: house}, spec: {
  variables: [{name: size, expression: "has(object.spec.replicas) ? object.spec.replicas : 0"}],
  matchConstraints: {namespaceSelector: {matchLabels: {` + namespaces + `}}, resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]},
  validations: [{expression: "` + expression + `", message: "the house says no"}]` + more + `}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: house}, spec: {policyName: house, validationActions: [Deny]}}
`
	}
	hook := sandboxtest.NewWebhook(t, sandboxtest.Allow)
	for _, tt := range []struct {
		name, setup   string
		refused, open string
	}{
		{"a policy that accepts what the API server defaults leaves nothing open", policy("tier: new", "variables.size == 1", ""), "", ""},
		{"a policy that refuses says so, with its message", policy("tier: new", "variables.size > 1", ""), "apps/Deployment/home/web is refused by ValidatingAdmissionPolicy house: the house says no", ""},
		{"a policy that does not select the new namespace does nothing", policy("tier: old", "false", ""), "", ""},
		{"a policy whose condition does not hold does nothing", policy("tier: new", "false", `, matchConditions: [{name: c, expression: "namespaceObject.metadata.name == 'other'"}]`), "", ""},
		{"a policy that asks the authorizer is open", policy("tier: new", "authorizer.group('').resource('pods').check('get').allowed()", ""), "", "whether ValidatingAdmissionPolicy house accepts Deployment web"},
		{"a webhook that selects the new namespace is open", diff.Text(hook.Registration("ValidatingWebhookConfiguration", "guard", "home", "services")), "", "whether webhook guard.example.com of ValidatingWebhookConfiguration guard accepts Service web"},
		{"a mutating webhook is open, for custom resources too", diff.Text(hook.Registration("MutatingWebhookConfiguration", "painter", "home", "home.example.com/lamps")), "", "what webhook painter.example.com of MutatingWebhookConfiguration painter changes in Lamp desk"},
		{"what changes copies and not the object leaves defaults open", diff.Text(hook.Registration("MutatingWebhookConfiguration", "painter", "default", "services")), "", "what the API server adds to Service web because the copy that was tried was changed by webhook painter.example.com of MutatingWebhookConfiguration painter"},
		{"a webhook of another namespace does nothing", diff.Text(hook.Registration("ValidatingWebhookConfiguration", "guard", "elsewhere", "services")), "", ""},
	} {
		p := plan(tt.setup)
		var refused []string
		for _, o := range p.Verdict.Obstacles {
			refused = append(refused, o.Object+" "+o.Cause)
		}
		if got := strings.Join(refused, "; "); got != tt.refused || strings.Contains(p.Verdict.Sentence, "cannot be applied") != (tt.refused != "") {
			t.Errorf("%s: refused: %q, want %q; %s", tt.name, got, tt.refused, p.Verdict.Sentence)
		}
		if got := strings.Join(p.Computed.Open, "; "); got != tt.open {
			t.Errorf("%s: open: %q, want %q", tt.name, got, tt.open)
		}
	}
}

// TestClusterARefusedDryRunIsComparedAsMerged: an update that the API server refuses is
// compared with the live object as the merge would leave it, so that what the API server
// once added is not shown as taken away.
func TestClusterARefusedDryRunIsComparedAsMerged(t *testing.T) {
	box := sandboxtest.Borrow(t)
	client := connected(t, box)
	web := func(replicas int) string {
		return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: %s}, spec: {replicas: %d, selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c.example.com/c, ports: [{containerPort: 80}]}]}}}}
`, plainRelease.Namespace, replicas)
	}
	before := plainContent(t, web(1))
	store(t, box, before)
	opts := engine.Options{
		Tool: "test", Release: plainRelease, Request: preview.Request{Action: preview.RequestUpgrade}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
		Installed: engine.Installed{
			Base:    preview.Base{Revision: 1, Digest: preview.HashBytes([]byte("1"))},
			Members: []engine.InstalledObject{{Ref: before.Objects[0].Ref(), Package: "widgets"}},
		},
	}
	p, err := engine.Build(t.Context(), []planned.Content{plainContent(t, web(-1))}, client, opts)
	if err != nil {
		t.Fatal(err)
	}
	o := p.Object(before.Objects[0].ID)
	if o == nil || o.ResultBody != nil || o.Computed == nil {
		t.Fatalf("the dry run was not refused, or nothing was merged: %+v", o)
	}
	want := []preview.Change{{Path: ".spec.replicas", Op: "change", From: int64(1), To: int64(-1)}}
	if got := diff.Changes(o.Compared(o.Computed)); !reflect.DeepEqual(got, want) {
		t.Errorf("compared as %+v, want %+v", got, want)
	}
	if len(diff.Changes(o.Compared(o.Planned))) < 2 {
		t.Error("the API server adds nothing to the object, and the test tests nothing")
	}
}
