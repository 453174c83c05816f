package preview

import (
	"strings"
	"testing"
)

func TestReserved(t *testing.T) {
	shop := Release{Name: "shop", Namespace: "shops"}
	object := func(apiVersion, kind, name string) map[string]any {
		return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
	}
	with := func(body map[string]any, field, key, value string) map[string]any {
		body["metadata"].(map[string]any)[field] = map[string]any{key: value}
		return body
	}
	record := object("v1", "Secret", "other")
	record["type"] = TypeRecord
	cases := map[string]struct {
		body map[string]any
		want string
	}{
		"a record":                 {object("v1", "Secret", "kubectl-operator.mongodb"), "the name kubectl-operator.mongodb"},
		"a part of a record":       {object("v1", "Secret", "kubectl-operator.mongodb.v1.1"), "the name"},
		"a lock":                   {object("coordination.k8s.io/v1", "Lease", "kubectl-operator.mongodb"), "the name"},
		"a lock of an old version": {object("coordination.k8s.io/v1beta1", "Lease", "kubectl-operator.mongodb"), "the name"},
		"a record by its type":     {record, "the type kubectl-operator/record"},
		"another Lease":            {object("coordination.k8s.io/v1", "Lease", "leader"), ""},
		"another kind of Secret":   {object("example.com/v1", "Secret", "kubectl-operator.mongodb"), ""},
		"a ConfigMap":              {object("v1", "ConfigMap", "kubectl-operator.mongodb"), ""},
		"a name that begins alike": {object("v1", "Secret", "kubectl-operator"), ""},
		"another label":            {with(object("v1", "ConfigMap", "a"), "labels", "app", "x"), ""},
		"an empty mark":            {with(object("v1", "ConfigMap", "a"), "labels", LabelSetID, ""), "the label " + LabelSetID},
	}
	for _, key := range reservedMarks {
		cases["label "+key] = struct {
			body map[string]any
			want string
		}{with(object("v1", "ConfigMap", "a"), "labels", key, "x"), "the label " + key}
		cases["annotation "+key] = struct {
			body map[string]any
			want string
		}{with(object("v1", "ConfigMap", "a"), "annotations", key, "x"), "the annotation " + key}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Reserved(c.body)
			if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			marked := CloneBody(c.body)
			if Mark(marked, shop); c.want == "" && ReservedInMember(marked, shop) != "" {
				t.Errorf("with the marks of its release: %q", ReservedInMember(marked, shop))
			}
			if ReservedInMember(marked, Release{Name: "shop", Namespace: "elsewhere"}) == "" {
				t.Error("the marks of another release are taken")
			}
		})
	}
	made := object("v1", "Namespace", "shops")
	if Mark(made, shop); ReservedInMember(made, shop) != "" || !CreatedBy(made, shop) || CreatedBy(made, Release{Name: "shop", Namespace: "x"}) {
		t.Errorf("a Namespace that its release marked: %v", made)
	}
}
