package deps

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// reader decodes the constraints in one property of a bundle.
type reader struct {
	cel    *celRules
	strict bool // unknown fields are errors
	nodes  int
}

// required reads the value of a property that requires something, such as
// olm.package.required, as a constraint.
func (r *reader) required(typ string, value any) (*constraint, error) {
	switch typ {
	case typePackageRequired:
		return r.pkg(value)
	case typeGVKRequired:
		api, err := r.api(value)
		return &constraint{kind: isAPI, api: api}, err
	case typeLabelRequired:
		label, err := r.labelOf(value)
		return &constraint{kind: isLabel, label: label}, err
	}
	if encoded, err := json.Marshal(value); err != nil || len(encoded) > maxConstraintBytes {
		return nil, fmt.Errorf("it has more than %d bytes", maxConstraintBytes)
	}
	return r.constraint(value, 0)
}

// constraint reads the value of an olm.constraint property. If it has several of the
// keys gvk, package, all, any, not and cel, the first in this order counts, as in OLM.
func (r *reader) constraint(value any, depth int) (*constraint, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	if r.nodes++; r.nodes > maxNodes {
		return nil, fmt.Errorf("it has more than %d nested constraints", maxNodes)
	}
	fields, err := r.mapping(value, "failureMessage", "gvk", "package", "all", "any", "not", "cel")
	if err != nil {
		return nil, err
	}
	c, err := r.oneOf(fields, depth)
	if err != nil {
		return nil, err
	}
	c.message, err = optionalText(fields, "failureMessage")
	return c, err
}

func (r *reader) oneOf(fields map[string]any, depth int) (*constraint, error) {
	if v := fields["gvk"]; v != nil {
		api, err := r.api(v)
		return &constraint{kind: isAPI, api: api}, err
	}
	if v := fields["package"]; v != nil {
		return r.pkg(v)
	}
	for _, group := range []struct {
		key  string
		kind kind
	}{{"all", isAll}, {"any", isAny}, {"not", isNot}} {
		if v := fields[group.key]; v != nil {
			nested, err := r.nested(v, depth)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", group.key, err)
			}
			return &constraint{kind: group.kind, nested: nested}, nil
		}
	}
	if v := fields["cel"]; v != nil {
		inner, err := r.mapping(v, "rule")
		if err != nil {
			return nil, fmt.Errorf("cel: %w", err)
		}
		text, err := wantedText(inner, "rule")
		if err != nil {
			return nil, fmt.Errorf("cel: %w", err)
		}
		rule, err := r.cel.compile(text)
		return &constraint{kind: isCEL, rule: rule}, err
	}
	return nil, errors.New("it is empty: want one of gvk, package, all, any, not, cel")
}

func (r *reader) nested(value any, depth int) ([]*constraint, error) {
	fields, err := r.mapping(value, "constraints")
	if err != nil {
		return nil, err
	}
	list, _ := fields["constraints"].([]any)
	if len(list) == 0 {
		return nil, errors.New("it has no constraints")
	}
	var out []*constraint
	for _, item := range list {
		c, err := r.constraint(item, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func (r *reader) pkg(value any) (*constraint, error) {
	fields, err := r.mapping(value, "packageName", "versionRange")
	if err != nil {
		return nil, err
	}
	c := &constraint{kind: isPackage}
	if c.pkg, err = wantedText(fields, "packageName"); err != nil {
		return nil, err
	}
	if !ref.IsName(c.pkg) {
		return nil, fmt.Errorf("packageName %q is not a package name", shorten(c.pkg))
	}
	if c.rangeIn, err = wantedText(fields, "versionRange"); err != nil {
		return nil, err
	}
	c.contains, err = parseRange(c.rangeIn)
	return c, err
}

func (r *reader) api(value any) (API, error) {
	fields, err := r.mapping(value, "group", "version", "kind")
	if err != nil {
		return API{}, err
	}
	var api API
	if api.Group, err = optionalText(fields, "group"); err != nil {
		return API{}, err
	}
	if api.Version, err = wantedText(fields, "version"); err != nil {
		return API{}, err
	}
	api.Kind, err = wantedText(fields, "kind")
	return api, err
}

func (r *reader) labelOf(value any) (string, error) {
	fields, err := r.mapping(value, "label")
	if err != nil {
		return "", err
	}
	return wantedText(fields, "label")
}

func (r *reader) mapping(value any, known ...string) (map[string]any, error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("its value is no mapping")
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if r.strict && !slices.Contains(known, key) {
			return nil, fmt.Errorf("field %q is not known", shorten(key))
		}
	}
	return fields, nil
}
