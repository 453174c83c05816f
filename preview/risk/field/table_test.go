package field_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/field"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/fieldtest"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// TestFieldsTable holds the table to its form: rules that exist, reasons of one
// word, types that are there, and an example for each rule that looks at a value.
func TestFieldsTable(t *testing.T) {
	types := map[string]bool{}
	for _, r := range field.Rows() {
		types[r.Type] = true
	}
	for _, r := range field.Rows() {
		at := r.Type + " " + r.Field
		switch r.Judgement {
		case field.Nested:
			if of := fieldtest.ElementOf(r.Form); !types[of] {
				t.Errorf("%s: the table has no type %s", at, of)
			}
		case field.Harmless:
			if r.Why == "" || strings.ContainsAny(r.Why, " ,") {
				t.Errorf("%s: reason %q", at, r.Why)
			}
		case field.ByRule, field.WithRule, field.OfObject:
			if len(r.Rules) == 0 || r.Example == "" && r.Judgement != field.OfObject {
				t.Errorf("%s: rules %v, example %q", at, r.Rules, r.Example)
			}
		default:
			t.Errorf("%s: judgement %q", at, r.Judgement)
		}
		for _, name := range r.Rules {
			if _, known := rules.Named(name); !known {
				t.Errorf("%s: there is no rule %s", at, name)
			}
		}
	}
	total, by := field.Counts()
	t.Logf("%d types, %d fields: %v", len(types), total, by)
}

// TestEveryFieldIsJudged fails on any field of the types that this program is built
// with which has no row, and on any row without a field.
func TestEveryFieldIsJudged(t *testing.T) {
	for _, one := range unlikeTypes(t, goTypes()) {
		t.Error(one)
	}
}

// configMapOfLater is a ConfigMap as a later Kubernetes may have it.
type configMapOfLater struct {
	corev1.ConfigMap

	Frobnicates bool `json:"frobnicates,omitempty"`
}

// frobnicator is a kind that a later Kubernetes may have.
type frobnicator struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`
}

// TestFieldsOfALaterKubernetesAreNamed adds a field and kinds to the types, and asks for
// exactly these as what is not judged.
func TestFieldsOfALaterKubernetesAreNamed(t *testing.T) {
	types := goTypes()
	types[corev1.SchemeGroupVersion.WithKind("ConfigMap")] = reflect.TypeFor[configMapOfLater]()
	types[appsv1.SchemeGroupVersion.WithKind("Frobnicator")] = reflect.TypeFor[frobnicator]()
	types[schema.GroupVersionKind{Group: "frobnication.k8s.io", Version: "v1", Kind: "Frobnicator"}] = reflect.TypeFor[frobnicator]()
	got := unlikeTypes(t, types)
	want := []string{
		"io.k8s.api.core.v1.ConfigMap frobnicates is not judged",
		"the table does not have kind apps/v1 Frobnicator", "the table does not have kind frobnication.k8s.io/v1 Frobnicator",
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("not judged are %q, want %q", got, want)
	}
}

// goTypes returns the types of all kinds that this program is built with.
func goTypes() map[schema.GroupVersionKind]reflect.Type {
	types := scheme.Scheme.AllKnownTypes()
	types[apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")] = reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()
	return types
}

// unlikeTypes returns the fields and kinds of Go types that the table does not have, and
// those of the table that the types do not have.
func unlikeTypes(t *testing.T, types map[schema.GroupVersionKind]reflect.Type) []string {
	t.Helper()
	var out []string
	have, kinds := map[string]map[string]string{}, map[schema.GroupKind]bool{}
	for _, k := range field.Kinds() {
		gvk := schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
		kinds[gvk.GroupKind()] = true
		if of := types[gvk]; of != nil {
			goFields(t, of, have)
		} else if gvk.Group != "apiregistration.k8s.io" { // its types are of a module of its own
			out = append(out, fmt.Sprintf("%s %s is no kind", k.APIVersion, k.Kind))
		}
	}
	for gvk, of := range types {
		_, isObject := of.FieldByName("ObjectMeta")
		if isObject && !kinds[gvk.GroupKind()] && !slices.Contains(notSent, gvk.Kind) && !slices.Contains(notServed, gvk.Group) {
			out = append(out, "the table does not have kind "+gvk.GroupVersion().String()+" "+gvk.Kind)
		}
	}
	return append(out, unlikeTable(t, have)...)
}

// notServed are API groups with Go types that API servers no longer serve.
var notServed = []string{"extensions"}

// notSent are kinds that no request creates: answers, and parts of others.
var notSent = []string{"PodStatusResult", "RangeAllocation", "ComponentStatus", "Scale"}

// goFields adds the fields of a type, and of the types that its rows lead to.
func goFields(t *testing.T, of reflect.Type, have map[string]map[string]string) {
	named, ok := reflect.New(of).Elem().Interface().(interface{ OpenAPIModelName() string })
	if !ok {
		t.Fatalf("%v has no name", of)
	}
	name := named.OpenAPIModelName()
	if have[name] != nil {
		return
	}
	have[name] = map[string]string{}
	rows := rowsOf(name)
	var add func(of reflect.Type)
	add = func(of reflect.Type) {
		for f := range of.Fields() {
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if tag == "" && f.Anonymous {
				add(f.Type)
				continue
			}
			if tag == "" || tag == "-" {
				continue
			}
			have[name][tag] = f.Type.String()
			if rows[tag].Judgement == field.Nested {
				goFields(t, element(f.Type), have)
			}
		}
	}
	add(of)
}

func element(of reflect.Type) reflect.Type {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, of.Kind()) {
		of = of.Elem()
	}
	return of
}

// rowsOf returns the rows of a type by field.
func rowsOf(name string) map[string]field.Row {
	out := map[string]field.Row{}
	for _, r := range allRows()[name] {
		out[r.Field] = r
	}
	return out
}

var allRows = sync.OnceValue(func() map[string][]field.Row {
	out := map[string][]field.Row{}
	for _, r := range field.Rows() {
		out[r.Type] = append(out[r.Type], r)
	}
	return out
})

// unlikeTable returns the fields of types that the table does not have, and the rows of
// the table for these types that are about no field.
func unlikeTable(t *testing.T, have map[string]map[string]string) []string {
	t.Helper()
	rows, fields, out := allRows(), 0, []string(nil)
	for name, of := range have {
		judged := map[string]bool{}
		for _, r := range rows[name] {
			judged[r.Field] = true
			if of[r.Field] == "" {
				out = append(out, name+" has no field "+r.Field)
			}
		}
		for f := range of {
			if fields++; !judged[f] {
				out = append(out, name+" "+f+" is not judged")
			}
		}
	}
	t.Logf("%d types, %d fields", len(have), fields)
	if len(have) < 300 {
		out = append(out, fmt.Sprintf("only %d types were read", len(have)))
	}
	return out
}

// TestClusterFieldsServed compares the table with the OpenAPI of the API server.
func TestClusterFieldsServed(t *testing.T) {
	box := sandboxtest.Start(t)
	client := sandboxtest.NewRawClient(t, box.Kubeconfig())
	get := func(path string, into any) {
		_, answer, err := client.Do(t.Context(), "GET", path, "", nil)
		data, encodeErr := json.Marshal(answer)
		if err != nil || encodeErr != nil || json.Unmarshal(data, into) != nil {
			t.Fatalf("%s: %v %v", path, err, encodeErr)
		}
	}
	var index struct {
		Paths map[string]struct {
			URL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	get("/openapi/v3", &index)
	types := map[string]openAPIType{}
	for path, at := range index.Paths {
		if !strings.HasPrefix(path, "api/") && !strings.HasPrefix(path, "apis/") {
			continue
		}
		var document struct {
			Components struct {
				Schemas map[string]openAPIType `json:"schemas"`
			} `json:"components"`
		}
		get(at.URL, &document)
		for name, of := range document.Components.Schemas {
			types[name] = of
		}
	}
	for _, one := range unlikeServed(t, types) {
		t.Error(one)
	}
	configMap := types["io.k8s.api.core.v1.ConfigMap"]
	later := openAPIType{Properties: maps.Clone(configMap.Properties), Kinds: configMap.Kinds}
	later.Properties["frobnicates"] = map[string]any{"type": "boolean"}
	types["io.k8s.api.core.v1.ConfigMap"] = later
	types["io.k8s.api.apps.v1.Frobnicator"] = openAPIType{
		Properties: map[string]any{"metadata": configMap.Properties["metadata"]},
		Kinds:      []schema.GroupVersionKind{appsv1.SchemeGroupVersion.WithKind("Frobnicator")},
	}
	got := unlikeServed(t, types)
	want := []string{"io.k8s.api.core.v1.ConfigMap frobnicates is not judged", "the table does not have kind apps/v1 Frobnicator"}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("of a later version not judged are %q, want %q", got, want)
	}
}

// unlikeServed returns the fields and kinds of OpenAPI definitions that the table does
// not have, and those of the table that the definitions do not have.
func unlikeServed(t *testing.T, types map[string]openAPIType) []string {
	t.Helper()
	kinds := map[string]string{}
	for _, k := range field.Kinds() {
		kinds[k.APIVersion+" "+k.Kind] = k.Type
	}
	var out []string
	have := map[string]map[string]string{}
	for name, of := range types {
		if !of.isObject() {
			continue
		}
		for _, gvk := range of.Kinds {
			at := gvk.GroupVersion().String() + " " + gvk.Kind
			if kinds[at] == name {
				servedFields(name, types, have)
			} else if !slices.Contains(notSent, gvk.Kind) && strings.HasPrefix(name, "io.k8s.") {
				out = append(out, "the table does not have kind "+at)
			}
		}
	}
	return append(out, unlikeTable(t, have)...)
}

// openAPIType is a definition of an OpenAPI document.
type openAPIType struct {
	Properties map[string]any            `json:"properties"`
	Kinds      []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
}

func (o openAPIType) isObject() bool {
	data, err := json.Marshal(o.Properties["metadata"])
	return err == nil && strings.Contains(string(data), "meta.v1.ObjectMeta")
}

// servedFields adds the fields of a definition, and of those that its rows lead to.
func servedFields(name string, types map[string]openAPIType, have map[string]map[string]string) {
	if have[name] != nil {
		return
	}
	have[name] = map[string]string{}
	rows := rowsOf(name)
	for f := range types[name].Properties {
		have[name][f] = "served"
		if rows[f].Judgement == field.Nested {
			servedFields(fieldtest.ElementOf(rows[f].Form), types, have)
		}
	}
}
