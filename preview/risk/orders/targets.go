package orders

import (
	"cmp"
	_ "embed"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/tsv"
)

//go:embed targets.tsv
var targetData string

// Means says what the value of a field is.
type Means string

// What the values of fields are, see targets.tsv.
const (
	File    Means = "file"
	Address Means = "address"
	Store   Means = "store"
	Service Means = "service"
	Route   Means = "route"
)

// Target is a value in an object that says where something goes.
type Target struct {
	Means Means
	Value string
	// In has the fields beside it, and Above those of the item of a list that In is within;
	// nil for none.
	In, Above map[string]any
}

// targetRow is a row of targets.tsv.
type targetRow struct {
	path  []string
	means Means
}

var targetRows = sync.OnceValue(func() map[preview.GroupKind][]targetRow {
	out := map[preview.GroupKind][]targetRow{}
	for _, f := range tsv.Rows(targetData, 3) {
		for _, kind := range strings.Fields(f[0]) {
			out[preview.GroupKind(kind)] = append(out[preview.GroupKind(kind)], targetRow{strings.Split(f[1], "."), Means(f[2])})
		}
	}
	return out
})

// Targets returns the values in an object that say where something goes.
func Targets(kind preview.GroupKind, body map[string]any) []Target {
	var out []Target
	for _, row := range targetRows()[kind] {
		out = row.find(out, body, nil, row.path)
	}
	return out
}

// StoreRef returns the object that an order names as the place of its copies, in the
// order's API version. Kinds that are named after the cluster have no namespace.
func StoreRef(o *preview.Object, t Target) preview.Ref {
	ref := preview.Ref{APIVersion: o.APIVersion, Kind: cmp.Or(preview.String(t.In, "kind"), "SecretStore"), Namespace: o.Namespace, Name: t.Value}
	if strings.HasPrefix(ref.Kind, "Cluster") {
		ref.Namespace = ""
	}
	return ref
}

// find adds the values at the rest of a path below an object.
func (r targetRow) find(out []Target, in, above map[string]any, path []string) []Target {
	name, filter, list := strings.Cut(strings.TrimSuffix(path[0], "]"), "[")
	field, want, filtered := strings.Cut(filter, "=")
	for _, item := range itemsOf(in[name], list) {
		of, isObject := item.(map[string]any)
		text, _ := item.(string)
		switch {
		case filtered && preview.String(of, field) != want:
		case len(path) == 1 && text != "":
			out = append(out, Target{r.means, text, in, above})
		case len(path) > 1 && isObject && list:
			out = r.find(out, of, in, path[1:])
		case len(path) > 1 && isObject:
			out = r.find(out, of, above, path[1:])
		}
	}
	return out
}

func itemsOf(v any, list bool) []any {
	if items, is := v.([]any); is && list {
		return items
	}
	if list || v == nil {
		return nil
	}
	return []any{v}
}
