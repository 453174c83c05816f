package engine

import (
	"reflect"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
)

// The results of checks are Facts by their JSON: a plan that another build of this
// program made is the same plan only while that stays as it is.
func TestRecordsKeepTheirJSON(t *testing.T) {
	same, other := true, false
	release := map[string]any{"name": "a", "namespace": "b"}
	for name, tt := range map[string]struct {
		record any
		want   map[string]any
	}{
		"an installed release": {ownerRecord{State: ownerThere, Same: &same, Release: &recordRelease{Name: "a", Namespace: "b"}},
			map[string]any{"state": "installed", "same": true, "release": release}},
		"a release that is gone": {func() ownerRecord {
			record := ownerRecord{State: ownerGone, Same: &other, Release: &recordRelease{Name: "a", Namespace: "b"}}
			record.add(owners.Controllers{})
			return record
		}(), map[string]any{"state": "gone", "same": false, "release": release, "owners": []any{}, "hidden": []any{}}},
		"another tool": {func() (record ownerRecord) {
			record.add(owners.Controllers{Hidden: []string{"x"}, Objects: []map[string]any{{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "n", "namespace": "s", "uid": "u"},
			}}})
			return record
		}(), map[string]any{"hidden": []any{"x"}, "owners": []any{
			map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "s", "name": "n", "uid": "u"},
		}}},
		"sharers":                 {sharedWithRecord{Sharers: []string{"release <a>"}}, map[string]any{"hidden": false, "sharers": []any{"release <a>"}}},
		"sharers that are hidden": {sharedWithRecord{Hidden: true}, map[string]any{"hidden": true}},
		"records":                 {unreadableRecord{Records: []string{"r"}}, map[string]any{"records": []any{"r"}}},
		"nothing in a namespace":  {contentsRecord{Objects: []string{}}, map[string]any{"objects": []any{}}},
		"operands":                {operandsRecord{Operands: "no objects"}, map[string]any{"operands": "no objects"}},
		"a host":                  {hostRecord{}, map[string]any{"loads": false}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &preview.Plan{}
			to := newRecorder(p, nil, nil)
			if err := to.Note("Kind", "name", tt.record); err != nil {
				t.Fatal(err)
			}
			tt.want["apiVersion"], tt.want["kind"], tt.want["metadata"] = preview.APIVersion, "Kind", map[string]any{"name": "name"}
			if !reflect.DeepEqual(p.Reads[0].Body, tt.want) {
				t.Errorf("recorded %v, want %v", p.Reads[0].Body, tt.want)
			}
			again := reflect.New(reflect.TypeOf(tt.record))
			if !to.Record("Kind", "name", again.Interface()) || !reflect.DeepEqual(again.Elem().Interface(), tt.record) {
				t.Errorf("read back %+v, want %+v", again.Elem().Interface(), tt.record)
			}
		})
	}
}

// A field that is not what is recorded counts as one that is not there: a record
// in a plan file is content of others.
func TestForgedRecordsAreReadAsFarAsTheyGo(t *testing.T) {
	p := &preview.Plan{Reads: []preview.Read{{ID: ownRef(ownerKind, "x").ID(), Body: map[string]any{
		"apiVersion": preview.APIVersion, "kind": ownerKind, "metadata": map[string]any{"name": "x"}, "state": "installed", "release": "none", "same": 1,
	}}}}
	for name, seen := range map[string]recordReader{"indexed": newRecords(p), "searched": recordSearch{p}} {
		if owner, ok := recordedOwner(seen, "x").owningRelease(); !ok || owner != (Owner{}) {
			t.Errorf("%s: %+v, %t", name, owner, ok)
		}
	}
	if err := derive(p, k8s.NewSchemas()); err != nil {
		t.Error(err)
	}
}
