package install_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// The caBundles of two certificates.
const (
	firstCA  = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJRVENCNmFBREFnRUNBZ0VCTUFvR0NDcUdTTTQ5QkFNQ01CQXhEakFNQmdOVkJBTVRCV1pwY25OME1DQVgKRFRJMk1ERXdNVEF3TURBd01Gb1lEekl4TWpZd01UQXhNREF3TURBd1dqQVFNUTR3REFZRFZRUURFd1ZtYVhKegpkREJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEwSUFCT2F0RlRYb0ZRQjc3TGZoYXd5RFkvS2xHbC9oCm9WWEN0WG1CejlQcmhwMzFNQjlSei9SYVlMKzVvbUhnZjBrTm1SdXhhSXZQUHFZd0REQmNHRHZ6M2Iyak1qQXcKTUE4R0ExVWRFd0VCL3dRRk1BTUJBZjh3SFFZRFZSME9CQllFRkJieGs2ZWFicFlSY3hSbGhjL1hMUzJybUkyQgpNQW9HQ0NxR1NNNDlCQU1DQTBjQU1FUUNJQWhWelJKS1c3b3gwY2NHMFcxZ2VkNkZOczNEMTJIOEFmenZhUGc0CmNyZm1BaUFkUExKVnJQN21JeG5vTSt4SEhodURNaTBGWjBFWlpuYm9WMytJS1ZyNC9BPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
	secondCA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJRekNCNjZBREFnRUNBZ0VCTUFvR0NDcUdTTTQ5QkFNQ01CRXhEekFOQmdOVkJBTVRCbk5sWTI5dVpEQWcKRncweU5qQXhNREV3TURBd01EQmFHQTh5TVRJMk1ERXdNVEF3TURBd01Gb3dFVEVQTUEwR0ExVUVBeE1HYzJWagpiMjVrTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFZlhjeTI4Ukp0TlU4SFdsUDI4RWs3RU45CnYvbG9sTklkcVlKSmJFYkpCU0ltZ3Q1c3RZc1M4YXdreWM5dFIvNExTTlFlYWFkbUJYU2g1dndzK1pENHY2TXkKTURBd0R3WURWUjBUQVFIL0JBVXdBd0VCL3pBZEJnTlZIUTRFRmdRVW5oRFZ4Y21kaktCdXg0eDJnYWxpTUZJMgpuaDR3Q2dZSUtvWkl6ajBFQXdJRFJ3QXdSQUlnTFE2M05JVE1EWVlBTnJ0Q2pWOUJTdVFuSjQyblN2SDI0Q21CCmVmT2MyaG9DSUEzdm50eFRDY2FyUzk1Wm04ZEh1YWNpeHNHVzdEU1VVelBVaVg3NkI1dC8KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
)

// leafCount counts what [TestSlowEveryLeafIsSeen] tried.
type leafCount struct {
	objects, leaves, volatile, refused int
	kinds                              map[string]bool
	places                             map[string]int // how often a volatile field was tried
	schemas                            *k8s.Schemas   // decoding them takes longer than a leaf
}

// Whatever a plan sends is in what the review compares, and each leaf of it counts by
// itself: another value is in the list of changes, in the digests and hashes that are
// approved, and drift where it is edited. It is tried with random objects of all built-in
// kinds, which also set the fields that controllers or the API server change by
// themselves, and with the manifests of the corpus: a sample in "make test", all in "make
// soak".
func TestSlowEveryLeafIsSeen(t *testing.T) {
	slowtest.Skip(t, "changing every leaf of every kind")
	count := &leafCount{kinds: map[string]bool{}, places: map[string]int{}, schemas: k8s.NewSchemas()}
	from, to := slowtest.Runs(t, 1)
	for run := from; run < to; run++ {
		rng := rand.New(rand.NewPCG(uint64(run), 37))
		for _, body := range randomObjects(rng) {
			count.object(t, rng, body, math.MaxInt-1)
		}
	}
	rng := rand.New(rand.NewPCG(1, 37))
	for i, body := range corpusObjects(t) {
		if slowtest.InSample(i, 50) {
			count.object(t, rng, body, corpusLeaves)
		}
	}
	t.Logf("%d objects of %d kinds, %d leaves, %d of them volatile; %d objects no plan takes", count.objects, len(count.kinds), count.leaves, count.volatile, count.refused)
	if count.leaves < 1000 || len(count.kinds) < 150 || count.volatile < 30 {
		t.Error("these are too few")
	}
}

var leafRelease = preview.Release{Name: "leaves", Namespace: "leaves"}

func leafContent(body map[string]any) (planned.Content, error) {
	return planned.Prepare(leafRelease, planned.Material{
		Info: format.Info{Package: "leaves"}, Output: &format.Output{Objects: []format.RenderedObject{{Body: preview.CloneBody(body)}}},
		Sources: []preview.Source{{Kind: "directory", Digest: preview.HashBytes(nil)}},
	})
}

func (c *leafCount) plan(t *testing.T, older, newer planned.Content) *preview.Plan {
	t.Helper()
	// A plan changes the objects of its contents.
	older.Objects, newer.Objects = slices.Clone(older.Objects), slices.Clone(newer.Objects)
	p, err := engine.Compare([]planned.Content{newer}, []planned.Content{older}, preview.Baseline{Package: "leaves"}, engine.Options{
		Release: leafRelease, Apply: preview.DefaultOptions(), Schemas: c.schemas, Request: preview.Request{Action: preview.RequestUpgrade},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sampledLeaves is about how many leaves of an object are tried outside of a soak, and
// sampledVolatile of how many objects each volatile field. A soak takes all leaves of random
// objects, and corpusLeaves of the corpus: large CRDs have 15,000 alike.
const sampledLeaves, sampledVolatile, corpusLeaves = 12, 3, 300

// object tries one object: as planned, and with another value of its leaves, one by one.
// most is about how many leaves a soak tries.
func (c *leafCount) object(t *testing.T, rng *rand.Rand, body map[string]any, most int) {
	older, err := leafContent(body)
	if err != nil || len(older.Objects) != 1 {
		c.refused++
		return
	}
	o := older.Objects[0]
	c.objects++
	c.kinds[o.APIVersion+"/"+o.Kind] = true
	schemas := c.schemas
	live := storedBy(t, schemas, &o)
	o.LiveBody, o.Action = live, preview.ActionUpdate
	_, compared := o.Compared(live)
	offline := c.plan(t, older, older)
	if missing := notIn(o.Planned, compared, ""); missing != "" {
		t.Errorf("%s: %s is sent and not compared", o.ID, missing)
	}
	same, _, err := diff.ResultHash(o.Compared(live))
	if err != nil {
		t.Fatal(err)
	}
	fingerprint, err := o.Fingerprint(schemas, live)
	if err != nil {
		t.Fatal(err)
	}
	if verdict, notes, err := install.Compare(schemas, install.WrittenObject{Sealed: o.Planned, Before: live, Live: live}); err != nil || verdict != install.Same {
		t.Errorf("%s as it was written: %s %v %v", o.ID, verdict, notes, err)
	}
	steady := preview.WithoutVolatile(o.Planned)
	places := leafPlaces(o.Planned, nil)
	if !slowtest.Soak() {
		most = sampledLeaves
	}
	nth := 1 + len(places)/most
	first := rng.IntN(nth)
	for i, place := range places {
		isVolatile := notIn(cutTo(o.Planned, place), steady, "") != ""
		if identifies(place) || !isVolatile && i%nth != first {
			continue
		}
		if isVolatile {
			if c.places[fmt.Sprint(place)]++; c.places[fmt.Sprint(place)] > sampledVolatile && !slowtest.Soak() {
				continue
			}
			c.volatile++
		}
		c.leaves++
		name := fmt.Sprintf("%s %v", o.ID, place)
		newer := older
		newer.Objects = slices.Clone(older.Objects)
		n := &newer.Objects[0]
		n.Planned = preview.CloneBody(n.Planned)
		changeLeaf(n.Planned, place)
		if n.Digest, err = preview.HashObject(n.Planned, ""); err != nil {
			t.Fatal(err)
		}
		p := c.plan(t, older, newer)
		if len(p.Objects[0].Changes) == 0 || p.Digest == offline.Digest {
			t.Errorf("%s: compared offline, %d changes, the same digest: %t", name, len(p.Objects[0].Changes), p.Digest == offline.Digest)
		}
		changed := preview.CloneBody(live)
		changeLeaf(changed, place)
		n.LiveBody, n.Action = live, preview.ActionUpdate
		hash, _, err := diff.ResultHash(n.Compared(changed))
		if changes := diff.Changes(n.Compared(changed)); err != nil || len(changes) == 0 || hash == same {
			t.Errorf("%s: %d changes, %v, the same hash: %t", name, len(changes), err, hash == same)
		}
		if moved, err := o.Fingerprint(schemas, changed); err != nil || moved == fingerprint {
			t.Errorf("%s: an edit makes no plan stale, %v", name, err)
		}
		if verdict, _, err := install.Compare(schemas, install.WrittenObject{Sealed: o.Planned, Before: changed, Live: changed}); err != nil || verdict == install.Same {
			t.Errorf("%s: an edit is no drift, %v", name, err)
		}
	}
}

// leafManifests are objects whose fields the API server and controllers fill in, with
// such fields set, and others left to them.
func leafManifests() []map[string]any {
	object := func(apiVersion, kind, name string, annotations, rest map[string]any) map[string]any {
		rest["apiVersion"], rest["kind"], rest["metadata"] = apiVersion, kind, map[string]any{"name": name, "annotations": annotations, "labels": map[string]any{"l": "v"}}
		return rest
	}
	hook := func(name string, client map[string]any) map[string]any {
		client["url"] = "https://hook.example.com/" + name
		return map[string]any{
			"name": name + ".unseen.example.com", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "failurePolicy": "Ignore", "clientConfig": client,
			"rules": []any{map[string]any{"apiGroups": []any{"unseen.example.com"}, "apiVersions": []any{"v1"}, "resources": []any{"rels"}, "operations": []any{"CREATE"}}},
		}
	}
	return []map[string]any{
		object("v1", "Service", "unseen", nil, map[string]any{"spec": map[string]any{"type": "NodePort", "selector": map[string]any{"app": "d"}, "ports": []any{
			map[string]any{"name": "a", "port": int64(80), "nodePort": int64(31401)}, map[string]any{"name": "b", "port": int64(81)},
		}}}),
		object("v1", "PersistentVolume", "unseen", map[string]any{"pv.kubernetes.io/provisioned-by": "csi"}, map[string]any{"spec": map[string]any{
			"capacity": map[string]any{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"}, "storageClassName": "manual", "nfs": map[string]any{"server": "s", "path": "/x"},
			"claimRef": map[string]any{"name": "a", "namespace": "unseen"},
		}}),
		object("apps/v1", "Deployment", "unseen", nil, map[string]any{"spec": map[string]any{
			"replicas": int64(0), "selector": map[string]any{"matchLabels": map[string]any{"app": "d"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "d"}, "annotations": map[string]any{"kubectl.kubernetes.io/restartedAt": "monday"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "example.com/a:1", "env": []any{map[string]any{"name": "E", "value": "v"}}}}},
			},
		}}),
		object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "unseen", nil, map[string]any{
			"webhooks": []any{hook("a", map[string]any{"caBundle": firstCA}), hook("b", map[string]any{})},
		}),
		object("apiregistration.k8s.io/v1", "APIService", "v1.unseen.example.com", nil, map[string]any{"spec": map[string]any{
			"group": "unseen.example.com", "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100), "caBundle": firstCA,
			"service": map[string]any{"name": "unseen", "namespace": "unseen", "port": int64(80)},
		}}),
	}
}

// The review of the upgrade shows every change that a real API server makes for another
// value of a leaf, and status sees it once it is there.
func TestClusterNothingAnApplyChangesIsUnseen(t *testing.T) {
	w := newWorldIn(t, sandboxtest.Borrow(t), "unseen") // its APIService answers nothing, so that no namespace could be deleted
	manifests := leafManifests()
	content := func() planned.Content {
		var texts []string
		for _, body := range manifests {
			texts = append(texts, diff.Text(body))
		}
		return w.content(t, "1.0.0", texts...)
	}
	first := content()
	w.applyQuietly(t, w.plan(t, first))
	base := w.plan(t, content())
	if base.Summary.Changes() {
		t.Fatalf("the same content again: %+v", base.Summary)
	}
	tried, refused := 0, 0
	for i, body := range manifests {
		places := leafPlaces(body, nil)
		for n, place := range places {
			if identifies(place) || slices.Contains(place, any("storage")) || !slowtest.InSample(n, 3) && notIn(cutTo(body, place), preview.WithoutVolatile(body), "") == "" {
				continue
			}
			manifests[i] = preview.CloneBody(body)
			changeLeaf(manifests[i], place)
			p := w.plan(t, content())
			manifests[i] = body
			o := p.Object(first.Objects[slices.IndexFunc(first.Objects, func(o preview.Object) bool { return o.Kind == body["kind"] })].ID)
			if o.Action != preview.ActionUpdate || o.ResultBody == nil {
				refused++
				continue
			}
			tried++
			name := fmt.Sprintf("%s %v", o.ID, place)
			if p.Digest == base.Digest || len(o.Changes) == 0 {
				t.Errorf("%s: %d changes, the same digest: %t", name, len(o.Changes), p.Digest == base.Digest)
			}
			// Nothing but what only the server writes is left out here.
			all := diff.Changes(preview.WithoutVolatile(o.LiveBody, o.LiveBody), preview.WithoutVolatile(o.ResultBody, o.ResultBody))
			for _, c := range all {
				if !slices.ContainsFunc(o.Changes, func(shown preview.Change) bool { return shown.Path == c.Path }) && !strings.HasSuffix(c.Path, ".nodePort") {
					t.Errorf("%s: the review lacks %s %s", name, c.Op, c.Path)
				}
			}
			verdict, _, err := install.Compare(w.schemas, install.WrittenObject{Sealed: base.Object(o.ID).Planned, Before: o.ResultBody, Live: o.ResultBody})
			if err != nil || verdict == install.Same {
				t.Errorf("%s: an edit is no drift, %v", name, err)
			}
		}
	}
	t.Logf("%d leaves, %d that the API server does not take", tried, refused)
	if tried < 15 {
		t.Error("these are too few")
	}
}

// storedBy returns a planned object as the API server has it after the apply, and after
// controllers have filled in what the plan does not set.
func storedBy(t *testing.T, schemas *k8s.Schemas, o *preview.Object) map[string]any {
	t.Helper()
	live := preview.CloneBody(o.Planned)
	set, err := preview.PlannedFields(schemas, o.Planned)
	if err != nil {
		t.Fatal(err)
	}
	data, err := set.ToJSON()
	if err != nil {
		t.Fatal(err)
	}
	fields, err := preview.DecodeJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	meta := preview.Map(live, "metadata")
	meta["uid"], meta["resourceVersion"] = "u", "1"
	meta["managedFields"] = []any{map[string]any{"manager": preview.FieldManager, "operation": "Apply", "apiVersion": o.APIVersion, "fieldsType": "FieldsV1", "fieldsV1": fields}}
	annotations := preview.Map(meta, "annotations")
	if annotations == nil {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	for _, key := range []string{"deployment.kubernetes.io/revision", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/selected-node"} {
		if _, has := annotations[key]; !has {
			annotations[key] = "of a controller"
		}
	}
	live["status"] = map[string]any{"phase": "Ready"}
	return live
}

// identifies reports whether a leaf says which object it is.
func identifies(place []any) bool {
	path := fmt.Sprint(place...)
	return slices.Contains([]string{"apiVersion", "kind", "metadataname", "metadatanamespace"}, path) || strings.Contains(path, "metadatalabels"+preview.LabelPartOf) ||
		strings.Contains(path, "kubectl-operator")
}

// leafPlaces returns the map keys and indexes of every leaf in a value.
func leafPlaces(v any, at []any) [][]any {
	var out [][]any
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, leafPlaces(v[key], append(at[:len(at):len(at)], key))...)
		}
		return out
	case []any:
		for i, item := range v {
			out = append(out, leafPlaces(item, append(at[:len(at):len(at)], i))...)
		}
		return out
	}
	return [][]any{at}
}

// changeLeaf gives the leaf at a place another value.
func changeLeaf(v any, place []any) {
	another := func(v any) any {
		switch v := v.(type) {
		case string:
			if v == firstCA {
				return secondCA
			}
			if _, err := base64.StdEncoding.DecodeString(v); err == nil && v != "eA==" {
				return "eA=="
			}
			return v + "x"
		case int64:
			return v + 1
		case float64:
			return v + 1
		case bool:
			return !v
		}
		return "was null"
	}
	for i, key := range place {
		last := i == len(place)-1
		switch key := key.(type) {
		case string:
			m := v.(map[string]any)
			if last {
				m[key] = another(m[key])
			}
			v = m[key]
		case int:
			list := v.([]any)
			if last {
				list[key] = another(list[key])
			}
			v = list[key]
		}
	}
}

// cutTo returns a value with the one leaf at a place, and the scalars that tell list
// items apart.
func cutTo(v any, place []any) any {
	if len(place) == 0 {
		return v
	}
	switch key := place[0].(type) {
	case string:
		m, _ := v.(map[string]any)
		return map[string]any{key: cutTo(m[key], place[1:])}
	case int:
		list := make([]any, key+1)
		list[key] = cutTo(v.([]any)[key], place[1:])
		return list
	}
	return v
}

// notIn returns the path of a leaf that another value has not at the same place; empty if
// it has all.
func notIn(part, whole any, path string) string {
	switch part := part.(type) {
	case nil:
		return ""
	case map[string]any:
		m, ok := whole.(map[string]any)
		if !ok && len(part) > 0 {
			return path
		}
		for _, key := range slices.Sorted(maps.Keys(part)) {
			if missing := notIn(part[key], m[key], path+"."+key); missing != "" {
				return missing
			}
		}
		return ""
	case []any:
		list, _ := whole.([]any)
		if len(list) < len(part) {
			return path
		}
		for i, item := range part {
			if missing := notIn(item, list[i], fmt.Sprintf("%s[%d]", path, i)); missing != "" {
				return missing
			}
		}
		return ""
	}
	if !reflect.DeepEqual(part, whole) {
		return path
	}
	return ""
}

// randomObjects returns a random object of every built-in kind.
func randomObjects(rng *rand.Rand) []map[string]any {
	types := map[string]reflect.Type{apiextensionsv1.SchemeGroupVersion.String() + " CustomResourceDefinition": reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()}
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		if _, has := of.FieldByName("ObjectMeta"); has && kind.Version != runtime.APIVersionInternal {
			types[kind.GroupVersion().String()+" "+kind.Kind] = of
		}
	}
	bodies := []map[string]any{{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{},
		"spec": map[string]any{"caBundle": firstCA, "group": "g", "version": "v1", "service": map[string]any{"name": "s", "namespace": "n"}},
	}, {
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{},
		"spec": map[string]any{"caBundle": firstCA, "healthCheckNodePort": int64(1), "claimRef": map[string]any{"name": "a"}, "webhooks": []any{map[string]any{"name": "a", "clientConfig": map[string]any{"caBundle": "b"}}}},
	}}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		v := reflect.New(types[name]).Elem()
		fill(rng, v, 0)
		data, err := json.Marshal(v.Interface())
		if err != nil {
			continue
		}
		body, err := preview.DecodeJSON(data)
		if err != nil {
			continue
		}
		m := body.(map[string]any)
		m["apiVersion"], m["kind"], _ = strings.Cut(name, " ")
		bodies = append(bodies, m)
	}
	for _, body := range bodies {
		body["metadata"] = map[string]any{
			"name": "a", "labels": map[string]any{"l": "v", "controller-uid": "u"}, "finalizers": []any{"example.com/f"},
			"annotations": map[string]any{"a": "v", "pv.kubernetes.io/provisioned-by": "v", "volume.kubernetes.io/storage-provisioner": "v", "deployment.kubernetes.io/revision": "1"},
		}
		delete(body, "status")
		if template := preview.Map(body, "spec", "template"); template != nil {
			template["metadata"] = map[string]any{"labels": map[string]any{"controller-uid": "u"}, "annotations": map[string]any{"kubectl.kubernetes.io/restartedAt": "v"}}
		}
		for _, ca := range preview.CAFields(body) {
			ca.Client["caBundle"] = firstCA
		}
		if volumes := preview.Maps(body, "spec", "volumes"); len(volumes) > 0 {
			volumes[0]["name"] = "kube-api-access-abcde"
		}
		if body["kind"] == "ClusterRole" {
			delete(body, "aggregationRule")
		}
	}
	return bodies
}

// fill gives every field of a value a random one. Types that contain themselves end at
// some depth.
func fill(rng *rand.Rand, v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case resource.Quantity:
		v.Set(reflect.ValueOf(*resource.NewQuantity(int64(1+rng.IntN(100)), resource.DecimalSI)))
		return
	case intstr.IntOrString:
		v.Set(reflect.ValueOf(intstr.FromInt32(int32(1 + rng.IntN(100)))))
		return
	case runtime.RawExtension:
		v.Set(reflect.ValueOf(runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"A","r":"v"}`)}))
		return
	case apiextensionsv1.JSON:
		v.Set(reflect.ValueOf(apiextensionsv1.JSON{Raw: []byte(`"v"`)}))
		return
	case metav1.Time:
		v.Set(reflect.ValueOf(metav1.Unix(int64(1+rng.IntN(1e9)), 0)))
		return
	case metav1.MicroTime:
		v.Set(reflect.ValueOf(metav1.MicroTime{Time: metav1.Unix(int64(1+rng.IntN(1e9)), 0).Time}))
		return
	case metav1.FieldsV1:
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth < 12 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rng, v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(rng, f, depth+1)
			}
		}
	case reflect.Slice:
		n := 1 + rng.IntN(2)
		if depth > 8 {
			n = 1
		}
		if depth < 12 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(rng, v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		if depth < 12 {
			v.Set(reflect.MakeMap(v.Type()))
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(rng, key, depth+1)
			fill(rng, value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("v%d", rng.IntN(1e6)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(1 + rng.IntN(100)))
	case reflect.Uint8:
		v.SetUint(uint64(1 + rng.IntN(100)))
	case reflect.Float64, reflect.Float32:
		v.SetFloat(1.5)
	}
}

// corpusObjects returns the objects in the manifests of the corpus.
func corpusObjects(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	err := filepath.WalkDir(corpustest.Dir(t, "bundles"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") || !strings.Contains(path, "/manifests/") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		docs, _ := preview.Decode(data)
		for _, doc := range docs {
			if body, ok := doc.(map[string]any); ok && preview.RefOf(body).Name != "" {
				out = append(out, body)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
