package plugins

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// mask returns a copy of values with sensitive ones masked, and the sensitive values by
// path. They are recognised by their keys, and by the name in {name, value} and {name,
// default}, which Optimus plugins use.
func mask(values map[string]any) (masked, secrets map[string]any) {
	masked, secrets = preview.MaskValues(values)
	maskPairs(masked, "", secrets)
	return masked, secrets
}

func maskPairs(v any, path string, secrets map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		name, _ := v["name"].(string)
		for _, key := range []string{"value", "default"} {
			if value, there := v[key]; there && value != preview.Masked && preview.SensitiveName(name) {
				v[key], secrets[path+preview.PathKey(key)] = preview.Masked, value
			}
		}
		for key, item := range v {
			maskPairs(item, path+preview.PathKey(key), secrets)
		}
	case []any:
		for i, item := range v {
			at := strconv.Itoa(i)
			if m, ok := item.(map[string]any); ok {
				if name, _ := m["name"].(string); name != "" {
					at = "name=" + name
				}
			}
			maskPairs(item, path+"["+at+"]", secrets)
		}
	}
}

// assignment matches NAME=VALUE and NAME: VALUE in a line of text, whatever its
// language.
var assignment = lazyregexp.New(`([A-Za-z_][A-Za-z0-9_.-]*)("?\s*[:=]\s*)(\S.*)`)

// maskLines masks, in each line of a text, the value assigned to a name such as
// DB_PASSWORD. A value that begins with $, a reference to a variable, is kept.
func maskLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		at := assignment.FindStringSubmatchIndex(line)
		if at == nil || !preview.SensitiveName(line[at[2]:at[3]]) {
			continue
		}
		if value := strings.TrimLeft(line[at[6]:at[7]], `"`); !strings.HasPrefix(value, "$") {
			lines[i] = line[:at[6]] + preview.Masked
		}
	}
	return strings.Join(lines, "\n")
}

func sortChanges(changes []preview.Change) {
	slices.SortStableFunc(changes, func(a, b preview.Change) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Op, b.Op))
	})
}
