package diff

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// listKeys are the fields that identify the items of a list, by the name of the list's
// field, in the order that they are tried. All other lists try "name".
var listKeys = map[string][]string{
	"volumeMounts":     {"mountPath"},
	"volumeDevices":    {"devicePath"},
	"ports":            {"name", "containerPort", "port"},
	"conditions":       {"type"},
	"ownerReferences":  {"uid"},
	"matchExpressions": {"key"},
	"hostAliases":      {"ip"},
}

// pair matches an old item of a list with a new one, by their indexes; -1 means none.
// name is the item in paths. equal means that the two are known to be equal. id is the
// item in both lists, empty if items were paired by order, which then cannot differ.
type pair struct {
	name, id string
	from, to int
	equal    bool
}

// match pairs the items of two lists, in the order of the new list, with removed items
// last.
func match(field string, before, after []node) []pair {
	if key := listKey(field, before, after); key != "" {
		return matchByKey(key, before, after)
	}
	return matchByContent(before, after)
}

func matchByKey(key string, before, after []node) []pair {
	at := map[string]int{}
	for i, item := range before {
		at[itemName(key, item, i)] = i
	}
	var pairs []pair
	for i, item := range after {
		p := pair{name: itemName(key, item, i), from: -1, to: i}
		if from, ok := at[p.name]; ok {
			p.from, p.id = from, p.name
			delete(at, p.name)
		}
		pairs = append(pairs, p)
	}
	for i, item := range before {
		if name := itemName(key, item, i); has(at, name) {
			pairs = append(pairs, pair{name: name, from: i, to: -1})
		}
	}
	return pairs
}

func has(m map[string]int, key string) bool {
	_, ok := m[key]
	return ok
}

// matchByContent pairs equal items wherever they are, then the others in order, so that
// an inserted first item does not look like a change of all items.
func matchByContent(before, after []node) []pair {
	equal := map[string][]int{}
	for i, item := range before {
		digest := itemDigest(item)
		equal[digest] = append(equal[digest], i)
	}
	pairs := make([]pair, len(after))
	taken := make([]bool, len(before))
	for i, item := range after {
		pairs[i] = pair{name: strconv.Itoa(i), from: -1, to: i}
		digest := itemDigest(item)
		if same := equal[digest]; len(same) > 0 {
			pairs[i].from, pairs[i].id, pairs[i].equal = same[0], strconv.Itoa(same[0]), true
			taken[same[0]], equal[digest] = true, same[1:]
		}
	}
	next := 0
	for i := range pairs {
		for next < len(before) && taken[next] {
			next++
		}
		if pairs[i].from < 0 && next < len(before) {
			pairs[i].from, taken[next] = next, true
		}
	}
	for i := range before {
		if !taken[i] {
			pairs = append(pairs, pair{name: strconv.Itoa(i), from: i, to: -1})
		}
	}
	return pairs
}

// order returns the items that are in both lists, by name or old index, in the old and
// in the new order; moved is true if these differ.
func order(pairs []pair) (was, is []any, moved bool) {
	byFrom := map[int]string{}
	last, size := -1, 0
	for _, p := range pairs {
		if p.id == "" {
			continue
		}
		moved = moved || p.from < last
		last, size = p.from, max(size, p.from+1)
		byFrom[p.from] = p.id
		is = append(is, p.id)
	}
	for i := range size {
		if id, ok := byFrom[i]; ok {
			was = append(was, id)
		}
	}
	return was, is, moved
}

// listKey returns the field that identifies the items of both lists, empty if there is
// none.
func listKey(field string, before, after []node) string {
	candidates, ok := listKeys[field]
	if !ok {
		candidates = []string{"name"}
	}
	for _, key := range candidates {
		if identifiesItems(key, before) && identifiesItems(key, after) {
			return key
		}
	}
	return ""
}

func identifiesItems(key string, items []node) bool {
	seen := map[string]bool{}
	for _, item := range items {
		m, ok := item.raw.(map[string]any)
		if !ok {
			return false
		}
		value, ok := m[key]
		id := scalarKey(value)
		if !ok || id == "" || seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// itemName returns the text in the brackets of an item's path: KEY=VALUE, with the
// value quoted if it has special characters, or the index.
func itemName(key string, item node, position int) string {
	m, _ := item.raw.(map[string]any)
	if key == "" || m == nil {
		return strconv.Itoa(position)
	}
	value := fmt.Sprint(m[key])
	if value == "" || strings.ContainsAny(value, "[]'= ") {
		value = "'" + strings.ReplaceAll(value, "'", `\'`) + "'"
	}
	return key + "=" + value
}

func itemDigest(item node) string {
	data, err := preview.Canonical(item.raw)
	if err != nil {
		// Not comparable, so equal to nothing but its own printed form.
		return fmt.Sprintf("%#v", item.raw)
	}
	return string(data)
}
