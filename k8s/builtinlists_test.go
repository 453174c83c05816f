package k8s

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// typedLists returns the lists that are read in protobuf, by their kinds.
func typedLists(t testing.TB) map[schema.GroupVersionKind]reflect.Type {
	t.Helper()
	lists := maps.Clone(listTypes().AllKnownTypes())
	maps.DeleteFunc(lists, func(kind schema.GroupVersionKind, list reflect.Type) bool {
		of, _ := strings.CutSuffix(kind.Kind, "List")
		_, isList := list.FieldByName("Items")
		return of == "" || !isList || !hasTypes("v1.0", kind.GroupVersion().String(), of)
	})
	if len(lists) < 20 {
		t.Fatalf("%d kinds have lists", len(lists))
	}
	return lists
}

// filled are values of types that have their own form in JSON.
var filled = map[reflect.Type]any{
	reflect.TypeFor[metav1.Time]():          metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	reflect.TypeFor[metav1.MicroTime]():     metav1.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)),
	reflect.TypeFor[metav1.Duration]():      metav1.Duration{Duration: 90 * time.Second},
	reflect.TypeFor[metav1.FieldsV1]():      *metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{".":{}}}}`),
	reflect.TypeFor[apiresource.Quantity](): apiresource.MustParse("1500m"),
	reflect.TypeFor[intstr.IntOrString]():   intstr.FromString("http"),
	reflect.TypeFor[runtime.RawExtension](): runtime.RawExtension{Raw: []byte(`{"text":"a","number":9007199254740993}`)},
}

// fill sets all fields of a value to what none else has, a list and a map to two items.
func fill(value reflect.Value, next *int) {
	*next++
	if known, ok := filled[value.Type()]; ok {
		value.Set(reflect.ValueOf(known))
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(fmt.Sprintf("text \u00fc\u2028<&\"%d", *next))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		value.SetInt(int64(*next % 127))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		value.SetUint(uint64(*next % 127))
	case reflect.Float32, reflect.Float64:
		value.SetFloat(float64(*next) + 0.5)
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem(), next)
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		for i := range 2 {
			fill(value.Index(i), next)
		}
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		for range 2 {
			key, item := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
			key.SetString(fmt.Sprint("key-", *next)) // no path names one with escapes
			fill(item, next)
			value.SetMapIndex(key, item)
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				fill(value.Field(i), next)
			}
		}
	}
}

// newList returns a list of a kind with an object that has nothing and one that has all
// fields.
func newList(kind schema.GroupVersionKind, of reflect.Type) runtime.Object {
	list := reflect.New(of)
	items, next := list.Elem().FieldByName("Items"), 0
	items.Set(reflect.MakeSlice(items.Type(), 2, 2))
	fill(items.Index(1), &next)
	object := list.Interface().(runtime.Object)
	object.GetObjectKind().SetGroupVersionKind(kind)
	accessor, _ := meta.ListAccessor(object)
	remaining := int64(7)
	accessor.SetContinue("next")
	accessor.SetResourceVersion("12")
	accessor.SetRemainingItemCount(&remaining)
	return object
}

// encoded returns a list as the API server sends it.
func encoded(t testing.TB, list runtime.Object) (inJSON, inProtobuf []byte) {
	t.Helper()
	inJSON, err := runtime.Encode(json.NewSerializerWithOptions(json.DefaultMetaFactory, listTypes(), listTypes(), json.SerializerOptions{}), list)
	if err != nil {
		t.Fatal(err)
	}
	if inProtobuf, err = runtime.Encode(protobufLists(), list); err != nil {
		t.Fatal(err)
	}
	return inJSON, inProtobuf
}

// pathsOf returns the paths of an object's fields, down to a depth.
func pathsOf(object map[string]any, depth int) []string {
	var paths []string
	for name, value := range object {
		if below, nested := value.(map[string]any); nested && depth > 1 && !strings.Contains(name, ".") {
			for _, path := range pathsOf(below, depth-1) {
				paths = append(paths, name+"."+path)
			}
		}
		paths = append(paths, name)
	}
	slices.Sort(paths)
	return paths
}

// The decoded fields of an object are the same from a list in protobuf and from one in
// JSON, for each kind and field, so that a fingerprint of it is the same too.
func TestAListInProtobufHasTheFieldsOfTheListInJSON(t *testing.T) {
	for kind, of := range typedLists(t) {
		t.Run(kind.GroupVersion().String()+" "+kind.Kind, func(t *testing.T) {
			inJSON, inProtobuf := encoded(t, newList(kind, of))
			whole, err := decodePage(inJSON, nil)
			if err != nil || len(whole.items) != 2 {
				t.Fatal(whole, err)
			}
			for _, path := range pathsOf(whole.items[1], 3) {
				if path == "apiVersion" || path == "kind" {
					continue // see [setType]
				}
				fields := newFieldTree([]string{path})
				want, err := decodePage(inJSON, fields)
				if err != nil {
					t.Fatal(err)
				}
				got, err := decodePage(inProtobuf, fields)
				if err != nil {
					t.Fatal(err)
				}
				if want.bytes, got.bytes = 0, 0; !reflect.DeepEqual(got, want) {
					t.Errorf("%s:\n%v, in JSON\n%v", path, got, want)
				}
			}
		})
	}
}

// The API server stores texts that are no UTF-8, and replaces them in JSON.
func TestATextInProtobufThatIsNoUTF8IsThatOfJSON(t *testing.T) {
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMapList"}
	list := newList(kind, typedLists(t)[kind])
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		item.(metav1.Object).SetLabels(map[string]string{"a\xff\xfeb": "\xc3("})
		return nil
	})
	inJSON, inProtobuf := encoded(t, list)
	fields := newFieldTree([]string{"data"})
	want, err := decodePage(inJSON, fields)
	got, gotErr := decodePage(inProtobuf, fields)
	if want.bytes, got.bytes = 0, 0; err != nil || gotErr != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v\n%v, in JSON\n%v", err, gotErr, got, want)
	}
}

// An answer can nest as deep as its types do.
func TestNoTypeOfAListInProtobufNestsInItself(t *testing.T) {
	var visit func(of reflect.Type, within []reflect.Type)
	visit = func(of reflect.Type, within []reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(of.Elem(), within)
		case reflect.Struct:
			if slices.Contains(within, of) {
				t.Errorf("%v nests in itself: %v", of, within)
				return
			}
			for i := range of.NumField() {
				visit(of.Field(i).Type, append(within, of))
			}
		}
	}
	for _, list := range typedLists(t) {
		visit(list, nil)
	}
}

// A list that is cut off anywhere is an error and never a shorter list.
func TestAListInProtobufThatIsCutOffIsAnError(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleList"}
	_, data := encoded(t, newList(kind, typedLists(t)[kind]))
	whole, err := decodePage(data, newFieldTree([]string{"rules"}))
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for n := range data { // after the objects comes the encoding, which is empty
		page, err := decodePage(data[:n], newFieldTree([]string{"rules"}))
		if err != nil {
			cut++
		} else if page.bytes = whole.bytes; !reflect.DeepEqual(page, whole) {
			t.Fatalf("%d of %d bytes: %v", n, len(data), page)
		}
	}
	if cut < len(data)-8 {
		t.Errorf("%d of %d bytes are an error", cut, len(data))
	}
}

func TestAnAnswerInProtobufThatIsNoListOfObjectsIsAnError(t *testing.T) {
	version := schema.GroupVersion{Version: "v1"}
	for _, other := range []runtime.Object{&metav1.Status{}, &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "12"}, Items: []runtime.RawExtension{{Raw: []byte("{}")}}}, &metav1.APIGroupList{}, &corev1.Node{}} {
		other.GetObjectKind().SetGroupVersionKind(version.WithKind(reflect.TypeOf(other).Elem().Name()))
		_, data := encoded(t, other)
		if page, err := decodePage(data, newFieldTree([]string{"rules"})); err == nil {
			t.Errorf("%T: %v", other, page)
		}
	}
}

func TestListsAreReadInProtobufOfKindsAndVersionsWhoseFieldsAreAllKnown(t *testing.T) {
	const rbac = "rbac.authorization.k8s.io/v1"
	for _, test := range []struct {
		name, server, apiVersion, kind string
		want                           bool
	}{
		{"a built-in kind", "v1.37.1", rbac, "Role", true},
		{"one of the core", "v1.37.1", "v1", "Node", true},
		{"an older server", "v1.29.3-eks-1234", rbac, "Role", true},
		{"a newer server, whose objects may have more fields", "v1.38.0-alpha.1", rbac, "Role", false},
		{"a server of another kind of versions", "v2.0.0", rbac, "Role", false},
		{"a server that hides its version", "", rbac, "Role", false},
		{"a custom resource", "v1.37.1", "shop.example.com/v1", "Role", false},
		{"an API version that these types lack", "v1.37.1", "apps/v3", "Deployment", false},
		{"a CRD, whose schemas nest without a limit", "v1.37.1", "apiextensions.k8s.io/v1", "CustomResourceDefinition", false},
		{"no API version", "v1.37.1", "a/b/c", "Role", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := hasTypes(test.server, test.apiVersion, test.kind); got != test.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// The API server sends protobuf where it is asked for, its refusals too.
func TestClusterListsAndTheirRefusalsComeInProtobuf(t *testing.T) {
	box := sandboxtest.Start(t)
	for _, test := range []struct {
		name, kubeconfig string
		want             preview.Reason
	}{
		{"a user who may list them", box.Kubeconfig(), ""},
		{"one who may not", sandboxtest.User(t, box, "lists-no-roles"), preview.ReasonForbidden},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := Connect(t.Context(), Options{Kubeconfig: test.kubeconfig})
			if err != nil {
				t.Fatal(err)
			}
			const kind = "Role"
			res, err := c.lookup(t.Context(), rbacv1.SchemeGroupVersion.String(), kind)
			if err != nil {
				t.Fatal(err)
			}
			p := pager{client: c, resource: res, fields: newFieldTree([]string{"rules"}), protobuf: hasTypes(c.version, rbacv1.SchemeGroupVersion.String(), kind), limit: 1}
			data, err := c.readRaw(t.Context(), p.request(""))
			if preview.ReasonOf(err) != test.want || isProtobuf(data) != (test.want == "") {
				t.Fatalf("%v, %.100q", err, data)
			}
			if err != nil && !strings.Contains(err.Error(), `"lists-no-roles" cannot list resource "roles"`) {
				t.Error(err)
			}
		})
	}
}

// The types come from the module that go.mod names.
func TestTheNewestTypesAreThoseOfThisProgram(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"api", "client-go"} {
		found := regexp.MustCompile(`k8s\.io/` + module + ` v0\.(\d+)\.`).FindSubmatch(text)
		if found == nil || string(found[1]) != fmt.Sprint(newestTypes) {
			t.Errorf("newestTypes is %d, k8s.io/%s %q", newestTypes, module, found)
		}
	}
}
