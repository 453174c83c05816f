package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The operations of a [preview.Change].
const (
	OpAdd    = "add"
	OpRemove = "remove"
	OpChange = "change"
)

// MaskedChanged is displayed as the new value of a sensitive field that changes.
const MaskedChanged = "(secret, changed)"

// Changes returns the fields that differ between result and live, sorted by path. If
// live is nil every field is added, if result is nil every field is removed.
//
// Items of a list are matched by the API's merge key, or by name, if every item has one
// and no two have the same. Otherwise equal items are matched first and the others in
// order, and paths have the index. In lists of scalars, the change of an item has the
// path PATH[]; if only the order changes, From and To have all items or their keys.
func Changes(live, result map[string]any) []preview.Change {
	return sorted(differences(live, result))
}

// sorted returns differences as changes, sorted by path.
func sorted(found []difference) []preview.Change {
	changes := []preview.Change{}
	for _, d := range found {
		changes = append(changes, d.changes()...)
	}
	slices.SortStableFunc(changes, func(a, b preview.Change) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Op, b.Op))
	})
	return changes
}

// Values is [Changes] for values that are no objects, whose sensitive values are masked
// already.
func Values(before, after map[string]any) []preview.Change {
	w := &walker{}
	w.maps("", node{before, before}, node{after, after})
	return sorted(w.found)
}

// ResultHash returns a hash of the paths and values in result that differ from live, or
// of all if live is nil. Fields of live that the result does not change have no effect on
// it. Sensitive values are hashed with scrypt. It reports too whether any field differs.
func ResultHash(live, result map[string]any) (hash string, differs bool, err error) {
	var pairs []any
	secrets := map[string]any{}
	found := differences(live, result)
	for _, d := range found {
		pair := map[string]any{"path": d.path, "op": d.op, "value": d.to.shown}
		if d.to.isScalar() && d.to.shown != d.to.raw {
			secrets[d.path] = d.to.raw
		}
		pairs = append(pairs, pair)
	}
	hashed := map[string]any{"pairs": pairs}
	if len(secrets) > 0 {
		digest, err := hashSecrets(result, secrets)
		if err != nil {
			return "", false, err
		}
		hashed["sensitive"] = digest
	}
	hash, err = preview.Hash(hashed)
	return hash, len(found) > 0, err
}

// hashSecrets returns the scrypt hash of sensitive values. They are hashed as the data
// of a Secret, by the function for those.
func hashSecrets(object, values map[string]any) (string, error) {
	ref := preview.RefOf(object)
	return preview.HashObject(map[string]any{
		"apiVersion": object["apiVersion"], "kind": "Secret", "data": values,
		"metadata": map[string]any{"namespace": ref.Namespace, "name": ref.Kind + "/" + ref.Name},
	}, "")
}

// difference is a field, or a list of scalars, that differs between two objects.
type difference struct {
	path     string
	op       string
	from, to node
	// order is true if only the order of items differs.
	order bool
}

func differences(live, result map[string]any) []difference {
	w := &walker{}
	w.maps("", nodeOf(live), nodeOf(result))
	slices.SortStableFunc(w.found, func(a, b difference) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.op, b.op))
	})
	return w.found
}

// changes returns the difference as it is displayed.
func (d difference) changes() []preview.Change {
	if d.op == OpChange && !d.order {
		if items := d.itemChanges(); items != nil {
			return items
		}
	}
	change := preview.Change{Path: d.path, Op: d.op, From: d.from.shown, To: d.to.shown}
	if d.op == OpChange && d.to.isScalar() && d.to.shown == preview.Masked && d.from.shown == preview.Masked {
		change.To = MaskedChanged
	}
	return []preview.Change{change}
}

// itemChanges returns the items that were added to or removed from a list of scalars;
// nil if the other items are in another order, or the values are no lists.
func (d difference) itemChanges() []preview.Change {
	from, fromOK := d.from.shown.([]any)
	to, toOK := d.to.shown.([]any)
	if !fromOK || !toOK {
		return nil
	}
	lost, kept := splitCommon(from, to)
	gained, keptTo := splitCommon(to, from)
	if !slices.EqualFunc(kept, keptTo, scalarEqual) {
		return nil
	}
	var changes []preview.Change
	for _, item := range gained {
		changes = append(changes, preview.Change{Path: d.path + "[]", Op: OpAdd, To: item})
	}
	for _, item := range lost {
		changes = append(changes, preview.Change{Path: d.path + "[]", Op: OpRemove, From: item})
	}
	return changes
}

// splitCommon returns the items of a list that the other list lacks, and those that it
// has too. Repeated items are counted.
func splitCommon(list, other []any) (missing, kept []any) {
	count := map[string]int{}
	for _, item := range other {
		count[scalarKey(item)]++
	}
	for _, item := range list {
		if key := scalarKey(item); count[key] > 0 {
			count[key]--
			kept = append(kept, item)
		} else {
			missing = append(missing, item)
		}
	}
	return missing, kept
}
