package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

const (
	maxDepth = 100
	maxNodes = 200_000
	maxText  = 80 // bytes of one value's text
)

// node is the schema of one field, with the path of the field around it.
type node struct {
	parent string
	body   map[string]any
}

// flatten returns the schemas of all fields within a schema, by path. ok is false if
// there are more than maxNodes, or they are nested deeper than maxDepth.
func flatten(root map[string]any) (map[string]node, bool) {
	out := map[string]node{}
	complete := true
	var walk func(path, parent string, body map[string]any, depth int)
	walk = func(path, parent string, body map[string]any, depth int) {
		if depth > maxDepth || len(out) >= maxNodes {
			complete = false
			return
		}
		out[path] = node{parent, body}
		for name, property := range preview.Map(body, "properties") {
			if m, ok := property.(map[string]any); ok {
				walk(strings.TrimPrefix(path+"."+name, "."), path, m, depth+1)
			}
		}
		if m := preview.Map(body, "items"); m != nil {
			walk(path+"[*]", path, m, depth+1)
		}
		if m := preview.Map(body, "additionalProperties"); m != nil {
			walk(path+"{*}", path, m, depth+1)
		}
	}
	walk("", "", root, 0)
	return out, complete
}

func compareSchemas(version string, before, after map[string]any) []Issue {
	olds, whole := flatten(before)
	news, alsoWhole := flatten(after)
	if !whole || !alsoWhole {
		return []Issue{{rules.CRDSchemaUnchecked, preview.NotKnown, version, "", "schema", "too deep or too large", "too deep or too large"}}
	}
	var out []Issue
	for _, path := range slices.Sorted(maps.Keys(olds)) {
		was := olds[path]
		is, ok := news[path]
		if !ok {
			if _, parent := news[was.parent]; parent { // else its parent is reported
				out = append(out, Issue{rules.CRDFieldRemoved, preview.Warning, version, path, "field", typeOf(was.body), "none"})
			}
			continue
		}
		for _, issue := range compareNodes(was.body, is.body) {
			issue.Version, issue.Path = version, path
			out = append(out, issue)
		}
	}
	return out
}

func typeOf(schema map[string]any) string {
	if t := preview.String(schema, "type"); t != "" {
		return clip(t)
	}
	return "defined"
}

// compareNodes returns the issues between the old and the new schema of one field.
func compareNodes(before, after map[string]any) []Issue {
	var out []Issue
	add := func(rule rules.Rule, severity preview.Severity, what string) {
		out = append(out, Issue{Rule: rule, Severity: severity, What: what, Before: text(before[what]), After: text(after[what])})
	}
	keys := map[string]bool{}
	for key := range before {
		keys[key] = true
	}
	for key := range after {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		was, is := before[key], after[key]
		switch key {
		case "description", "title", "example", "externalDocs", "properties":
			continue // says nothing, or is compared field by field
		}
		if key != "default" {
			was, is = dropDefaults(was), dropDefaults(is)
		}
		if same(was, is) {
			continue
		}
		switch key {
		case "items", "additionalProperties":
			if _, wasSchema := was.(map[string]any); !wasSchema { // else it is compared or reported as gone
				add(rules.CRDSchemaChanged, preview.Info, key)
			}
		case "type":
			add(rules.CRDTypeChanged, preview.Warning, key)
		case "required", "enum":
			out = append(out, compareLists(key, was, is)...)
		case "default":
			add(rules.CRDDefaultChanged, preview.Info, key)
		case "minimum", "minLength", "minItems", "minProperties":
			if is != nil && (was == nil || isLess(was, is)) {
				add(rules.CRDMinimumRaised, preview.Warning, key)
			}
		case "maximum", "maxLength", "maxItems", "maxProperties":
			if is != nil && (was == nil || isLess(is, was)) {
				add(rules.CRDMaximumLowered, preview.Warning, key)
			}
		case "pattern":
			add(rules.CRDPatternChanged, isTighter(is != nil), key)
		case "nullable":
			add(rules.CRDNullableChanged, isTighter(is == nil), key)
		default:
			add(rules.CRDSchemaChanged, isTighter(restricts(key, was, is)), key)
		}
	}
	return out
}

// compareLists returns an issue for each required field that is new, or each enum value
// that is removed.
func compareLists(key string, was, is any) []Issue {
	olds, news := texts(was), texts(is)
	rule, lost := rules.CRDRequiredAdded, missingItems(news, olds)
	if key == "enum" {
		rule, lost = rules.CRDEnumNarrowed, missingItems(olds, news)
		if was == nil {
			return []Issue{{Rule: rule, Severity: preview.Warning, What: key, Before: "none", After: clip(strings.Join(news, " "))}}
		}
		if is == nil {
			return nil
		}
	}
	var out []Issue
	for _, value := range lost {
		issue := Issue{Rule: rule, Severity: preview.Warning, What: key, Before: "none", After: value}
		if key == "enum" {
			issue.Before, issue.After = value, "none"
		}
		out = append(out, issue)
	}
	return out
}

func texts(v any) []string {
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, item := range list {
		out = append(out, text(item))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// missingItems returns the items of a that are not in b; both are sorted.
func missingItems(a, b []string) []string {
	var out []string
	for _, item := range a {
		if _, found := slices.BinarySearch(b, item); !found {
			out = append(out, item)
		}
	}
	return out
}

func isTighter(yes bool) preview.Severity {
	if yes {
		return preview.Warning
	}
	return preview.Info
}

// restricts reports whether a changed property of a schema may make the API server
// refuse, or drop, what it accepted before.
func restricts(key string, was, is any) bool {
	switch key {
	case "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string":
		return is == nil
	case "x-kubernetes-validations", "allOf", "anyOf", "oneOf", "not", "multipleOf", "format", "uniqueItems", "exclusiveMinimum", "exclusiveMaximum":
		return is != nil
	}
	return was != nil && is != nil
}

// dropDefaults returns nil for a value that means the same as none, such as false or an
// empty list.
func dropDefaults(v any) any {
	switch v := v.(type) {
	case bool:
		if !v {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
	}
	return v
}

func same(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	x, errX := preview.Canonical(a)
	y, errY := preview.Canonical(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// isLess reports whether a limit is lower than another. A missing limit counts as 0.
func isLess(a, b any) bool {
	x, whole := a.(int64)
	y, alsoWhole := b.(int64)
	if whole && alsoWhole {
		return x < y
	}
	return number(a) < number(b)
}

func number(v any) float64 {
	data, err := preview.Canonical(v)
	if err != nil {
		return 0
	}
	f, _ := strconv.ParseFloat(string(data), 64) // 0, or an infinity that is right
	return f
}

// text returns a value of a schema as text. A long one is cut and its hash added, so
// that different values have different texts.
func text(v any) string {
	if v == nil {
		return "none"
	}
	data, err := preview.Canonical(v)
	if err != nil {
		return "unreadable"
	}
	return clip(string(data))
}

func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText-24], "") + "… (" + preview.HashBytes([]byte(s))[:19] + ")"
}
