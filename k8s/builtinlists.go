package k8s

import (
	"errors"
	"reflect"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/version"
)

// newestTypes is the minor version of Kubernetes whose types this program has. Objects of a
// newer API server may have fields that these types lack: in JSON they are kept, from
// protobuf they would be lost.
const newestTypes = 37

// asProtobuf is the Accept header that asks for a list in protobuf, which takes less
// processor time than JSON, of the API server and of this program.
const asProtobuf = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON

// listTypes has the kinds whose lists are read in protobuf: those built into Kubernetes that
// a cluster has thousands of. None of them nests in itself, as an answer that nests too deep
// would end this program.
var listTypes = sync.OnceValue(func() *runtime.Scheme {
	types := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(types))
	utilruntime.Must(rbacv1.AddToScheme(types))
	return types
})

// protobufLists decodes lists of [listTypes].
var protobufLists = sync.OnceValue(func() *protobuf.Serializer {
	return protobuf.NewSerializer(listTypes(), listTypes())
})

// hasTypes reports whether this program has all fields of the objects of a kind that an API
// server of that version serves.
func hasTypes(serverVersion, apiVersion, kind string) bool {
	v, err := version.ParseGeneric(serverVersion)
	if err != nil || v.Major() != 1 || v.Minor() > newestTypes {
		return false
	}
	groupVersion, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && listTypes().Recognizes(groupVersion.WithKind(kind+"List"))
}

func isProtobuf(data []byte) bool {
	is, _, err := protobufLists().RecognizesData(data)
	return is && err == nil
}

var errNoObjects = errors.New("it is cut off, or no list of objects of one kind")

// decodeProtobufPage is [decodePage] for an answer in protobuf.
func decodeProtobufPage(data []byte, fields fieldTree) (listPage, error) {
	list, kind, err := protobufLists().Decode(data, nil, nil)
	if err != nil {
		return listPage{}, undecodable("list", err)
	}
	of, err := meta.ListAccessor(list)
	if err != nil {
		return listPage{}, undecodable("list", err)
	}
	if of.GetResourceVersion() == "" || kind.Kind == "List" { // with no effect, or of any kinds
		return listPage{}, undecodable("list", errNoObjects)
	}
	page := listPage{
		items: make([]map[string]any, 0, meta.LenList(list)), bytes: len(data),
		next: of.GetContinue(), resourceVersion: of.GetResourceVersion(),
	}
	if n := of.GetRemainingItemCount(); n != nil {
		page.remaining = int(*n)
	}
	texts := sharedTexts{}
	err = meta.EachListItem(list, func(item runtime.Object) error {
		fields.clearUnused(reflect.ValueOf(item).Elem())
		body, err := runtime.DefaultUnstructuredConverter.ToUnstructured(item)
		if err != nil {
			return undecodable("list", err)
		}
		fields.keepUsed(body)
		page.items = append(page.items, texts.shareIn(body))
		return nil
	})
	return page, err
}

// clearUnused clears the fields of a struct that are not used, so that they are not
// converted.
func (f fieldTree) clearUnused(object reflect.Value) {
	for i := range object.NumField() {
		field := object.Field(i)
		name, _, _ := strings.Cut(object.Type().Field(i).Tag.Get("json"), ",")
		below, used := f[name]
		switch {
		case name == "" && field.Type() != typeMeta:
			f.clearUnused(field) // inlined: its fields belong to the object
		case !used:
			field.SetZero()
		case below != nil:
			below.clearBelow(field)
		}
	}
}

var typeMeta = reflect.TypeFor[metav1.TypeMeta]()

func (f fieldTree) clearBelow(value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			f.clearBelow(value.Elem())
		}
	case reflect.Struct:
		f.clearUnused(value)
	case reflect.Map:
		for _, key := range value.MapKeys() {
			if _, used := f[key.String()]; !used {
				value.SetMapIndex(key, reflect.Value{})
			}
		}
	}
}

// keepUsed deletes the fields of an object that are not used: those that the types have and
// write also where they are empty.
func (f fieldTree) keepUsed(object map[string]any) {
	for name, value := range object {
		below, used := f[name]
		if !used {
			delete(object, name)
			continue
		}
		if value, nested := value.(map[string]any); nested && below != nil {
			below.keepUsed(value)
		}
	}
}
