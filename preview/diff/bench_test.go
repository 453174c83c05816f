package diff

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkHunks(b *testing.B) {
	for _, lines := range []int{1_000, 100_000} {
		before := make([]string, lines)
		for i := range before {
			before[i] = fmt.Sprintf("  key%d: value %d", i, i%7)
		}
		after := append([]string(nil), before...)
		for i := 0; i < lines; i += 50 {
			after[i] += " changed"
		}
		from, to := strings.Join(before, "\n"), strings.Join(after, "\n")
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			for b.Loop() {
				Hunks(from, to, 3)
			}
		})
	}
}

// BenchmarkChanges compares two objects of the size of a large CRD.
func BenchmarkChanges(b *testing.B) {
	schema := func(description string) map[string]any {
		properties := map[string]any{}
		for i := range 2000 {
			properties[fmt.Sprint("field", i)] = map[string]any{
				"type": "object", "description": description,
				"required": []any{"a", "b"}, "properties": map[string]any{"a": map[string]any{"type": "string"}},
			}
		}
		return map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "x"},
			"spec": map[string]any{"versions": []any{map[string]any{"name": "v1", "schema": properties}}},
		}
	}
	before, after := schema("old"), schema("new")
	for b.Loop() {
		if len(Changes(before, after)) != 2000 {
			b.Fatal("wrong number of changes")
		}
	}
}
