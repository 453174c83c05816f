package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// helm.sh/resource-policy keeps what Helm rendered, and says so; in content of
// another format it means nothing.
func TestOnlyWhatHelmRenderedIsKeptByItsPolicy(t *testing.T) {
	content := plainContent(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, annotations: {helm.sh/resource-policy: keep}}, data: {a: b}}\n")
	sealed, err := json.Marshal(content.Objects[0].Planned)
	if err != nil {
		t.Fatal(err)
	}
	client := recorded(t, "helm-policy", string(sealed)).cluster("")
	for format, want := range map[string]preview.Action{"plain/v1": preview.ActionDelete, "registry/v1": preview.ActionDelete, "helm": preview.ActionKeep, "": preview.ActionKeep} {
		opts := engine.Options{
			Tool: "test", Release: plainRelease, Request: preview.Request{Action: preview.RequestUninstall}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
			Installed: engine.Installed{
				Base:    preview.Base{Revision: 1, Digest: preview.HashBytes([]byte("1"))},
				Members: []engine.InstalledObject{{Ref: content.Objects[0].Ref(), Package: "widgets", Format: format}},
			},
		}
		p, err := engine.Build(t.Context(), nil, client, opts)
		if err != nil {
			t.Fatal(err)
		}
		o := p.Object(content.Objects[0].ID)
		if o == nil || o.Action != want {
			t.Errorf("%q: got %+v, want %s", format, o, want)
			continue
		}
		if f := findingOf(p, "object-kept/"+o.ID); (f != nil) != (want == preview.ActionKeep) || f != nil && f.Severity != preview.Info {
			t.Errorf("%q: the finding is %+v", format, f)
		}
		again, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas())
		if err != nil || again.Digest != p.Digest {
			t.Errorf("%q: planned again: %v, %v", format, err, engine.FactChanges(p, again, k8s.NewSchemas()))
		}
	}
}
