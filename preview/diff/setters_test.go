package diff

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func managedEntry(manager, at, subresource string, fields map[string]any) map[string]any {
	return map[string]any{"manager": manager, "operation": "Update", "time": at, "subresource": subresource, "fieldsType": "FieldsV1", "fieldsV1": fields}
}

func TestSetFieldsTellWhoSetThem(t *testing.T) {
	none := map[string]any{}
	live := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{
			"name": "op", "annotations": map[string]any{"deployment.kubernetes.io/revision": "3", "team": "db"},
			"managedFields": []any{
				managedEntry("helm", "2026-03-02T08:00:00Z", "", map[string]any{"f:spec": map[string]any{"f:replicas": none, "f:template": map[string]any{"f:spec": map[string]any{
					"f:containers": map[string]any{`k:{"name":"op"}`: map[string]any{".": none, "f:name": none, "f:image": none, "f:env": map[string]any{
						`k:{"name":"DB_PASSWORD"}`: map[string]any{".": none, "f:name": none, "f:value": none},
					}}}}}}}),
				managedEntry("hpa", "2026-04-02T08:00:00Z", "scale", map[string]any{"f:spec": map[string]any{"f:replicas": none}}),
				managedEntry("controller", "2026-05-02T08:00:00Z", "status", map[string]any{"f:status": map[string]any{"f:replicas": none}}),
				managedEntry("controller", "2026-05-02T08:00:00Z", "", map[string]any{"f:metadata": map[string]any{"f:annotations": map[string]any{"f:deployment.kubernetes.io/revision": none}}}),
				managedEntry("kubectl-annotate", "", "", map[string]any{"f:metadata": map[string]any{"f:annotations": map[string]any{"f:team": none}}}),
				"no entry at all", managedEntry("odd", "", "", map[string]any{"f": "broken"}),
			},
		},
		"spec": map[string]any{"replicas": int64(3), "template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
			"name": "op", "image": "op:1", "env": []any{map[string]any{"name": "DB_PASSWORD", "value": "hunter2"}},
		}}}}},
		"status": map[string]any{"replicas": int64(3)},
	}
	var got []string
	for _, f := range SetFields(&preview.Object{LiveBody: live}) {
		got = append(got, f.Path+" "+f.Manager)
		if f.Value == "hunter2" {
			t.Error("a sensitive value is not masked")
		}
	}
	want := []string{
		".metadata.annotations.team kubectl-annotate", ".spec.replicas hpa",
		".spec.template.spec.containers[name=op].env[name=DB_PASSWORD].name helm", ".spec.template.spec.containers[name=op].env[name=DB_PASSWORD].value helm",
		".spec.template.spec.containers[name=op].image helm", ".spec.template.spec.containers[name=op].name helm",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestSetFieldsOfASecretHaveNoValues(t *testing.T) {
	live := map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"key": "aHVudGVyMg=="}, "metadata": map[string]any{
		"name": "s", "managedFields": []any{managedEntry("helm", "", "", map[string]any{"f:data": map[string]any{"f:key": map[string]any{}}})},
	}}
	fields := SetFields(&preview.Object{LiveBody: live})
	if len(fields) != 1 || fields[0].Path != ".data.key" || fields[0].Value == "aHVudGVyMg==" {
		t.Errorf("got %+v, want one masked field", fields)
	}
}
