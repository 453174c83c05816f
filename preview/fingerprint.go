package preview

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// TypeConverter parses objects by the schemas of the built-in kinds, which say
// which lists are merged by key and which are atomic.
type TypeConverter interface {
	// Typed parses an object against the schema of its kind. It fails for a
	// kind without schema and for an object that does not fit.
	Typed(body map[string]any) (*typed.TypedValue, error)
}

// Fingerprint returns a hash of everything in a live object that a decision about it depends
// on: uid, deletionTimestamp, ownerReferences, finalizers, labels and annotations of owners,
// and the values at every relevant path. Relevant paths are the paths of the planned object,
// sealed, and the paths that our field manager owns, with atomic lists as a whole. Without a
// planned object (delete, keep), or if whole is true (replace, adopt), all other paths except
// volatile ones are relevant too. Sensitive values are included as scrypt hashes, so that a
// password changed after the review is not overwritten unnoticed.
func Fingerprint(t TypeConverter, live, sealed map[string]any, whole bool) (string, error) {
	return fingerprint(t, live, sealed, whole, FieldManager)
}

func fingerprint(t TypeConverter, live, sealed map[string]any, whole bool, manager string) (string, error) {
	content, err := relevant(t, live, sealed, whole, manager)
	if err != nil {
		return "", fmt.Errorf("fingerprint of %s: %w", RefOf(live).ID(), err)
	}
	secret := ""
	if leaves := sensitiveLeaves(content); len(leaves) > 0 {
		if secret, err = hashLeaves(leaves, "live "+RefOf(live).ID()+String(live, "metadata", "uid")); err != nil {
			return "", fmt.Errorf("fingerprint of %s: %w", RefOf(live).ID(), err)
		}
	}
	return hashLive(live, content, secret)
}

// hashLive hashes metadata and content of a live object. Sensitive values in content
// are masked; secret is their own hash, empty if there are none.
func hashLive(live, content map[string]any, secret string) (string, error) {
	meta := Map(live, "metadata")
	hashed := map[string]any{
		"uid":               meta["uid"],
		"deletionTimestamp": meta["deletionTimestamp"],
		"ownerReferences":   meta["ownerReferences"],
		"finalizers":        meta["finalizers"],
		"marks":             OwnershipMarks(live),
		"content":           MaskObject(content),
	}
	if secret != "" {
		hashed["sensitive"] = secret
	}
	return Hash(hashed)
}

// relevant returns the part of a live object at its relevant paths (see [Fingerprint]),
// with apiVersion and kind, which decide what is sensitive.
func relevant(t TypeConverter, live, sealed map[string]any, whole bool, manager string) (map[string]any, error) {
	if sealed == nil || whole {
		return WithoutVolatile(live, sealed, setFields(live, manager)), nil
	}
	owned, err := ownedFields(live, manager)
	if err != nil {
		return nil, err
	}
	paths, err := PlannedFields(t, sealed)
	if err != nil {
		return nil, err
	}
	body, _ := extract(live, sealed, paths.Union(owned)).(map[string]any)
	if body != nil {
		body["apiVersion"], body["kind"] = live["apiVersion"], live["kind"]
	}
	return body, nil
}

// extract returns a copy of live with only the values at the paths. sealed is the
// planned value at the same location, if any: where that is an empty map or list, only
// its presence counts, and not what others put in.
func extract(live, sealed any, paths *fieldpath.Set) any {
	switch live := live.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range live {
			element := fieldpath.PathElement{FieldName: &key}
			if v, ok := extractAt(item, field(sealed, key), paths, element); ok {
				out[key] = v
			}
		}
		return out
	case []any:
		out := []any{}
		for i, item := range live {
			element, found := elementOf(item, i, paths)
			if !found {
				continue
			}
			if v, ok := extractAt(item, matching(sealed, element), paths, element); ok {
				out = append(out, withKey(v, element))
			}
		}
		return out
	}
	return live
}

func extractAt(live, sealed any, paths *fieldpath.Set, element fieldpath.PathElement) (any, bool) {
	below, exact := paths.WithPrefix(element), paths.Members.Has(element)
	_, isList := live.([]any)
	switch {
	case exact && isList: // an atomic list counts whole
		return live, true
	case !below.Empty():
		return extract(live, sealed, below), true
	case !exact:
		return nil, false
	}
	if _, isMap := sealed.(map[string]any); isMap && empty(sealed) {
		return sealed, true
	}
	return live, true
}

// elementOf returns the path element in paths that matches a list item, by key, value
// or index; ok is false if none does.
func elementOf(item any, index int, paths *fieldpath.Set) (found fieldpath.PathElement, ok bool) {
	try := func(element fieldpath.PathElement) {
		if !ok && isElement(item, index, element) {
			found, ok = element, true
		}
	}
	paths.Members.Iterate(try)
	paths.Children.Iterate(try)
	return found, ok
}

func isElement(item any, index int, element fieldpath.PathElement) bool {
	switch {
	case element.Key != nil:
		m, isMap := item.(map[string]any)
		if !isMap {
			return false
		}
		for _, key := range *element.Key {
			if !sameScalar(m[key.Name], key.Value.Unstructured()) {
				return false
			}
		}
		return true
	case element.Value != nil:
		return sameScalar(item, (*element.Value).Unstructured())
	}
	return element.Index != nil && *element.Index == index
}

// sameScalar reports whether two key values are equal as text, as integers come in
// several Go types.
func sameScalar(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func matching(sealed any, element fieldpath.PathElement) any {
	items, _ := sealed.([]any)
	for i, item := range items {
		if isElement(item, i, element) {
			return item
		}
	}
	return nil
}

func withKey(v any, element fieldpath.PathElement) any {
	m, ok := v.(map[string]any)
	if !ok || element.Key == nil {
		return v
	}
	for _, key := range *element.Key {
		if _, has := m[key.Name]; !has {
			m[key.Name] = fmt.Sprint(key.Value.Unstructured())
		}
	}
	return m
}

func field(v any, key string) any {
	m, _ := v.(map[string]any)
	return m[key]
}

// FieldSet is a set of field paths of an object.
type FieldSet = fieldpath.Set

// ownedFields returns the paths of a live object that a field manager owns
// through apply (metadata.managedFields, KEP-555).
func ownedFields(live map[string]any, manager string) (*fieldpath.Set, error) {
	owned := fieldpath.NewSet()
	for _, item := range List(live, "metadata", "managedFields") {
		entry, ok := item.(map[string]any)
		if !ok || String(entry, "manager") != manager ||
			String(entry, "operation") != "Apply" || String(entry, "subresource") != "" {
			continue
		}
		data, err := json.Marshal(entry["fieldsV1"])
		if err != nil {
			return nil, errors.New("managedFields cannot be read")
		}
		var set fieldpath.Set
		if err := set.FromJSON(bytes.NewReader(data)); err != nil {
			return nil, fmt.Errorf("managedFields cannot be read: %w", err)
		}
		owned = owned.Union(&set)
	}
	return owned, nil
}

// PlannedFields returns the paths of the fields that a planned object sets.
func PlannedFields(t TypeConverter, sealed map[string]any) (*fieldpath.Set, error) {
	parsed, err := t.Typed(sealed)
	if err != nil {
		if parsed, err = typed.DeducedParseableType.FromUnstructured(sealed); err != nil {
			return nil, err
		}
	}
	return parsed.ToFieldSet()
}
