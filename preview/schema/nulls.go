package schema

import (
	"slices"
	"strconv"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// DropNulls drops the nulls of a custom resource that its CRD in the index does not
// allow, as the API server does before it sets defaults. A null stays where the schema
// says nullable, in free-form fields, and where the index has no CRD of the kind or one
// that cannot be used: only the server knows its meaning then. It modifies the resource
// and returns the paths of those that were dropped, sorted.
func (x *Index) DropNulls(resource map[string]any) []string {
	v := x.validator(preview.RefOf(resource))
	if v == nil || v.err != nil {
		return nil
	}
	var dropped []string
	for key, value := range resource {
		if key == "metadata" || key == "apiVersion" || key == "kind" {
			continue
		}
		if property, known := v.version.schema.Properties[key]; known && value != nil {
			dropped = append(dropped, dropNulls(value, &property, preview.PathKey(key))...)
		} else if value == nil && !allowsNull(v.version.schema, key) {
			delete(resource, key)
			dropped = append(dropped, preview.PathKey(key))
		}
	}
	slices.Sort(dropped)
	return dropped
}

func dropNulls(value any, s *structural.Structural, path string) (dropped []string) {
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			at := path + preview.PathKey(key)
			if below == nil {
				if !allowsNull(s, key) {
					delete(value, key)
					dropped = append(dropped, at)
				}
			} else if property := propertyOf(s, key); property != nil {
				dropped = append(dropped, dropNulls(below, property, at)...)
			}
		}
	case []any:
		for i, item := range value {
			if s.Items != nil && item != nil {
				dropped = append(dropped, dropNulls(item, s.Items, path+"["+strconv.Itoa(i)+"]")...)
			}
		}
	}
	return dropped
}

// propertyOf returns the schema of a key; nil if it is free-form or unknown.
func propertyOf(s *structural.Structural, key string) *structural.Structural {
	if property, known := s.Properties[key]; known {
		return &property
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// allowsNull reports whether the value of a key may be null: the schema says nullable, or
// nothing of a key that is free-form.
func allowsNull(s *structural.Structural, key string) bool {
	if property := propertyOf(s, key); property != nil {
		return property.Nullable
	}
	return s.XPreserveUnknownFields || s.AdditionalProperties != nil
}
