package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// Move is one Fact that is not what it was at review. Values are text for a
// person; sensitive ones are masked.
type Move struct {
	Path, Reviewed, Now string
}

func (m Move) String() string {
	return fmt.Sprintf("%s: reviewed %s, now %s", m.Path, orNone(m.Reviewed), orNone(m.Now))
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return clip(s, 120)
}

// Moved compares the facts of two plans of the same content. Where a live
// object moved, or what this tool found out about one, it names the fields that
// did, not the fingerprint.
func Moved(reviewed, now *preview.Plan, typer preview.Typer) []Move {
	var out []Move
	fieldsOf, named := map[string][]Move{}, map[string]bool{}
	objects, reads := now.ObjectsByID(), map[string]*preview.Read{}
	for i := range now.Reads {
		reads[now.Reads[i].ID] = &now.Reads[i]
	}
	for i := range reviewed.Objects {
		before := &reviewed.Objects[i]
		after := objects[before.ID]
		if after == nil || before.Live.Fingerprint == after.Live.Fingerprint {
			continue
		}
		fieldsOf[before.ID] = movedFields(before, after, typer)
	}
	for i := range reviewed.Reads {
		before := &reviewed.Reads[i]
		if preview.String(before.Body, "apiVersion") == preview.APIVersion {
			fieldsOf[before.ID] = movedNote(before, reads[before.ID])
		}
	}
	for _, move := range differences(reviewed.Facts(), now.Facts()) {
		id, ok := fingerprintOf(move.Path)
		switch {
		case !ok || fieldsOf[id] == nil:
			out = append(out, move)
		case !named[id]:
			out, named[id] = append(out, fieldsOf[id]...), true
		}
	}
	return out
}

// fingerprintOf returns the id in the path of a fingerprint, such as
// objects[ID].live.fingerprint or reads[ID].fingerprint.
func fingerprintOf(path string) (id string, ok bool) {
	for _, form := range []struct{ prefix, suffix string }{
		{"objects[", "].live.fingerprint"}, {"objects[", "].adoption.fingerprint"}, {"reads[", "].fingerprint"},
	} {
		if rest, cut := strings.CutPrefix(path, form.prefix); cut {
			if id, ok = strings.CutSuffix(rest, form.suffix); ok {
				return id, true
			}
		}
	}
	return "", false
}

// movedNote names what is not as it was of what this tool found out.
func movedNote(before, now *preview.Read) []Move {
	if now == nil {
		return nil
	}
	var out []Move
	for _, move := range differences(before.Body, now.Body) {
		move.Path = before.ID + " " + move.Path
		out = append(out, move)
	}
	return out
}

func movedFields(before, after *preview.Object, typer preview.Typer) []Move {
	cut := func(o *preview.Object) map[string]any {
		if o.LiveBody == nil || o.Whole() {
			return o.LiveBody
		}
		body, err := o.Relevant(typer, o.LiveBody)
		if err != nil {
			return o.LiveBody
		}
		return body
	}
	if before.LiveBody == nil || after.LiveBody == nil {
		return []Move{{Path: before.ID, Reviewed: presence(before), Now: presence(after)}}
	}
	var out []Move
	for _, c := range diff.Changes(cut(before), cut(after)) {
		out = append(out, Move{Path: before.ID + " " + c.Path, Reviewed: show(c.From), Now: show(c.To)})
	}
	return out
}

// presence says whether an object is there at all, and whose it is.
func presence(o *preview.Object) string {
	if o.LiveBody == nil {
		return "absent"
	}
	if release := preview.String(o.LiveBody, "metadata", "labels", preview.LabelRelease); release != "" {
		return "present, of release " + release
	}
	return "present"
}

func show(v any) string {
	if v == nil {
		return ""
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// differences lists the leaves at which two of our own values differ in JSON
// form, in path order. List items with an id or object are matched by it.
func differences(a, b any) []Move {
	x, errX := generic(a)
	y, errY := generic(b)
	if errX != nil || errY != nil {
		return []Move{{Path: "a value that has no JSON form"}}
	}
	var out []Move
	compareLeaves("", x, y, &out)
	return out
}

func generic(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return preview.DecodeJSON(data)
}

func compareLeaves(path string, a, b any, out *[]Move) {
	if x, ok := a.(map[string]any); ok {
		if y, ok := b.(map[string]any); ok {
			for _, key := range unionKeys(x, y) {
				at := key
				if path != "" {
					at = path + "." + key
				}
				compareLeaves(at, x[key], y[key], out)
			}
			return
		}
	}
	if x, ok := a.([]any); ok {
		if y, ok := b.([]any); ok {
			compareItems(path, keyed(x), keyed(y), out)
			return
		}
	}
	if show(a) != show(b) {
		*out = append(*out, Move{Path: path, Reviewed: show(a), Now: show(b)})
	}
}

func compareItems(path string, a, b map[string]any, out *[]Move) {
	for _, key := range unionKeys(a, b) {
		compareLeaves(path+"["+key+"]", a[key], b[key], out)
	}
}

// keyed indexes list items by their id where they have one, else by position.
func keyed(items []any) map[string]any {
	out := make(map[string]any, len(items))
	for i, item := range items {
		key := fmt.Sprintf("%05d", i)
		if m, ok := item.(map[string]any); ok {
			for _, field := range []string{"id", "object"} {
				if id := preview.String(m, field); id != "" {
					key = id
				}
			}
		}
		if _, taken := out[key]; taken {
			key += "#" + strconv.Itoa(i)
		}
		out[key] = item
	}
	return out
}

func unionKeys(a, b map[string]any) []string {
	var keys []string
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, both := a[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}
