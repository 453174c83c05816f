package history_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

type releases struct {
	*k8s.Client
	schemas *k8s.Schemas
}

// run installs one ConfigMap as a release, or uninstalls the release.
func (c *releases) run(t *testing.T, release preview.Release, uninstall bool) {
	t.Helper()
	opts := engine.Options{
		Release: release, Apply: preview.DefaultOptions(), Schemas: c.schemas,
		Request: preview.Request{Reference: "mongodb", Action: preview.RequestInstall},
	}
	stored, err := history.Load(t.Context(), c, release)
	if err == nil {
		stored, err = record.ToPlanFrom(t.Context(), c, release, stored, record.Keys{}, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	if stored != nil {
		opts.Installed.Base = stored.PlanBase()
		for _, item := range stored.Items() {
			opts.Installed.Members = append(opts.Installed.Members, engine.InstalledObject{Ref: item.Ref(), Package: item.Package})
		}
	}
	var contents []planned.Content
	if uninstall {
		opts.Request.Action = preview.RequestUninstall
	} else {
		contents = append(contents, c.content(t, release))
	}
	plan, err := engine.Build(t.Context(), contents, c, opts)
	if err != nil {
		t.Fatal(err)
	}
	approval := record.Approval{Digest: plan.Digest, How: record.ApprovedByDigest, Ruleset: preview.Ruleset}
	if _, err := install.Apply(t.Context(), plan, approval, c, install.Options{Schemas: c.schemas, Holder: t.Name()}); err != nil {
		t.Fatal(err)
	}
}

func (c *releases) content(t *testing.T, release preview.Release) planned.Content {
	t.Helper()
	content, err := planned.Prepare(release, planned.Material{
		Info: format.Info{Format: "test", Package: "mongodb", Version: "1.2.3", Bundle: "mongodb.v1.2.3"},
		Output: &format.Output{Objects: []format.RenderedObject{{Body: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings"},
		}}}},
		Sources: []preview.Source{{Kind: "image", Reference: "registry.example.com/mongodb:v1", Digest: preview.HashBytes(nil)}},
		Via:     []preview.ResolutionStep{{Kind: "catalog", Reference: "registry.example.com/catalog:latest", Channel: "stable"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func connect(t *testing.T, kubeconfig string) *releases {
	t.Helper()
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	return &releases{client, k8s.NewSchemas()}
}

func TestClusterReleases(t *testing.T) {
	sb := sandboxtest.Start(t)
	c := connect(t, sb.Kubeconfig())
	one, twoA, twoB := preview.Release{Name: "one", Namespace: "one"}, preview.Release{Name: "two", Namespace: "a"}, preview.Release{Name: "two", Namespace: "b"}
	for _, release := range []preview.Release{one, twoA, twoB} {
		c.run(t, release, false)
	}
	nobody := connect(t, sandboxtest.User(t, sb, "nobody-special"))

	t.Run("a record tells what was installed, and from where", func(t *testing.T) {
		r, err := history.Load(t.Context(), c, one)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{r.Name(), r.Package(), r.Version(), r.Bundle(), r.Catalog(), r.Channel(), r.Request.Reference, string(r.State)}
		want := "mongodb mongodb 1.2.3 mongodb.v1.2.3 registry.example.com/catalog:latest stable mongodb applied"
		if strings.Join(got, " ") != want {
			t.Errorf("got %q\nwant %q", strings.Join(got, " "), want)
		}
		if items := r.Items(); len(items) != 1 || items[0].Ref().ID() != "core/ConfigMap/one/settings" || items[0].UID == "" {
			t.Errorf("the inventory is %v", items)
		}
	})
	t.Run("a release that never existed has no record", func(t *testing.T) {
		if r, err := history.Load(t.Context(), c, preview.Release{Name: "never", Namespace: "nowhere"}); r != nil || err != nil {
			t.Errorf("got %v, %v", r, err)
		}
	})
	t.Run("all namespaces are listed in order", func(t *testing.T) {
		wantList(t, c, "", "a/two b/two one/one")
		wantList(t, c, "b", "b/two")
	})
	t.Run("the only release of a name is found anywhere", func(t *testing.T) {
		if r, err := history.Find(t.Context(), c, "one", ""); err != nil || r.Release != one {
			t.Errorf("got %v, %v", r, err)
		}
	})
	t.Run("two releases of a name are an error that lists them", func(t *testing.T) {
		if _, err := history.Find(t.Context(), c, "two", ""); err == nil || !strings.Contains(err.Error(), "a, b") {
			t.Errorf("got %v", err)
		}
		if r, err := history.Find(t.Context(), c, "two", "b"); err != nil || r.Release != twoB {
			t.Errorf("with a namespace: %v, %v", r, err)
		}
	})
	t.Run("an unknown name is an error", func(t *testing.T) {
		for _, namespace := range []string{"", "one"} {
			if _, err := history.Find(t.Context(), c, "three", namespace); err == nil || !strings.Contains(err.Error(), "three") {
				t.Errorf("in %q: %v", namespace, err)
			}
		}
	})
	t.Run("where listing is forbidden the namespace is the name", func(t *testing.T) {
		_, err := history.Find(t.Context(), nobody, "one", "")
		if preview.ReasonOf(err) != preview.ReasonForbidden || !strings.Contains(err.Error(), "one/kubectl-operator.one") {
			t.Errorf("got %v, want the attempt to read one/kubectl-operator.one", err)
		}
	})
	t.Run("a release that was uninstalled is hidden, and counts on", func(t *testing.T) {
		c.run(t, twoA, true)
		wantList(t, c, "", "b/two one/one")
		if _, err := history.Find(t.Context(), c, "two", "a"); err == nil {
			t.Error("it was found")
		}
		r, err := history.Load(t.Context(), c, twoA)
		if err != nil || r.Installed() || r.Revision != 2 {
			t.Errorf("the record is %+v, %v, want revision 2 uninstalled", r, err)
		}
		c.run(t, twoA, false)
		if r, err := history.Find(t.Context(), c, "two", "a"); err != nil || r.Revision != 3 {
			t.Errorf("installed again: %+v, %v, want revision 3", r, err)
		}
	})
	t.Run("a record that cannot be read is named, and hides no other", func(t *testing.T) {
		broken := map[string]any{
			"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{
				"name": "kubectl-operator.broken", "namespace": "one",
				"labels": map[string]any{preview.LabelRelease: "broken", preview.LabelSetID: "applyset-x-v1"},
			},
		}
		if _, err := c.Apply(t.Context(), preview.DryRun{Body: broken}); err != nil {
			t.Fatal(err)
		}
		records, err := history.List(t.Context(), c, "one")
		if err == nil || !strings.Contains(err.Error(), "one/kubectl-operator.broken") || len(records) != 1 {
			t.Errorf("got %d records, %v", len(records), err)
		}
		wantUnreadable(t, err, preview.Release{Name: "broken", Namespace: "one"})
	})
}

func wantUnreadable(t *testing.T, err error, want preview.Release) {
	t.Helper()
	if unread, ok := history.Unreadable(err); !ok || len(unread) != 1 || unread[0].Release != want {
		t.Errorf("got %v, %t", unread, ok)
	}
}

func TestAListThatFailedIsNoUnreadableRecord(t *testing.T) {
	if unread, ok := history.Unreadable(errors.Join(errors.New("no answer"))); ok {
		t.Errorf("it passes for %v", unread)
	}
}

func wantList(t *testing.T, c *releases, namespace, want string) {
	t.Helper()
	records, err := history.List(t.Context(), c, namespace)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records {
		got = append(got, r.Release.Namespace+"/"+r.Release.Name)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("listed %v, want %s", got, want)
	}
}
