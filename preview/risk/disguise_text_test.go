package risk

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
)

// writing writes objects as the text of a file, in one of the ways that mean the
// same.
type writing struct {
	name  string
	write func(t testing.TB, bodies []map[string]any, random *rand.Rand) string
}

func writings() []writing {
	return []writing{
		{"in YAML", func(t testing.TB, bodies []map[string]any, _ *rand.Rand) string { return documents(t, bodies, "---\n") }},
		{"with comments at the separators, and empty documents", func(t testing.TB, bodies []map[string]any, _ *rand.Rand) string {
			return "# Copyright\n---\n---\n" + documents(t, bodies, "--- # next\n# more\n---\n") + "\n---\n"
		}},
		{"with Windows line ends and a byte order mark", func(t testing.TB, bodies []map[string]any, _ *rand.Rand) string {
			return "\ufeff" + strings.ReplaceAll(documents(t, bodies, "---\n"), "\n", "\r\n")
		}},
		{"as lines of JSON", func(t testing.TB, bodies []map[string]any, _ *rand.Rand) string {
			var lines []string
			for _, body := range bodies {
				lines = append(lines, jsonOf(t, body))
			}
			return strings.Join(lines, "\n---\n")
		}},
		{"as JSON with every character escaped", func(_ testing.TB, bodies []map[string]any, _ *rand.Rand) string {
			var lines []string
			for _, body := range bodies {
				lines = append(lines, escaped(body))
			}
			return strings.Join(lines, "\n---\n")
		}},
		{"in a List", func(t testing.TB, bodies []map[string]any, _ *rand.Rand) string {
			return documents(t, []map[string]any{listOf(bodies)}, "")
		}},
		{"in Lists of Lists", func(t testing.TB, bodies []map[string]any, random *rand.Rand) string {
			at := random.Intn(len(bodies) + 1)
			return documents(t, []map[string]any{listOf([]map[string]any{listOf(bodies[:at]), listOf([]map[string]any{listOf(bodies[at:])})})}, "")
		}},
		{"in a List by another name", func(t testing.TB, bodies []map[string]any, _ *rand.Rand) string {
			outer := listOf(bodies)
			outer["kind"], outer["apiVersion"] = "ClusterRoleList", rbacV1
			return documents(t, []map[string]any{outer}, "")
		}},
		{"by anchors and aliases", func(_ testing.TB, bodies []map[string]any, _ *rand.Rand) string {
			return withAliases(bodies)
		}},
		{"far to the right, after a harmless line", func(t testing.TB, bodies []map[string]any, _ *rand.Rand) string {
			var docs []string
			for _, body := range bodies {
				docs = append(docs, "# nothing to see\n"+strings.Repeat(" ", 400)+jsonOf(t, body)+"\n")
			}
			return strings.Join(docs, "---\n")
		}},
	}
}

func listOf(bodies []map[string]any) map[string]any {
	items := make([]any, 0, len(bodies))
	for _, body := range bodies {
		items = append(items, body)
	}
	return anyMap("apiVersion", "v1", "kind", "List", "items", items)
}

func documents(t testing.TB, bodies []map[string]any, separator string) string {
	t.Helper()
	var docs []string
	for _, body := range bodies {
		text, err := yaml.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, string(text))
	}
	return strings.Join(docs, separator)
}

func jsonOf(t testing.TB, body map[string]any) string {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// escaped writes a value as YAML flow style whose texts are all escapes.
func escaped(v any) string {
	switch v := v.(type) {
	case string:
		var out strings.Builder
		for _, r := range v {
			fmt.Fprintf(&out, `\U%08x`, r)
		}
		return `"` + out.String() + `"`
	case map[string]any:
		var parts []string
		for _, key := range wording.Keys(v) {
			parts = append(parts, escaped(key)+": "+escaped(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, escaped(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// withAliases writes every text once, with an anchor, and by alias from then on.
func withAliases(bodies []map[string]any) string {
	var docs []string
	for _, body := range bodies {
		w := aliases{seen: map[string]string{}}
		docs = append(docs, w.value(body))
	}
	return strings.Join(docs, "\n---\n")
}

type aliases struct{ seen map[string]string }

func (w *aliases) value(v any) string {
	switch v := v.(type) {
	case string:
		if name, known := w.seen[v]; known {
			return "*" + name + " "
		}
		name := "a" + strconv.Itoa(len(w.seen))
		w.seen[v] = name
		return "&" + name + " !!str " + strconv.Quote(v)
	case map[string]any:
		var parts []string
		for _, key := range wording.Keys(v) {
			parts = append(parts, strconv.Quote(key)+": "+w.value(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, w.value(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}
