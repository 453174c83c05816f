package planned_test

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// Another tool sends nulls, stringData and status; this program sends none of them.
func TestWhatAnotherToolSendsIsKeptAsItWasRendered(t *testing.T) {
	body := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a", "creationTimestamp": nil},
		"stringData": map[string]any{"k": "v"}, "type": nil,
	}
	material := planned.Material{
		Info: format.Info{Package: "a"}, Output: &format.Output{Objects: []format.RenderedObject{{Body: body}}},
		Sources: []preview.Source{{Kind: "directory", Digest: preview.HashBytes(nil)}},
	}
	for _, other := range []bool{false, true} {
		if other {
			material.Mark = func(_ preview.Origin, body map[string]any) {
				preview.Map(body, "metadata")["labels"] = map[string]any{"by": "it"}
			}
		}
		content, err := planned.Prepare(preview.Release{Name: "a", Namespace: "ns"}, material)
		if err != nil {
			t.Fatal(err)
		}
		o := &content.Objects[0]
		if o.Planned["stringData"] != nil || preview.String(o.Planned, "data", "k") != "dg==" {
			t.Errorf("planned: %v", o.Planned)
		}
		if !other {
			if o.Raw != nil || len(content.Package.Notes) == 0 {
				t.Errorf("raw: %v, notes: %v", o.Raw, content.Package.Notes)
			}
			continue
		}
		_, null := o.Raw["type"]
		if !null || preview.String(o.Raw, "stringData", "k") != "v" || preview.String(o.Raw, "metadata", "labels", "by") != "it" ||
			preview.String(o.Raw, "metadata", "namespace") != "ns" || len(content.Package.Notes) > 0 {
			t.Errorf("raw: %v, notes: %v", o.Raw, content.Package.Notes)
		}
	}
}
