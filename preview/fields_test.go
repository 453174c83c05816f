package preview_test

import (
	"reflect"
	"slices"
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
