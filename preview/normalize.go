package preview

import (
	"encoding/base64"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// serverSet are the metadata fields that only the API server writes.
var serverSet = [...]string{"creationTimestamp", "resourceVersion", "uid", "generation", "selfLink", "managedFields"}

// Flatten returns the objects of a document: the document itself, or the items of a
// List, nested ones included. It errs for a document without kind or apiVersion.
func Flatten(doc any) ([]map[string]any, error) {
	located, err := Document{Value: doc}.Objects()
	if err != nil {
		return nil, err
	}
	bodies := make([]map[string]any, 0, len(located))
	for _, o := range located {
		bodies = append(bodies, o.Body)
	}
	return bodies, nil
}

func flatten(doc any, lines LineIndex, depth int) ([]LocatedObject, error) {
	body, ok := doc.(map[string]any)
	if text, _ := doc.(string); strings.HasPrefix(text, "version https://git-lfs.github.com/spec/") {
		return nil, errors.New("it is a Git LFS pointer, not the file; run git lfs pull in the directory first")
	}
	if !ok {
		return nil, errors.New("not an object")
	}
	kind, apiVersion := String(body, "kind"), String(body, "apiVersion")
	if kind == "" || apiVersion == "" {
		return nil, errors.New("an object without kind or apiVersion")
	}
	items, isList := body["items"].([]any)
	if !strings.HasSuffix(kind, "List") || !isList {
		return []LocatedObject{{body, lines}}, nil
	}
	if depth > 8 {
		return nil, errors.New("lists nested deeper than 8 levels")
	}
	var out []LocatedObject
	for i, item := range items {
		objects, err := flatten(withKind(item, kind, apiVersion), lines.Below("items", i), depth+1)
		if err != nil {
			return nil, fmt.Errorf("item of a %s: %w", kind, err)
		}
		out = append(out, objects...)
	}
	return out, nil
}

// withKind returns an item of a list with the kind and apiVersion of the list's items, if it
// has neither: clients read a ClusterRoleBindingList so.
func withKind(item any, list, apiVersion string) any {
	kind := strings.TrimSuffix(list, "List")
	if body, ok := item.(map[string]any); ok && kind != "" && body["kind"] == nil && body["apiVersion"] == nil {
		body["kind"], body["apiVersion"] = kind, apiVersion
	}
	return item
}

// Normalize converts a rendered object into the form that is hashed and sent: without
// status, server-set metadata, caBundles without a certificate and the namespace of
// cluster-scoped kinds, and with a Secret's stringData as data. It modifies body. It
// returns the paths of removed fields that were not empty, sorted, which the review
// shows; see [DropNulls] for nulls.
func Normalize(body map[string]any, namespaced bool) (removed []string, err error) {
	remove := func(from map[string]any, key, path string) {
		if !empty(from[key]) {
			removed = append(removed, path)
		}
		delete(from, key)
	}
	remove(body, "status", ".status")
	meta := Map(body, "metadata")
	for _, key := range serverSet {
		remove(meta, key, ".metadata."+key)
	}
	if !namespaced {
		remove(meta, "namespace", ".metadata.namespace")
	}
	if err := MergeStringData(body); err != nil {
		return nil, err
	}
	if Map(body, "aggregationRule") != nil && IsKind(body, KindClusterRole) {
		remove(body, "rules", ".rules") // the aggregation controller owns them, and would conflict
	}
	removed = append(removed, DropPlaceholderCAs(body)...)
	sort.Strings(removed)
	return removed, nil
}

// MergeStringData merges the stringData of a Secret into data, because with server-side
// apply stringData never removes an old key. A key in both gets the value of
// stringData, as in the API.
func MergeStringData(body map[string]any) error {
	if !IsKind(body, KindSecret) || String(body, "apiVersion") != "v1" {
		return nil
	}
	plain := Map(body, "stringData")
	delete(body, "stringData")
	if len(plain) == 0 {
		return nil
	}
	data := Map(body, "data")
	if data == nil {
		data = map[string]any{}
		body["data"] = data
	}
	for key, v := range plain {
		text, ok := v.(string)
		if !ok && v != nil {
			return fmt.Errorf("secret %s: stringData key %q is not a string", String(body, "metadata", "name"), key)
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return nil
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case map[string]any:
		for _, item := range v {
			if !empty(item) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	case int64:
		return v == 0
	}
	return false
}
