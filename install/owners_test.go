package install_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// planWith plans with other choices than the default.
func (w *world) planWith(t *testing.T, choose func(*engine.Options), contents ...engine.Content) *preview.Plan {
	t.Helper()
	opts := w.planOptions(t)
	choose(&opts)
	plan, err := engine.Build(t.Context(), contents, w, opts)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func conflictsTo(choice string) func(*engine.Options) {
	return func(o *engine.Options) { o.Apply.Conflicts = choice }
}

// TestContestedFields: a field that somebody else took is refused, taken over
// or left, as the plan says, in both ways of reading the cluster.
func TestContestedFields(t *testing.T) {
	for _, mode := range []preview.ReadMode{preview.ReadDryRun, preview.ReadGet} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t, "contested-"+strings.ReplaceAll(string(mode), "-", ""))
			ns := w.release.Namespace
			two := func(key, other string) string {
				return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: " + key + ", other: " + other + "}\n"
			}
			w.apply(t, w.plan(t, w.content(t, "1.0.0", two("one", "one"))))
			w.edit(t, "patch", "configmap", "a", "-n", ns, "--type=merge", `-p={"data":{"key":"theirs"}}`)
			content := w.content(t, "2.0.0", two("two", "two"))
			choose := func(choice string) *preview.Plan {
				return w.planWith(t, func(o *engine.Options) { o.Apply.Conflicts, o.ReadMode = choice, mode }, content)
			}
			id := "core/ConfigMap/" + ns + "/a"

			failing := choose(preview.ConflictsFail)
			want := []preview.Conflict{{Manager: "kubectl-patch", Path: ".data.key"}}
			if got := failing.Object(id).Conflicts; len(got) != 1 || got[0] != want[0] {
				t.Fatalf("the conflicts are %v, want %v", got, want)
			}
			before := len(w.writes(t))
			if _, err := install.Apply(t.Context(), failing, byDigest(failing), w, w.options(t)); install.KindOf(err) != install.Refused {
				t.Errorf("fail: %v, want a refusal", err)
			}
			if after := w.writes(t); len(after) != before {
				t.Errorf("fail wrote %v", after[before:])
			}

			leaving := choose(preview.ConflictsLeave)
			if leaving.Digest == failing.Digest {
				t.Error("the choice is not in the digest")
			}
			w.apply(t, leaving)
			live := w.read(t, "v1", "ConfigMap", ns, "a")
			if preview.String(live, "data", "key") != "theirs" || preview.String(live, "data", "other") != "two" {
				t.Errorf("left: %v", live["data"])
			}

			taking := choose(preview.ConflictsTake)
			if f := findingWith(taking, "field-conflict/"+id); f == nil || f.Severity != preview.Critical {
				t.Errorf("taking a field over is silent: %v", f)
			}
			if err := install.Gate(taking, install.Approval{Digest: taking.Digest, How: install.ApprovedByYes}); err == nil {
				t.Error("a bare yes takes fields over")
			}
			w.apply(t, taking)
			live = w.read(t, "v1", "ConfigMap", ns, "a")
			if preview.String(live, "data", "key") != "two" {
				t.Errorf("taken: %v", live["data"])
			}
			if again := w.plan(t, content); again.Summary.Changes() {
				t.Errorf("afterwards a plan says %+v", again.Summary)
			}
		})
	}
}

func findingWith(plan *preview.Plan, id string) *preview.Finding {
	for i := range plan.Findings {
		if plan.Findings[i].ID == id {
			return &plan.Findings[i]
		}
	}
	return nil
}

// meddling is a cluster in which somebody takes one more field right before
// the first dry run of a write that takes fields over.
type meddling struct {
	install.Cluster
	armed  bool
	meddle func()
}

func (m *meddling) DryRun(ctx context.Context, items []preview.DryRun) []preview.DryRunResult {
	if m.armed && len(items) == 1 && !items[0].Force && items[0].UID != "" && preview.RefOf(items[0].Body).Name == "a" {
		m.armed = false
		m.meddle()
	}
	return m.Cluster.DryRun(ctx, items)
}

func TestTakingAFieldTakesNoOther(t *testing.T) {
	w := newWorld(t, "takes")
	two := func(key, other string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: " + key + ", other: " + other + "}\n"
	}
	w.apply(t, w.plan(t, w.content(t, "1.0.0", two("one", "one"))))
	w.edit(t, "patch", "configmap", "a", "-n", "takes", "--type=merge", `-p={"data":{"key":"theirs"}}`)
	plan := w.planWith(t, conflictsTo(preview.ConflictsTake), w.content(t, "2.0.0", two("two", "two")))
	cluster := &meddling{Cluster: w.Client, meddle: func() {
		w.edit(t, "patch", "configmap", "a", "-n", "takes", "--type=merge", "--field-manager=late", `-p={"data":{"other":"theirs"}}`)
	}}
	opts := w.options(t)
	opts.Sink = func(e install.Event) {
		// The checks are over, and the write comes next.
		cluster.armed = cluster.armed || e.Object == "core/ConfigMap/takes/a" && e.State == install.StateSent
	}
	_, err := install.Apply(t.Context(), plan, byDigest(plan), cluster, opts)
	if err == nil || install.KindOf(err) != install.Refused || !strings.Contains(err.Error(), ".data.other") {
		t.Errorf("kind %d: %v, want a refusal that names the field", install.KindOf(err), err)
	}
	live := w.read(t, "v1", "ConfigMap", "takes", "a")
	if preview.String(live, "data", "key") != "theirs" || preview.String(live, "data", "other") != "theirs" {
		t.Errorf("it took %v", live["data"])
	}
}
