package engine_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

func versionOf(t *testing.T, version string, bodies ...map[string]any) planned.Content {
	t.Helper()
	var rendered []format.RenderedObject
	for i, body := range bodies {
		rendered = append(rendered, format.RenderedObject{Body: body})
		rendered[i].Origin.File = "all.yaml"
	}
	c, err := planned.Prepare(preview.Release{Name: "op", Namespace: "app"}, planned.Material{
		Info: format.Info{Package: "op", Version: version, Format: "plain"}, Output: &format.Output{Objects: rendered},
		Sources: []preview.Source{{Kind: "directory", Digest: preview.HashBytes([]byte(version))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func configMap(name, value string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"k": value}}
}

func privileged(name string) map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": name}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": name}},
				"spec": map[string]any{"containers": []any{map[string]any{
					"name": "c", "image": "registry.example.com/c:v1", "securityContext": map[string]any{"privileged": true},
				}}},
			},
		},
	}
}

func TestTwoVersionsAreComparedAsIfTheOlderWereInstalled(t *testing.T) {
	schemas := k8s.NewSchemas()
	older := versionOf(t, "1.0.0", configMap("same", "a"), configMap("changed", "a"), configMap("gone", "a"), privileged("old"))
	newer := versionOf(t, "1.1.0", configMap("same", "a"), configMap("changed", "b"), configMap("more", "a"), privileged("old"), privileged("new"))
	p, err := engine.Compare([]planned.Content{newer}, []planned.Content{older},
		preview.Baseline{Reference: "./old", Package: "op", Version: "1.0.0"},
		engine.Options{Release: preview.Release{Name: "op", Namespace: "app"}, Apply: preview.DefaultOptions(), Schemas: schemas})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]preview.Action{
		"core/ConfigMap/app/same": preview.ActionUnchanged, "core/ConfigMap/app/changed": preview.ActionUpdate,
		"core/ConfigMap/app/gone": preview.ActionDelete, "core/ConfigMap/app/more": preview.ActionCreate,
		"apps/Deployment/app/old": preview.ActionUnchanged, "apps/Deployment/app/new": preview.ActionCreate,
	} {
		if o := p.Object(id); o == nil || o.Action != want {
			t.Errorf("%s: %+v, want %s", id, o, want)
		}
	}
	if changes := p.Object("core/ConfigMap/app/changed").Changes; len(changes) != 1 || changes[0].To != "b" {
		t.Errorf("%+v", changes)
	}
	if p.ReadMode != preview.ReadOffline || p.Base.Revision != 0 || p.Against.ContentDigest != older.Package.ContentDigest {
		t.Errorf("%s %+v %+v", p.ReadMode, p.Base, p.Against)
	}
	if newer.Package.ContentDigest != p.ContentDigest {
		t.Error("the content digest depends on what is compared with")
	}
	seen := map[string]preview.Finding{}
	for _, f := range p.Findings {
		if f.Rule == "pod-privileged" {
			seen[f.Object] = f
		}
	}
	if f := seen["apps/Deployment/app/old"]; f.Severity != preview.Warning || f.AlsoIn != "1.0.0" || f.AcceptedIn != 0 {
		t.Errorf("what the older version has too: %+v", f)
	}
	if f := seen["apps/Deployment/app/new"]; f.Severity != preview.Critical || f.AlsoIn != "" {
		t.Errorf("what only the newer has: %+v", f)
	}

	path := filepath.Join(t.TempDir(), "plan.tgz")
	if err := planfile.Save(path, p, planfile.Options{}); err != nil {
		t.Fatal(err)
	}
	file, err := planfile.Load(path, planfile.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	loaded := file.Plan
	shown, _, err := engine.Verify(loaded, schemas)
	if err != nil {
		t.Fatal(err)
	}
	if shown.Digest != p.Digest || shown.Against.Reference != "" || shown.Request.Action != preview.RequestUpgrade {
		t.Errorf("%s %+v %+v", shown.Digest, shown.Against, shown.Request)
	}
	loaded.Against.Version = "0.9.0"
	if _, _, err := engine.Verify(loaded, schemas); err == nil {
		t.Error("the plan may say that it was compared with something else")
	}
}

// A path is as before only while each right of it is: its words do not name all of them.
func TestAPathIsAsBeforeWhileItsRightsAre(t *testing.T) {
	account := func(name string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": name, "namespace": "app"}}
	}
	given := func(kind, namespace, name, subject, rules string) []map[string]any {
		var parsed []any
		if err := json.Unmarshal([]byte(rules), &parsed); err != nil {
			t.Fatal(err)
		}
		meta := map[string]any{"name": name}
		if namespace != "" {
			meta["namespace"] = namespace
		}
		const version = "rbac.authorization.k8s.io/v1"
		return []map[string]any{
			{"apiVersion": version, "kind": kind, "metadata": meta, "rules": parsed},
			{"apiVersion": version, "kind": kind + "Binding", "metadata": meta, "roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
				"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": subject, "namespace": "app"}}},
		}
	}
	content := func(version, named string) planned.Content {
		return versionOf(t, version, slices.Concat([]map[string]any{account("op"), account("strong")},
			given("Role", "app", "makes", "op", `[{"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]}]`),
			given("Role", "app", "reads", "op", `[{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["`+named+`"]}]`),
			given("ClusterRole", "", "all", "strong", `[{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]`))...)
	}
	for named, also := range map[string]string{"token": "1.0.0", "other": ""} {
		p, err := engine.Compare([]planned.Content{content("1.1.0", named)}, []planned.Content{content("1.0.0", "token")}, preview.Baseline{Package: "op", Version: "1.0.0"},
			engine.Options{Release: preview.Release{Name: "op", Namespace: "app"}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas()})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(p.Findings, func(f preview.Finding) bool {
			return f.Rule == "access-reach" && f.Object == "core/ServiceAccount/app/op"
		})
		if at < 0 || p.Findings[at].AlsoIn != also || (p.Findings[at].Severity == preview.Critical) != (also == "") {
			t.Errorf("Secret %s: %+v", named, p.Findings)
		}
	}
}
