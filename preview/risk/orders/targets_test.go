package orders

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
)

// Each row is of kinds that a controller of the table acts on, and finds the value at its
// own path.
func TestEachLineOfTheTargetsIsARow(t *testing.T) {
	lines := 0
	for line := range strings.Lines(targetData) {
		if !strings.HasPrefix(line, "#") {
			lines += len(strings.Fields(strings.Split(line, "\t")[0]))
		}
	}
	rows := 0
	for kind, of := range targetRows() {
		group, name, _ := strings.Cut(string(kind), "/")
		if k, known := deputy.Of(group, name); !known || k.Kind != name {
			t.Errorf("%s is in no row of the table of kinds", kind)
		}
		for _, row := range of {
			rows++
			if !slices.Contains([]Means{File, Address, Store, Service, Route}, row.means) {
				t.Errorf("%s: %q", kind, row.means)
			}
			found := Targets(kind, map[string]any{row.path[0]: valueAt(row.path[1:])})
			if !slices.ContainsFunc(found, func(target Target) bool { return target.Means == row.means && target.Value == "x" }) {
				t.Errorf("%s: nothing at %s", kind, strings.Join(row.path, "."))
			}
		}
	}
	if rows != lines {
		t.Errorf("%d rows of %d kinds in the lines", rows, lines)
	}
	if found := Targets(preview.GroupKind("example.com/ServiceMonitor"), map[string]any{"spec": map[string]any{}}); found != nil {
		t.Errorf("of a kind in another group: %v", found)
	}
}

// valueAt returns an object that has "x" at a path.
func valueAt(path []string) map[string]any {
	name, filter, list := strings.Cut(strings.TrimSuffix(path[0], "]"), "[")
	var v any = "x"
	if len(path) > 1 {
		v = valueAt(path[1:])
	}
	if field, want, filtered := strings.Cut(filter, "="); filtered {
		v.(map[string]any)[field] = want
	}
	if list {
		v = []any{v}
	}
	return map[string]any{name: v}
}
