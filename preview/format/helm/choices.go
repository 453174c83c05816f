package helm

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// maxChoices is the most other settings of a chart that are tried to find one that
// needs fewer rights.
const maxChoices = 4

// Names that publishers of charts give to values that decide between permissions in
// one namespace and in all, in lower case and without separators.
var (
	wideSwitches = []string{
		"clusterscoped", "clusterwide", "clusterrole", "clusterroles", "clusterrbac", "useclusterrole", "createclusterrole", "createclusterroles",
		"allnamespaces", "watchallnamespaces", "watchanynamespace", "clusterscope", "clusterscopedrbac", "useclusterroles", "clusterresources",
	}
	narrowSwitches = []string{
		"namespaced", "namespacescoped", "namespacedscope", "singlenamespace", "restrictedtonamespace", "ownnamespace", "namespacedrbac", "scope",
	}
	namespaceLists = []string{"namespaces", "watchnamespace", "watchnamespaces", "jobnamespaces", "watchednamespaces"}
)

// Choices returns settings of values whose names say that they restrict the chart to
// its own namespace, such as clusterScoped=false, as far as they are not set so
// already.
func (chartFormat) Choices(in format.Input) ([]format.Choice, error) {
	root, err := chartRoot(in.Content)
	if err != nil || root == "" {
		return nil, err
	}
	data, err := readFile(in.Content, path.Join(root, "values.yaml"), maxMetadataBytes)
	if err != nil {
		return nil, err
	}
	docs, err := preview.Decode(data)
	if err != nil || len(docs) != 1 {
		return nil, err
	}
	defaults, _ := docs[0].(map[string]any)
	all := format.Choice{Params: in.Params}
	var single []format.Choice
	narrower(defaults, in.Params.Values, in.Release.Namespace, nil, func(keys []string, value any, text string) {
		one := format.Choice{Flags: []string{"--set", strings.Join(keys, ".") + "=" + text}, Params: in.Params}
		one.Params.Values = with(in.Params.Values, keys, value)
		all.Flags, all.Params.Values = append(all.Flags, one.Flags...), with(all.Params.Values, keys, value)
		single = append(single, one)
	})
	if len(single) > 1 { // some only work together
		single = append([]format.Choice{all}, single...)
	}
	return single[:min(len(single), maxChoices)], nil
}

// narrower calls found with each setting that restricts a chart, sorted by name. above
// is the path of keys to defaults, and given has the user's values at that path.
func narrower(defaults, given map[string]any, namespace string, above []string, found func(keys []string, value any, text string)) {
	for _, key := range slices.Sorted(maps.Keys(defaults)) {
		if strings.ContainsAny(key, ".,=[]{}\\ ") {
			continue // --set would read it otherwise
		}
		keys := append(slices.Clone(above), key)
		set, isSet := given[key]
		switch v := defaults[key].(type) {
		case map[string]any:
			below, _ := set.(map[string]any)
			narrower(v, below, namespace, keys, found)
			continue
		case bool:
			if isSet {
				v, _ = set.(bool)
			}
			switch name := plainName(key); {
			case v && slices.Contains(wideSwitches, name):
				found(keys, false, "false")
			case !v && (slices.Contains(narrowSwitches, name) || name == "enabled" && len(above) > 0 && slices.Contains(narrowSwitches, plainName(above[len(above)-1]))):
				found(keys, true, "true")
			}
		case string:
			if v == "" && cmp.Or(set, any("")) == any("") && slices.Contains(namespaceLists, plainName(key)) {
				found(keys, namespace, namespace)
			}
		case []any:
			if isSet {
				v, _ = set.([]any)
			}
			if all := len(v) == 0 || len(v) == 1 && v[0] == ""; all && slices.Contains(namespaceLists, plainName(key)) {
				found(keys, []any{namespace}, "{"+namespace+"}")
			}
		}
	}
}

func plainName(key string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(key))
}

// with returns a copy of values with one more value, at a path of keys.
func with(values map[string]any, keys []string, value any) map[string]any {
	out := maps.Clone(values)
	if out == nil {
		out = map[string]any{}
	}
	if len(keys) == 1 {
		out[keys[0]] = value
		return out
	}
	below, _ := out[keys[0]].(map[string]any)
	out[keys[0]] = with(below, keys[1:], value)
	return out
}
