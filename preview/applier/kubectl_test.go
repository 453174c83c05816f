package applier

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// managed is an object with one entry of managedFields, and labels.
func managed(manager, operation, time string, annotated bool, labels map[string]any) map[string]any {
	fields := map[string]any{"f:data": map[string]any{}}
	if annotated {
		fields["f:metadata"] = map[string]any{"f:annotations": map[string]any{".": map[string]any{}, "f:" + preview.LastApplied: map[string]any{}}}
	}
	entry := map[string]any{"manager": manager, "operation": operation, "time": time, "apiVersion": "v1", "fieldsV1": fields}
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "namespace": "shop", "uid": "1", "labels": labels, "managedFields": []any{entry}},
	}
}

func TestKubectlIsFoundByItsNewestMark(t *testing.T) {
	client := managed("kubectl-client-side-apply", "Update", "2026-01-01T00:00:00Z", true, nil)
	server := managed("kubectl", "Apply", "2026-01-02T00:00:00Z", false, nil)
	for name, tt := range map[string]struct {
		live          []map[string]any
		always        bool
		method        preview.WriteMethod
		manager, also string
	}{
		"nothing is there":                   {live: []map[string]any{nil}},
		"nothing is there, and it is chosen": {live: []map[string]any{nil}, always: true, method: preview.MethodThreeWay, manager: kubectlClientSide},
		"client side":                        {live: []map[string]any{nil, client}, method: preview.MethodThreeWay, manager: kubectlClientSide},
		"server side last":                   {live: []map[string]any{server, client}, method: preview.MethodApply, manager: kubectlServerSide},
		"a field manager of a pipeline":      {live: []map[string]any{managed("ci", "Update", "2026-01-03T00:00:00Z", true, nil), server}, method: preview.MethodThreeWay, manager: "ci"},
		"Argo CD applied it":                 {live: []map[string]any{managed(argoManager, "Update", "2026-01-03T00:00:00Z", true, nil)}},
		"created by kubectl":                 {live: []map[string]any{managed("kubectl-create", "Update", "2026-01-03T00:00:00Z", false, nil)}},
		"another tool's, by kubectl too":     {live: []map[string]any{managed("kubectl", "Apply", "2026-01-03T00:00:00Z", false, map[string]any{"kapp.k14s.io/app": "1"})}},
		"one of them is another tool's": {
			live:   []map[string]any{managed("kubectl", "Apply", "2026-01-03T00:00:00Z", false, map[string]any{"kapp.k14s.io/app": "1"}), client},
			method: preview.MethodThreeWay, manager: kubectlClientSide, also: "Carvel app 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []Rendered
			for _, live := range tt.live {
				objects = append(objects, Rendered{Ref: preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "a"}, Live: live})
			}
			found := FindKubectl(preview.Release{Name: "app", Namespace: "shop"}, objects, tt.always)
			if (found != nil) != (tt.manager != "") {
				t.Fatalf("found %+v", found)
			}
			if found == nil {
				return
			}
			about := found.Describe()
			if about.Method != tt.method || about.Manager != tt.manager || (len(about.Limits) == 1) != (tt.also != "") {
				t.Errorf("it is %+v", about)
			}
			if tt.also != "" && about.Limits[0].Detail != tt.also {
				t.Errorf("it has the limits %+v", about.Limits)
			}
		})
	}
}

func TestKubectlFailsOnAnAnnotationThatIsNoObject(t *testing.T) {
	ref := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	for name, tt := range map[string]struct {
		annotation, data string
		reason           preview.Reason
	}{
		"an object":     {annotation: `{"data":{"a":"1"}}`},
		"none":          {},
		"cut off":       {annotation: `{"data":`, reason: preview.ReasonOther},
		"a list":        {annotation: `[]`, reason: preview.ReasonOther},
		"too much data": {data: strings.Repeat("x", maxAnnotations), reason: preview.ReasonInvalid},
	} {
		body := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "shop"}, "data": map[string]any{"a": tt.data}}
		live := managed(kubectlClientSide, "Update", "", true, nil)
		preview.SetMetadata(live, "annotations", preview.LastApplied, tt.annotation)
		k := FindKubectl(preview.Release{}, []Rendered{{Ref: ref, Body: body, Live: live}}, true)
		got, err := k.Request(&preview.Object{ID: ref.ID(), LiveBody: live, Planned: body}, body)
		if err != nil || (got.Refused != nil) != (tt.reason != "") || got.Refused != nil && got.Refused.Reason != tt.reason {
			t.Errorf("%s: %+v, %v", name, got.Refused, err)
		}
	}
}
