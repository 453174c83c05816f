package registryv1

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// values are the user's values for a registry+v1 bundle, as in spec.config.inline of an
// OLM v1 ClusterExtension.
type values struct {
	watchNamespace *string
	config         map[string]any // deploymentConfig; nil when not given
}

func readValues(given map[string]any) (values, error) {
	p := &problems{}
	valuesShape().check("", given, p)
	if err := p.err(); err != nil {
		return values{}, err
	}
	v := values{}
	if ns, ok := given["watchNamespace"].(string); ok {
		v.watchNamespace = &ns
	}
	v.config = preview.Map(given, "deploymentConfig")
	return v, nil
}

// shape is the allowed form of a value, like a JSON schema. The zero shape allows
// anything: fields deeper than those named here are validated by the API server.
type shape struct {
	is       string           // what messages call it; see the kinds below
	fields   map[string]shape // of an object: the known ones; nil takes any
	required []string
	items    *shape // of a list or a map
}

const (
	isString   = "a string"
	isBoolean  = "a boolean"
	isInteger  = "an integer"
	isQuantity = "a quantity"
	isObject   = "a mapping"
	isMap      = "a mapping of strings"
	isList     = "a list"
)

func (s shape) check(path string, v any, p *problems) {
	if v == nil || s.is == "" {
		return
	}
	if !s.accepts(v) {
		p.add("values: %s must be %s, and is %s", fieldName(path), s.is, typeName(v))
		return
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if item == nil {
				p.add("values: %s must be %s, and is null", index(path, i), s.items.is)
			}
			s.items.check(index(path, i), item, p)
		}
	case map[string]any:
		s.checkMap(path, v, p)
	}
}

func (s shape) accepts(v any) bool {
	var ok bool
	switch s.is {
	case isString:
		_, ok = v.(string)
	case isBoolean:
		_, ok = v.(bool)
	case isInteger:
		switch v.(type) {
		case int64, int, uint64:
			ok = true
		}
	case isQuantity:
		switch v.(type) {
		case string, int64, int, uint64, float64:
			ok = true
		}
	case isObject, isMap:
		_, ok = v.(map[string]any)
	case isList:
		_, ok = v.([]any)
	}
	return ok
}

func (s shape) checkMap(path string, m map[string]any, p *problems) {
	for _, key := range s.required {
		if m[key] == nil {
			p.add("values: %s is required", fieldName(sub(path, key)))
		}
	}
	for _, key := range sortedKeys(m) {
		field, known := s.fields[key]
		switch {
		case s.items != nil:
			s.items.check(sub(path, key), m[key], p)
		case s.fields == nil:
		case !known:
			p.add("values: unknown field %q; known are %s", sub(path, key), strings.Join(sortedKeys(s.fields), ", "))
		default:
			field.check(sub(path, key), m[key], p)
		}
	}
}

func sub(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

func fieldName(path string) string {
	if path == "" {
		return "the configuration"
	}
	return path
}

func objectOf(fields map[string]shape, required ...string) shape {
	return shape{is: isObject, fields: fields, required: required}
}

func listOf(item shape) shape { return shape{is: isList, items: &item} }

func mapOf(item shape) shape { return shape{is: isMap, items: &item} }
