package diff

import (
	"cmp"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Setter is the field manager that last set a field of a live object, by
// metadata.managedFields. Time is RFC 3339, empty if it is not known.
type Setter struct {
	Manager string
	Time    string
}

// SetField is a field of a live object, with its value, masked if it is sensitive, and
// its last manager.
type SetField struct {
	Path  string
	Value any
	Setter
}

// SetFields returns the fields of a live object that a manager has set, sorted by path
// as in [Changes]. Status, empty maps, and volatile fields that the plan does not set are
// left out.
func SetFields(o *preview.Object) []SetField {
	live := o.LiveBody
	// Masked before it is cut: a cut text does not show its kind.
	steady := preview.MaskObject(preview.WithoutVolatile(live, o.Planned))
	last := map[string]SetField{}
	for _, owner := range preview.FieldOwners(live) {
		for _, c := range Changes(nil, owner.Cut(steady)) {
			if before, ok := last[c.Path]; ok && before.Time > owner.Time || isEmptied(c.To) {
				continue
			}
			last[c.Path] = SetField{Path: c.Path, Value: c.To, Setter: Setter{owner.Manager, owner.Time}}
		}
	}
	out := make([]SetField, 0, len(last))
	for _, f := range last {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b SetField) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// isEmptied reports whether a value is an empty map, as remains where a manager has set
// volatile fields only.
func isEmptied(v any) bool {
	m, ok := v.(map[string]any)
	return ok && len(m) == 0
}
