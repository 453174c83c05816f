package diff

import (
	"slices"
	"strconv"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// node is a value in two forms: raw for comparing, and shown for display, with
// sensitive values masked.
type node struct {
	raw, shown any
}

func nodeOf(body map[string]any) node {
	if body == nil {
		return node{}
	}
	return node{raw: body, shown: preview.MaskObject(body)}
}

func (n node) isScalar() bool {
	switch n.raw.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func (n node) keys() []string {
	m, _ := n.raw.(map[string]any)
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

// at returns the node under a key. If shown is the mask of the whole map, it is the mask
// of the value too.
func (n node) at(key string) node {
	raw, _ := n.raw.(map[string]any)
	if shown, ok := n.shown.(map[string]any); ok {
		return node{raw[key], shown[key]}
	}
	return node{raw[key], n.shown}
}

func (n node) items() []node {
	raw, _ := n.raw.([]any)
	shown, ok := n.shown.([]any)
	items := make([]node, len(raw))
	for i := range raw {
		items[i] = node{raw[i], n.shown}
		if ok {
			items[i].shown = shown[i]
		}
	}
	return items
}

type walker struct {
	found []difference
}

func (w *walker) add(path, op string, from, to node) {
	w.found = append(w.found, difference{path: path, op: op, from: from, to: to})
}

// values compares two values, of which one may be missing, and adds their differences.
func (w *walker) values(path, field string, from, to node) {
	switch to.raw.(type) {
	case map[string]any:
		if _, same := from.raw.(map[string]any); same {
			w.maps(path, from, to)
			return
		}
	case []any:
		if _, same := from.raw.([]any); same {
			w.lists(path, field, from, to)
			return
		}
	}
	switch {
	case from.raw == nil:
		w.leaves(path, field, OpAdd, to)
	case to.raw == nil:
		w.leaves(path, field, OpRemove, from)
	case from.isScalar() && to.isScalar():
		if !scalarEqual(from.raw, to.raw) {
			w.add(path, OpChange, from, to)
		}
	default:
		w.leaves(path, field, OpRemove, from)
		w.leaves(path, field, OpAdd, to)
	}
}

func (w *walker) maps(path string, from, to node) {
	before, _ := from.raw.(map[string]any)
	after, _ := to.raw.(map[string]any)
	for key := range before {
		w.key(path, key, from, to)
	}
	for key := range after {
		if _, both := before[key]; !both {
			w.key(path, key, from, to)
		}
	}
}

// key compares the values under a key. Most are equal scalars, and need no path.
func (w *walker) key(path, key string, from, to node) {
	f, t := from.at(key), to.at(key)
	if f.raw == nil && t.raw == nil || f.isScalar() && t.isScalar() && scalarEqual(f.raw, t.raw) {
		return
	}
	w.values(path+preview.PathKey(key), key, f, t)
}

func (w *walker) lists(path, field string, from, to node) {
	before, after := from.items(), to.items()
	if scalars(before) && scalars(after) {
		if !slices.EqualFunc(before, after, func(a, b node) bool { return scalarEqual(a.raw, b.raw) }) {
			w.add(path, OpChange, from, to)
		}
		return
	}
	pairs := match(field, before, after)
	for _, p := range pairs {
		itemPath := path + "[" + p.name + "]"
		switch {
		case p.from < 0:
			w.leaves(itemPath, "", OpAdd, after[p.to])
		case p.to < 0:
			w.leaves(itemPath, "", OpRemove, before[p.from])
		case !p.equal:
			w.values(itemPath, "", before[p.from], after[p.to])
		}
	}
	if was, is, moved := order(pairs); moved {
		w.found = append(w.found, difference{
			path: path, op: OpChange, order: true,
			from: node{raw: was, shown: was}, to: node{raw: is, shown: is},
		})
	}
}

// leaves adds everything in a value as added or removed. Empty maps and lists are added
// too, because emptyDir: {} has a meaning; lists of scalars are added as one.
func (w *walker) leaves(path, field, op string, n node) {
	switch v := n.raw.(type) {
	case map[string]any:
		keys := n.keys()
		slices.Sort(keys)
		for _, key := range keys {
			if child := n.at(key); child.raw != nil {
				w.leaves(path+preview.PathKey(key), key, op, child)
			}
		}
		if len(v) > 0 {
			return
		}
	case []any:
		items := n.items()
		if scalars(items) {
			break
		}
		key := listKey(field, items, nil)
		for i, item := range items {
			w.leaves(path+"["+itemName(key, item, i)+"]", "", op, item)
		}
		return
	case nil:
		return
	}
	if op == OpAdd {
		w.add(path, op, node{}, n)
	} else {
		w.add(path, op, n, node{})
	}
}

func scalars(items []node) bool {
	return !slices.ContainsFunc(items, func(n node) bool { return !n.isScalar() })
}

// scalarEqual reports whether two scalars have the same canonical JSON; 1 and 1.0 do.
func scalarEqual(a, b any) bool {
	return a == b || scalarKey(a) == scalarKey(b)
}

func scalarKey(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case map[string]any, []any:
		return ""
	}
	data, err := preview.Canonical(v)
	if err != nil {
		return ""
	}
	return string(data)
}
