package preview_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const contested = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {example.com/a.b: x}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - {name: one, image: a, ports: [{containerPort: 80, name: http}, {containerPort: 443, protocol: TCP}], args: [x, "y]"]}
      - {name: two, image: b, resources: {limits: {cpu: 1}}}
`

func TestWithoutFields(t *testing.T) {
	tests := []struct {
		name    string
		paths   []string
		missing []string
	}{
		{"a field", []string{".spec.replicas"}, nil},
		{"a field whose name has dots", []string{".metadata.annotations.example.com/a.b"}, nil},
		{"a field of an item by its key", []string{`.spec.template.spec.containers[name="two"].image`}, nil},
		{"an item by two keys, one of them defaulted", []string{`.spec.template.spec.containers[name="one"].ports[containerPort=80,protocol="TCP"].name`}, nil},
		{"an item by its value", []string{`.spec.template.spec.containers[name="one"].args[="y]"]`}, nil},
		{"an item by its position", []string{`.spec.template.spec.containers[0].image`}, nil},
		{"a field that is not there", []string{".spec.paused"}, []string{".spec.paused"}},
		{"an item that is not there", []string{`.spec.template.spec.containers[name="three"].image`}, []string{`.spec.template.spec.containers[name="three"].image`}},
		{"what is no path", []string{"spec", "[", "[x", ".spec[0]", "", `.spec.template.spec.containers[name="one]`}, []string{"spec", "[", "[x", ".spec[0]", "", `.spec.template.spec.containers[name="one]`}},
	}
	docs, err := preview.Decode([]byte(contested))
	if err != nil {
		t.Fatal(err)
	}
	body := docs[0].(map[string]any)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := preview.CloneBody(body)
			out, missing := preview.WithoutFields(body, tt.paths)
			if !slices.Equal(missing, tt.missing) {
				t.Errorf("missing %q, want %q", missing, tt.missing)
			}
			if !reflect.DeepEqual(body, before) {
				t.Error("the object itself was changed")
			}
			if changed := !reflect.DeepEqual(out, body); changed != (tt.missing == nil) {
				t.Errorf("changed: %t\n%v", changed, out)
			}
			if tt.missing != nil {
				return
			}
			if _, again := preview.WithoutFields(out, tt.paths); !slices.Equal(again, tt.paths) {
				t.Errorf("%q still stands in %v", tt.paths, out)
			}
		})
	}
	out, _ := preview.WithoutFields(body, []string{`.spec.template.spec.containers[name="two"].resources.limits.cpu`})
	for _, container := range preview.Maps(preview.Map(out, "spec", "template", "spec"), "containers") {
		if _, has := container["resources"]; has {
			t.Errorf("an empty map stays behind: %v", container)
		}
	}
}

func TestUnsettledConflicts(t *testing.T) {
	conflict := []preview.Conflict{{Manager: "hpa", Path: ".spec.replicas"}}
	object := func(apiVersion string) *preview.Object {
		return &preview.Object{
			APIVersion: apiVersion, Kind: "X", Conflicts: conflict,
			Planned: map[string]any{"spec": map[string]any{"replicas": int64(2), "paused": true}},
		}
	}
	tests := []struct {
		name, conflicts, apiVersion string
		unsettled, sent             bool // whether .spec.replicas is
	}{
		{"fail settles none", preview.ConflictsFail, "apps/v1", true, true},
		{"a plan without the option fails", "", "apps/v1", true, true},
		{"take sends the field", preview.ConflictsTake, "apps/v1", false, true},
		{"leave does not send it", preview.ConflictsLeave, "apps/v1", false, false},
		{"permissions are not left to anybody", preview.ConflictsLeave, "rbac.authorization.k8s.io/v1", true, true},
		{"nor are webhooks", preview.ConflictsLeave, "admissionregistration.k8s.io/v1", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, o := &preview.Plan{Options: preview.Options{Conflicts: tt.conflicts}}, object(tt.apiVersion)
			if got := len(p.Unsettled(o)) > 0; got != tt.unsettled {
				t.Errorf("unsettled: %t", got)
			}
			if sent := preview.Value(p.Sent(o), "spec", "replicas") != nil; sent != tt.sent {
				t.Errorf("sent: %t", sent)
			}
		})
	}
}

// Both values of a contested field are shown, sensitive ones masked, with who wrote
// the live one and when; the evidence is the same whenever that was. One object can be
// decided otherwise than all.
func TestContestedFields(t *testing.T) {
	body := func(replicas int64, password string) map[string]any {
		return map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "op", "namespace": "app"},
			"spec": map[string]any{"replicas": replicas, "template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
				"name": "c", "env": []any{map[string]any{"name": "DB_PASSWORD", "value": password}},
			}}}}},
		}
	}
	live := body(3, "hunter2")
	live["metadata"].(map[string]any)["managedFields"] = []any{
		map[string]any{"manager": "hpa", "time": "2026-11-01T08:00:00Z", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:template": map[string]any{"f:spec": map[string]any{
			"f:containers": map[string]any{`k:{"name":"c"}`: map[string]any{"f:env": map[string]any{`k:{"name":"DB_PASSWORD"}`: map[string]any{"f:value": map[string]any{}}}}},
		}}}}},
		map[string]any{"manager": "hpa", "time": "2026-11-02T09:04:05Z", "subresource": "scale", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}},
		map[string]any{"manager": "other", "time": "2026-11-03T08:00:00Z", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}},
	}
	const id, password = "apps/Deployment/app/op", `.spec.template.spec.containers[name="c"].env[name="DB_PASSWORD"].value`
	for _, tt := range []struct {
		name    string
		options preview.Options
		want    []string
	}{
		{"fail", preview.Options{Conflicts: preview.ConflictsFail}, []string{
			password + ` is managed by hpa (2026-11-01 08:00 UTC): now and if taken over "(secret)"`,
			`.spec.replicas is managed by hpa (2026-11-02 09:04 UTC): now 3, if taken over 2`,
		}},
		{"take", preview.Options{Conflicts: preview.ConflictsTake}, []string{
			password + ` is taken over from hpa (2026-11-01 08:00 UTC): now and after "(secret)"`,
			`.spec.replicas is taken over from hpa (2026-11-02 09:04 UTC): now 3, after 2`,
		}},
		{"take of one object", preview.Options{Conflicts: preview.ConflictsFail, ConflictsOf: map[string]string{id: preview.ConflictsTake}}, []string{
			password + ` is taken over from hpa (2026-11-01 08:00 UTC): now and after "(secret)"`,
			`.spec.replicas is taken over from hpa (2026-11-02 09:04 UTC): now 3, after 2`,
		}},
		{"leave of one object", preview.Options{Conflicts: preview.ConflictsTake, ConflictsOf: map[string]string{id: preview.ConflictsLeave}}, []string{
			password + ` is not sent: it is left to hpa (2026-11-01 08:00 UTC): now and in the package "(secret)"`,
			`.spec.replicas is not sent: it is left to hpa (2026-11-02 09:04 UTC): now 3, in the package 2`,
		}},
		{"a decision about another object", preview.Options{Conflicts: preview.ConflictsFail, ConflictsOf: map[string]string{id + "2": preview.ConflictsTake}}, []string{
			password + ` is managed by hpa (2026-11-01 08:00 UTC): now and if taken over "(secret)"`,
			`.spec.replicas is managed by hpa (2026-11-02 09:04 UTC): now 3, if taken over 2`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &preview.Plan{Options: tt.options, Objects: []preview.Object{{
				ID: id, APIVersion: "apps/v1", Kind: "Deployment", Namespace: "app", Name: "op", LiveBody: live, Planned: body(2, "hunter1"),
				Conflicts: []preview.Conflict{{Manager: "hpa", Path: password}, {Manager: "hpa", Path: ".spec.replicas"}},
			}}}
			p.SetContested()
			o := &p.Objects[0]
			if got := p.Contested(o); !slices.Equal(got, tt.want) {
				t.Errorf("got %q", got)
			}
			evidence := strings.Join(p.ContestedEvidence(o), "\n")
			if strings.Contains(evidence, "2026") || strings.Contains(evidence, "hunter") || !strings.Contains(evidence, "now 3") {
				t.Errorf("the evidence is %s", evidence)
			}
			settled := strings.HasPrefix(o.Contested[0].Settled, preview.ConflictsTake) || o.Contested[0].Settled == preview.ConflictsLeave
			if settled == strings.Contains(tt.want[0], "is managed by") {
				t.Errorf("settled is %q", o.Contested[0].Settled)
			}
		})
	}
}

func FuzzWithoutFields(f *testing.F) {
	docs, err := preview.Decode([]byte(contested))
	if err != nil {
		f.Fatal(err)
	}
	body := docs[0].(map[string]any)
	for _, path := range []string{".spec.replicas", `.spec.template.spec.containers[name="two"].image`, "[", "[=", "[a=,]", ".metadata.annotations.example.com/a.b", "[0][1]"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		out, missing := preview.WithoutFields(body, []string{path})
		if (len(missing) > 0) != reflect.DeepEqual(out, body) {
			t.Errorf("%q: missing %q, and %v", path, missing, out)
		}
	})
}
