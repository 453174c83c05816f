package install_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

const agent = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: agent}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: agent}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [GIVEN]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: agent, annotations: {example.com/version: VERSION}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: agent}
subjects: [{kind: ServiceAccount, name: agent}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: same}
data: {key: same}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: frozen}
immutable: true
data: {key: VERSION}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: agents.GROUP}
spec:
  group: GROUP
  names: {kind: Agent, plural: agents, singular: agent, listKind: AgentList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: agent, annotations: {example.com/version: VERSION}}
spec:
  replicas: 0
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      serviceAccountName: agent
      containers: [{name: agent, image: registry.example.com/agent@sha256:0000000000000000000000000000000000000000000000000000000000000000}]
`

func (w *world) agent(t *testing.T, version, given string, more ...string) planned.Content {
	t.Helper()
	text := strings.NewReplacer("VERSION", version, "GIVEN", given, "GROUP", w.release.Name+".example.com").Replace(agent)
	return w.content(t, version, append([]string{text}, more...)...)
}

// deed is one action of a release, from what an administrator installed before.
type deed struct {
	before func(t *testing.T, w *world)
	plan   func(t *testing.T, w *world) *preview.Plan
}

func firstVersion(t *testing.T, w *world) {
	t.Helper()
	w.applyQuietly(t, w.plan(t, w.agent(t, "v1", "get, list", configMap("old", "x"))))
}

func secondVersion(t *testing.T, w *world) *preview.Plan {
	t.Helper()
	return w.plan(t, w.agent(t, "v2", "get"))
}

func removing(choose func(*preview.Options)) func(*testing.T, *world) *preview.Plan {
	return func(t *testing.T, w *world) *preview.Plan {
		t.Helper()
		return w.planWith(t, func(o *engine.Options) {
			o.Request.Action = preview.RequestUninstall
			choose(&o.Apply)
		})
	}
}

var deeds = map[string]deed{
	"install": {
		before: func(*testing.T, *world) {},
		plan:   func(t *testing.T, w *world) *preview.Plan { t.Helper(); return w.plan(t, w.agent(t, "v1", "get")) },
	},
	"upgrade": {before: firstVersion, plan: secondVersion},
	"rollback": {
		before: func(t *testing.T, w *world) {
			t.Helper()
			firstVersion(t, w)
			w.applyQuietly(t, secondVersion(t, w))
		},
		plan: func(t *testing.T, w *world) *preview.Plan {
			t.Helper()
			record, err := history.Load(t.Context(), w, w.release)
			if err != nil {
				t.Fatal(err)
			}
			contents, target, err := history.Rollback(t.Context(), w, record, 1)
			if err != nil {
				t.Fatal(err)
			}
			return w.planWith(t, func(o *engine.Options) {
				o.Request = preview.Request{Action: preview.RequestRollback, Revision: target.Revision}
			}, contents...)
		},
	},
	"uninstall":      {before: firstVersion, plan: removing(func(*preview.Options) {})},
	"uninstall-crds": {before: firstVersion, plan: removing(func(o *preview.Options) { o.IncludeCRDs = true })},
	"uninstall-all": {before: firstVersion, plan: removing(func(o *preview.Options) {
		o.IncludeCRDs, o.IncludeNamespaces = true, true
	})},
}

// limited is a user with the rights of an installer role, and what writes it.
type limited struct {
	*world
	admin *sandboxtest.RawClient
	roles []map[string]any
}

// newLimited gives a user exactly what the role of a plan holds.
func newLimited(t *testing.T, w *world, plan *preview.Plan) *limited {
	t.Helper()
	user := w.release.Name + "-installer"
	l := &limited{world: &world{}, admin: sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())}
	*l.world = *w
	l.user = user
	for _, body := range installer.Manifests(plan, w.plural(t)) {
		body = preview.CloneBody(body)
		for _, subject := range preview.Maps(body, "subjects") {
			subject["name"] = user
		}
		at, _, _ := strings.Cut(objectPath(body), "?")
		at = at[:strings.LastIndex(at, "/")]
		if status, answer, err := l.admin.Do(t.Context(), http.MethodPost, at, "", body); err != nil || status != http.StatusCreated {
			t.Fatalf("creating %s: %d, %v, %v", at, status, answer, err)
		}
		if preview.List(body, "rules") != nil {
			l.roles = append(l.roles, body)
		}
	}
	l.Client = connect(t, sandboxtest.User(t, w.sandbox, user))
	for _, r := range l.rights() {
		l.await(t, r, true)
	}
	return l
}

func objectPath(body map[string]any) string {
	ref := preview.RefOf(body)
	switch {
	case ref.Kind == "Namespace":
		return "/api/v1/namespaces/" + ref.Name
	case ref.Namespace == "":
		return "/apis/rbac.authorization.k8s.io/v1/" + strings.ToLower(ref.Kind) + "s/" + ref.Name
	}
	return "/apis/rbac.authorization.k8s.io/v1/namespaces/" + ref.Namespace + "/" + strings.ToLower(ref.Kind) + "s/" + ref.Name
}

func (w *world) plural(t *testing.T) installer.Plural {
	return func(apiVersion, kind string) string {
		name, _ := w.Plural(t.Context(), apiVersion, kind) // what is not served has the name its definition gives
		return name
	}
}

func (l *limited) rights() []preview.Right {
	var out []preview.Right
	for _, role := range l.roles {
		out = append(out, installer.Held(role, preview.RefOf(role).Namespace)...)
	}
	return out
}

// without takes one right away; the zero right gives all.
func (l *limited) without(t *testing.T, right preview.Right) {
	t.Helper()
	for _, role := range l.roles {
		body := preview.CloneBody(role)
		var rules []any
		for _, r := range installer.Held(role, preview.RefOf(role).Namespace) {
			if r == right {
				continue
			}
			rule := map[string]any{"verbs": []any{r.Verb}}
			if r.URL != "" {
				rule["nonResourceURLs"] = []any{r.URL}
			} else {
				rule["apiGroups"], rule["resources"] = []any{r.Group}, []any{r.Resource}
			}
			if r.Name != "" {
				rule["resourceNames"] = []any{r.Name}
			}
			rules = append(rules, rule)
		}
		body["rules"] = rules
		if status, answer, err := l.admin.Do(t.Context(), http.MethodPut, objectPath(body), "", body); err != nil || status != http.StatusOK {
			t.Fatalf("changing the role: %d, %v, %v", status, answer, err)
		}
	}
}

// await asks until the API server sees a right given or taken.
func (l *limited) await(t *testing.T, right preview.Right, allowed bool) {
	t.Helper()
	for t.Context().Err() == nil {
		if answer := l.May(t.Context(), []preview.Right{right})[0]; answer.Err != nil {
			t.Fatal(answer.Err)
		} else if answer.Allowed == allowed {
			return
		}
	}
}

func (l *limited) apply(t *testing.T, plan *preview.Plan) error {
	t.Helper()
	opts := l.options(t)
	opts.NoWait, opts.Keep = true, func(*record.Receipt) error { return nil }
	opts.Sink = nil
	_, err := install.Apply(t.Context(), plan, byDigest(plan), l, opts)
	return err
}

// TestClusterInstallerRoleSuffices: for each action a user with exactly the role that
// -o installer-role writes plans what an administrator plans, and does the whole
// of it. With any one right less nothing is written, and the right is named; the usual
// run takes each fourth right, in each action others, and a soak each.
func TestClusterInstallerRoleSuffices(t *testing.T) {
	for nth, name := range slices.Sorted(maps.Keys(deeds)) {
		if !slowtest.Turn(t, nth) {
			continue
		}
		d := deeds[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "role-"+name)
			d.before(t, w)
			l := newLimited(t, w, d.plan(t, w))
			reviewed, own := d.plan(t, w), d.plan(t, l.world)
			if reviewed.Digest != own.Digest {
				t.Fatalf("the installer plans something else than the administrator: %v", engine.FactChanges(reviewed, own, w.schemas))
			}
			if in := own.Access.Installer; !own.Complete || len(in.Missing)+len(in.Unread) > 0 {
				t.Fatalf("the installer lacks %v, may not read %v, and does not know %v", in.Missing, in.Unread, own.Unknowns)
			}
			for i, right := range l.rights() {
				if l.onlyForRecovery(right) || !slowtest.InSample(i+nth, 4) {
					continue
				}
				l.without(t, right)
				l.await(t, right, false)
				err := l.apply(t, reviewed)
				if err == nil {
					t.Fatalf("%s is not needed", right)
				}
				if said := err.Error(); !namesRight(said, right) {
					t.Errorf("without %q: %s", right, said)
				}
				l.without(t, preview.Right{})
				l.await(t, right, true)
			}
			if wrote := l.writes(t); len(wrote) > 0 {
				t.Errorf("with a right less it wrote %v", wrote)
			}
			if err := l.apply(t, reviewed); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestClusterEachRightToLookIsAskedFirst: without the right to read any one of the objects
// that a plan writes, in either way of reading the cluster, nothing is written and the right
// is named, also where the plan brings the kind, so that it was never read.
func TestClusterEachRightToLookIsAskedFirst(t *testing.T) {
	w := newWorld(t, "right-to-look")
	content := w.agent(t, "v1", "get", fmt.Sprintf("{apiVersion: %s.example.com/v1, kind: Agent, metadata: {name: one}, spec: {size: 1}}", w.release.Name))
	l := newLimited(t, w, w.plan(t, content))
	plans := []*preview.Plan{l.plan(t, content), l.planGet(t, content)}
	looked := map[string]bool{}
	looks := installer.Looks(plans[0], w.plural(t))
	for _, right := range l.rights() {
		if !slices.ContainsFunc(looks, func(r preview.Right) bool {
			r.Namespace = right.Namespace // rights in a namespace that comes with the plan are those in all
			return r == right
		}) {
			continue
		}
		l.without(t, right)
		l.await(t, right, false)
		for _, plan := range plans {
			looked[right.Resource] = true
			if err := l.apply(t, plan); err == nil || !namesRight(err.Error(), right) {
				t.Errorf("%s, without %q: %v", plan.ReadMode, right, err)
			}
		}
		l.without(t, preview.Right{})
		l.await(t, right, true)
	}
	if wrote := l.writes(t); len(wrote) > 0 || !looked["agents"] || len(looked) < 5 {
		t.Errorf("with a right less, of %v, it wrote %v", looked, wrote)
	}
	if err := l.apply(t, plans[0]); err != nil {
		t.Error(err)
	}
}

// onlyForRecovery are the rights to read what the tool itself writes: they are
// used after an interruption or a lost answer, and for the parts of large plans.
func (l *limited) onlyForRecovery(right preview.Right) bool {
	record := preview.RecordName(l.release.Name)
	return right.Verb == "get" && (right.Resource == "leases" || right.Resource == "secrets" && strings.HasPrefix(right.Name, record+"."))
}

// namesRight reports whether a message names a right, in our words or the API server's.
func namesRight(said string, r preview.Right) bool {
	what := r.Target()
	if r.URL != "" {
		what = r.URL
	}
	return strings.Contains(said, r.Verb+" "+what) || strings.Contains(said, fmt.Sprintf("cannot %s resource %q", r.Verb, r.Resource)) && strings.Contains(said, r.Name)
}

// TestClusterReviewerAndDeployerPlanTheSame: a plan that binds its own roles has one
// digest, for every planner, also where the role that is stored holds more than the
// planned one, or the binding is to another role now.
func TestClusterReviewerAndDeployerPlanTheSame(t *testing.T) {
	w := newWorld(t, "same-plan")
	firstVersion(t, w)
	binding := func(role string) string {
		return strings.NewReplacer("ROLE", role).Replace(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: ROLE}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: second}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ROLE}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: somebody}, {kind: User, name: another}]
`)
	}
	next := func(w *world, version, role string) *preview.Plan {
		return w.plan(t, w.agent(t, version, "get", binding(role)))
	}
	l := newLimited(t, w, next(w, "v2", "one"))
	reviewed, own := next(w, "v2", "one"), next(l.world, "v2", "one")
	if reviewed.Digest != own.Digest {
		t.Fatalf("a new binding: %v", engine.FactChanges(reviewed, own, w.schemas))
	}
	w.apply(t, own)
	if again := next(w, "v2", "one"); again.Summary.Changes() {
		t.Errorf("a new preview says %+v", again.Summary)
	}

	moved := next(w, "v3", "two")
	id := "rbac.authorization.k8s.io/RoleBinding/" + w.release.Namespace + "/second"
	if o := moved.Object(id); o.Action != preview.ActionReplace {
		t.Errorf("a binding to another role is planned as %s", o.Action)
	}
	w.apply(t, moved)
	if live := w.read(t, "rbac.authorization.k8s.io/v1", "RoleBinding", w.release.Namespace, "second"); preview.String(live, "roleRef", "name") != "two" {
		t.Errorf("the binding is to %v", live["roleRef"])
	}
}

// TestClusterInstallerRoleGoesOn: a user with exactly the installer role is killed
// after the first write of each action, and amid its writes. The role suffices to
// read what was recorded, to wait for the lock of the dead, and to go on.
func TestClusterInstallerRoleGoesOn(t *testing.T) {
	for nth, name := range slices.Sorted(maps.Keys(deeds)) {
		if !slowtest.Turn(t, nth+1) {
			continue
		}
		d := deeds[name]
		for when, after := range map[string]func(sends int) int{
			"first": func(int) int { return 1 },
			"amid":  func(sends int) int { return sends/2 + 1 },
		} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, "go-on-"+name+"-"+when)
				d.before(t, w)
				plan := d.plan(t, w)
				l := newLimited(t, w, plan)
				plan = d.plan(t, l.world)
				l.kill(t, plan, after(plan.Summary.Create+plan.Summary.Update+plan.Summary.Replace+plan.Summary.Delete))
				if err := l.resume(t, plan); err != nil {
					t.Errorf("going on: %v", err)
				}
				if plan.Request.Action != preview.RequestUninstall {
					w.sameAsReviewed(t, plan)
				}
			})
		}
	}
}

// kill ends the process after a write of a plan's objects.
func (l *limited) kill(t *testing.T, plan *preview.Plan, at int) {
	t.Helper()
	stored := preview.RecordName(plan.Release.Name)
	f := &faulty{Cluster: l, mode: killed, at: at, only: func(ref preview.Ref) bool { return !strings.HasPrefix(ref.Name, stored) }}
	opts := l.options(t)
	opts.NoWait, opts.Clock, opts.Sink, opts.Keep = true, deadClock{f}, nil, func(*record.Receipt) error { return nil }
	if _, err := install.Apply(t.Context(), plan, byDigest(plan), f, opts); err == nil || f.alive() == nil {
		t.Fatalf("it was not killed at write %d: %v", at, err)
	}
}

// resume goes on with what was recorded, as the same command does.
func (l *limited) resume(t *testing.T, plan *preview.Plan) error {
	t.Helper()
	sealed := map[string]map[string]any{}
	for i := range plan.Objects {
		sealed[plan.Objects[i].ID] = plan.Objects[i].Planned
	}
	stored, err := record.Load(t.Context(), l, l.release)
	if err == nil && stored != nil {
		plan, err = record.LoadPlan(t.Context(), l, stored, sealed)
	}
	if err != nil {
		return err
	}
	opts := l.options(t)
	opts.NoWait, opts.Clock, opts.Sink, opts.Holder, opts.Keep = true, fastClock{time.Now()}, nil, "second", func(*record.Receipt) error { return nil }
	_, err = install.Apply(t.Context(), plan, byDigest(plan), l, opts)
	return err
}

// TestClusterInstallerOfAKindThatIsGone: where the kind of an object on record is not
// served in any version, the CRDs say whether the object is gone: the roles have the right
// to list them.
func TestClusterInstallerOfAKindThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "kind-gone")
	group := w.release.Name + ".example.com"
	w.moving(t, group)
	thing := preview.Ref{APIVersion: group + "/v1", Kind: "Thing"}
	w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", "apiVersion: "+thing.APIVersion+"\nkind: Thing\nmetadata: {name: a}\n", configMap("b", "1"))))
	w.edit(t, "delete", "crd", "things."+group)
	for served := true; served; {
		_, err := w.List(t.Context(), thing.APIVersion, thing.Kind, w.release.Namespace, "")
		served = preview.ReasonOf(err) != preview.ReasonNotServed
	}
	removal := func(w *world) *preview.Plan {
		w.Refresh()
		return w.plan(t)
	}
	l := newLimited(t, w, removal(w))
	plan := removal(l.world)
	if in := plan.Access.Installer; !plan.Complete || len(in.Missing)+len(in.Unread) > 0 {
		t.Errorf("the installer lacks %v, may not read %v, and does not know %v", in.Missing, in.Unread, plan.Unknowns)
	}
	if err := l.apply(t, plan); err != nil {
		t.Error(err)
	}
}
