package preview

import (
	"encoding/json"
	"errors"
	"fmt"

	"bytes"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Typer knows the merge structure of the built-in kinds: which lists are
// merged by key and which are atomic.
type Typer interface {
	// Typed parses an object against the schema of its kind. It fails for a
	// kind without schema and for an object that does not fit.
	Typed(body map[string]any) (*typed.TypedValue, error)
}

// Fingerprint hashes what a decision about a live object rests on: its uid,
// deletionTimestamp, ownerReferences, finalizers, ownership marks, and the
// values at every relevant path. Relevant are the paths of the sealed object
// and those our field manager owns, atomic lists whole. Without a sealed
// object (delete, keep) or with whole set (replace, adopt), every path but the
// volatile ones is. Values of Secrets stay out: [SecretKeys] compares them.
func Fingerprint(t Typer, live, sealed map[string]any, whole bool) (string, error) {
	live = MaskObject(live)
	content := WithoutVolatile(live)
	if sealed != nil && !whole {
		var err error
		if content, err = relevant(t, live, MaskObject(sealed)); err != nil {
			return "", fmt.Errorf("fingerprint of %s: %w", RefOf(live).ID(), err)
		}
	}
	meta := Map(live, "metadata")
	return Hash(map[string]any{
		"uid":               meta["uid"],
		"deletionTimestamp": meta["deletionTimestamp"],
		"ownerReferences":   meta["ownerReferences"],
		"finalizers":        meta["finalizers"],
		"marks":             ownershipMarks(live),
		"content":           content,
	})
}

// relevant cuts a live object down to the relevant paths.
func relevant(t Typer, live, sealed map[string]any) (map[string]any, error) {
	owned, err := OwnedFields(live)
	if err != nil {
		return nil, err
	}
	bare := CloneBody(live)
	delete(Map(bare, "metadata"), "managedFields")
	liveTyped, sealedTyped, err := typedPair(t, bare, sealed)
	if err != nil {
		return nil, err
	}
	paths, err := sealedTyped.ToFieldSet()
	if err != nil {
		return nil, err
	}
	cut := liveTyped.ExtractItems(paths.Union(owned), typed.WithAppendKeyFields()).AsValue().Unstructured()
	body, _ := cut.(map[string]any)
	return body, nil
}

// typedPair parses both objects by schema, or both without: mixing the two
// would compare keyed list items with positions.
func typedPair(t Typer, live, sealed map[string]any) (l, s *typed.TypedValue, err error) {
	l, lErr := t.Typed(live)
	s, sErr := t.Typed(sealed)
	if lErr == nil && sErr == nil {
		return l, s, nil
	}
	if l, err = typed.DeducedParseableType.FromUnstructured(live); err != nil {
		return nil, nil, err
	}
	s, err = typed.DeducedParseableType.FromUnstructured(sealed)
	return l, s, err
}

// OwnedFields returns the paths of a live object that this tool's field
// manager owns through apply (metadata.managedFields, KEP-555).
func OwnedFields(live map[string]any) (*fieldpath.Set, error) {
	owned := fieldpath.NewSet()
	for _, item := range List(live, "metadata", "managedFields") {
		entry, ok := item.(map[string]any)
		if !ok || String(entry, "manager") != FieldManager ||
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

// SealedFields returns the paths a sealed object sets.
func SealedFields(t Typer, sealed map[string]any) (*fieldpath.Set, error) {
	parsed, err := t.Typed(sealed)
	if err != nil {
		if parsed, err = typed.DeducedParseableType.FromUnstructured(sealed); err != nil {
			return nil, err
		}
	}
	return parsed.ToFieldSet()
}
