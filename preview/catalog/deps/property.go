package deps

import (
	"fmt"
	"maps"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// The properties that are read (operator-registry, alpha/property).
const (
	typePackage         = "olm.package"
	typeGVK             = "olm.gvk"
	typeLabel           = "olm.label"
	typePackageRequired = "olm.package.required"
	typeGVKRequired     = "olm.gvk.required"
	typeLabelRequired   = "olm.label.required"
	typeConstraint      = "olm.constraint"
	typeDeprecated      = "olm.deprecated"
)

// bundleFacts is what is known of a bundle: package, version, and what its properties
// say.
type bundleFacts struct {
	pkg          string // empty when it is not known
	version      semver.Version
	provides     map[API]bool
	labels       map[string]bool
	properties   []any // as CEL rules see them
	requirements []*requirement
	withdrawn    bool // olm.deprecated
	// partial is set when there may be more to the bundle than is known.
	partial bool
}

// has returns yes if a property is listed, else no, or unknown if the bundle's
// properties are only partly known.
func (f *bundleFacts) has(listed bool) ternary {
	switch {
	case listed:
		return yes
	case f.partial:
		return unknown
	}
	return no
}

// readProperties reads the properties of a bundle. Types that this package does not
// know are kept for CEL rules.
func readProperties(list []catalog.Property, rules *celRules) (*bundleFacts, error) {
	if len(list) > maxProperties {
		return nil, fmt.Errorf("%d properties are more than %d", len(list), maxProperties)
	}
	f := &bundleFacts{provides: map[API]bool{}, labels: map[string]bool{}}
	seen := map[string]bool{}
	for _, p := range list {
		f.properties = append(f.properties, map[string]any{"type": p.Type, "value": p.Value})
		if err := f.read(p, rules, seen); err != nil {
			return nil, fmt.Errorf("property %s: %w", shorten(p.Type), err)
		}
	}
	return f, nil
}

func (f *bundleFacts) read(p catalog.Property, rules *celRules, seen map[string]bool) error {
	switch p.Type {
	case typeGVK:
		api, err := (&reader{}).api(p.Value)
		f.provides[api] = true
		return err
	case typeLabel:
		label, err := (&reader{}).labelOf(p.Value)
		f.labels[label] = true
		return err
	case typeDeprecated:
		f.withdrawn = true
	case typePackageRequired, typeGVKRequired, typeLabelRequired, typeConstraint:
		r := &reader{cel: rules, strict: p.Type == typeConstraint}
		c, err := r.required(p.Type, p.Value)
		if err != nil {
			return err
		}
		// Two that read alike may still differ behind what is shown of them.
		text := c.String()
		if key := fmt.Sprint(p.Type, p.Value); !seen[key] {
			seen[key] = true
			f.requirements = append(f.requirements, &requirement{c, text})
		}
		if len(f.requirements) > maxRequirements {
			return fmt.Errorf("the bundle has more than %d requirements", maxRequirements)
		}
	}
	return nil
}

// apis returns the APIs that a bundle provides, sorted.
func (f *bundleFacts) apis() []API {
	return slices.SortedFunc(maps.Keys(f.provides), compareAPI)
}

func optionalText(fields map[string]any, key string) (string, error) {
	switch v := fields[key].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	return "", fmt.Errorf("field %s is not text", key)
}

func wantedText(fields map[string]any, key string) (string, error) {
	text, err := optionalText(fields, key)
	if err == nil && text == "" {
		err = fmt.Errorf("field %s is empty", key)
	}
	return text, err
}
