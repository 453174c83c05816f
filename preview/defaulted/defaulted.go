package defaulted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// Unexplained returns the differences between an object as it is sent and as the API
// server answers, without those that the API server makes in every cluster: its defaults,
// the fields that it allocates, and other notations of the same value. sent may have
// defaults already, such as a CRD schema's. Sensitive values are masked.
func Unexplained(sent, result map[string]any) []preview.Change {
	sent, result = completed(sent, result)
	var out []preview.Change
	for _, c := range diff.Changes(sent, result) {
		if !explains(sent, c) {
			out = append(out, c)
		}
	}
	return out
}

// Added returns the differences that add a field.
func Added(changes []preview.Change) []preview.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c preview.Change) bool { return c.Op != diff.OpAdd })
}

// explains reports whether a difference is one that the API server makes by itself.
func explains(sent map[string]any, c preview.Change) bool {
	switch c.Op {
	case diff.OpRemove:
		return IsEmpty(c.From)
	case diff.OpChange:
		return Covers(c.From, c.To, c.Path)
	}
	return isDefault(preview.RefOf(sent), pattern(c.Path), c.To)
}

// isDefault reports whether a value at a path pattern is the default of that field.
func isDefault(of preview.Ref, path string, value any) bool {
	if values, ok := everywhere[path]; ok {
		return values.has(value)
	}
	if template, ok := preview.PodTemplatePath(of.Kind); ok && builtIn(of) {
		prefix := "." + strings.Join(append(slices.Clone(template), "spec"), ".")
		if field, inside := strings.CutPrefix(path, prefix); inside {
			if values, ok := podDefaults[ofContainer(field)]; ok {
				return values.has(value)
			}
		}
	}
	for _, defaults := range []map[preview.GroupKind]map[string]values{kindDefaults, clusterDefaults} {
		if values, ok := defaults[of.GroupKind()][path]; ok {
			return values.has(value)
		}
	}
	return false
}

// builtIn reports whether a kind that has pods is one of the API server's own.
func builtIn(ref preview.Ref) bool {
	switch ref.Group() {
	case "", "apps", "batch":
		return true
	}
	return false
}

// ofContainer returns the path of a field of an init container or of a probe as a path of
// a container's liveness probe, which has the same defaults.
func ofContainer(field string) string {
	for _, list := range []string{".initContainers[]", ".ephemeralContainers[]"} {
		if rest, ok := strings.CutPrefix(field, list); ok {
			field = ".containers[]" + rest
		}
	}
	for _, probe := range []string{".readinessProbe", ".startupProbe"} {
		if rest, ok := strings.CutPrefix(field, ".containers[]"+probe); ok {
			field = ".containers[].livenessProbe" + rest
		}
	}
	return field
}

// pattern returns a path of [diff.Changes] without the names of list items:
// ".spec.containers[name=x].image" becomes ".spec.containers[].image". A key of a map that
// is quoted stays as it is.
func pattern(path string) string {
	var b strings.Builder
	for len(path) > 0 {
		open := strings.IndexByte(path, '[')
		if open < 0 {
			b.WriteString(path)
			break
		}
		b.WriteString(path[:open])
		path = path[open:]
		end := closing(path)
		if strings.HasPrefix(path, "['") {
			b.WriteString(path[:end])
		} else {
			b.WriteString("[]")
		}
		path = path[end:]
	}
	return b.String()
}

// closing returns the index behind the bracket that closes the one at the beginning of a
// path. Brackets in quotes do not count.
func closing(path string) int {
	quoted := false
	for i := 1; i < len(path); i++ {
		switch {
		case path[i] == '\\' && quoted:
			i++
		case path[i] == '\'':
			quoted = !quoted
		case path[i] == ']' && !quoted:
			return i + 1
		}
	}
	return len(path)
}

// values are the defaults of one field as texts: "{}" for an empty map, "[a b]" for a list,
// or [anything].
type values []string

func (v values) has(value any) bool {
	text := fmt.Sprint(value)
	switch x := value.(type) {
	case map[string]any:
		if len(x) > 0 {
			return false
		}
		text = "{}"
	case []any:
		if len(x) == 0 {
			text = "[]"
		}
	}
	return slices.Contains(v, text) || slices.Contains(v, anything)
}
