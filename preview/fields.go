package preview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// How field conflicts with other managers are decided, the values of
// [Options.Conflicts]. The set is closed.
const (
	ConflictsFail  = "fail"  // the plan cannot be applied
	ConflictsTake  = "take"  // the reviewed fields are taken over
	ConflictsLeave = "leave" // the reviewed fields are not sent
	// ConflictsOwn takes back fields that the revision to go back to has set itself, and
	// fails on others. It is the default of a rollback: otherwise a hot fix by another
	// manager would prevent going back.
	ConflictsOwn = "own"
)

// DefaultConflicts returns the value of [Options.Conflicts] for a request without one.
func DefaultConflicts(action string) string {
	if action == RequestRollback {
		return ConflictsOwn
	}
	return ConflictsFail
}

// ConflictsOf returns how the conflicts of an object are decided: as the options say
// for this object, else for all objects.
func (p *Plan) ConflictsOf(o *Object) string {
	if decided := p.Options.ConflictsOf[o.ID]; decided != "" {
		return decided
	}
	return p.Options.Conflicts
}

// CheckDecisions returns an error if [Options.ConflictsOf] has a value other than take
// and leave, or names an object that is not in the plan.
func (p *Plan) CheckDecisions() error {
	for _, id := range slices.Sorted(maps.Keys(p.Options.ConflictsOf)) {
		switch decided := p.Options.ConflictsOf[id]; {
		case decided != ConflictsTake && decided != ConflictsLeave:
			return fmt.Errorf("conflicts of %s: %q is neither take nor leave", id, decided)
		case p.Object(id) == nil:
			return fmt.Errorf("conflicts of %s: the plan has no such object", id)
		}
	}
	return nil
}

// LeftObjects returns those entries of [Options.ConflictsOf] that leave the contested
// fields to their managers.
func (o Options) LeftObjects() map[string]string {
	left := maps.Clone(o.ConflictsOf)
	maps.DeleteFunc(left, func(_, decided string) bool { return decided != ConflictsLeave })
	return left
}

// Sent returns the request body for an object: the planned one without the
// conflicting fields that the options leave to their managers. It is nil for an
// object that is only deleted or kept.
func (p *Plan) Sent(o *Object) map[string]any {
	if o.Planned == nil || p.ConflictsOf(o) != ConflictsLeave || len(o.Conflicts) == 0 || len(p.Unsettled(o)) > 0 {
		return o.Planned
	}
	body, _ := WithoutFields(o.Planned, conflictPaths(o.Conflicts))
	return body
}

// Unsettled returns the conflicts of an object that the options do not decide.
func (p *Plan) Unsettled(o *Object) []Conflict { return o.UnsettledBy(p.ConflictsOf(o)) }

// UnsettledBy returns the conflicts of an object that a decision does not settle: with
// fail, all; with own, those at fields that the release has not set; with leave, those
// in objects of RBAC and admission, except at a caBundle, and those at fields that the
// planned object does not set itself. With take there are none.
func (o *Object) UnsettledBy(decision string) []Conflict {
	switch decision {
	case ConflictsTake:
		return nil
	case ConflictsOwn:
		return o.neverSet()
	case ConflictsLeave:
	default:
		return o.Conflicts
	}
	if len(o.Conflicts) == 0 {
		return nil
	}
	_, missing := WithoutFields(o.Planned, conflictPaths(o.Conflicts))
	return slices.DeleteFunc(slices.Clone(o.Conflicts), func(c Conflict) bool {
		return o.mayLeave(c) && !slices.Contains(missing, c.Path)
	})
}

func (o *Object) mayLeave(c Conflict) bool {
	switch o.Ref().Group() {
	case "rbac.authorization.k8s.io":
		return false
	case "admissionregistration.k8s.io":
		return IsCAPath(c.Path)
	}
	return true
}

// ContestsCA reports whether another manager has set a caBundle of the object.
func (o *Object) ContestsCA() bool {
	return len(o.Conflicts) > 0 &&
		o.Is(KindValidatingWebhookConfiguration, KindMutatingWebhookConfiguration, KindCustomResourceDefinition, KindAPIService) &&
		slices.ContainsFunc(o.Conflicts, func(c Conflict) bool { return IsCAPath(c.Path) })
}

// Takes reports whether apply takes over the object's contested fields from their
// managers.
func (p *Plan) Takes(o *Object) bool {
	switch p.ConflictsOf(o) {
	case ConflictsTake, ConflictsOwn:
		return len(o.Conflicts) > 0 && len(p.Unsettled(o)) == 0
	}
	return false
}

// neverSet returns the conflicts at fields that the revision to go back to did not set.
func (o *Object) neverSet() []Conflict {
	return slices.DeleteFunc(slices.Clone(o.Conflicts), func(c Conflict) bool {
		return !slices.ContainsFunc(o.Left, func(left string) bool { return left == WholeObject || overlap(left, c.Path) })
	})
}

// WholeObject in [Object.Left] stands for every field of the object.
const WholeObject = "."

// overlap reports whether two paths are equal, or one is a field within the other.
func overlap(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// maxValueText is the most bytes of a contested value that are shown.
const maxValueText = 300

// valueAt returns the value at a path, nil if there is none or the path is ambiguous.
func valueAt(body map[string]any, path string) any {
	places := find(body, path, nil)
	if len(places) != 1 {
		return nil
	}
	var at any = body
	for _, key := range places[0] {
		switch key := key.(type) {
		case string:
			at = at.(map[string]any)[key] // find was there
		case int:
			at = at.([]any)[key]
		}
	}
	return at
}

// valueText returns a value as JSON of at most maxValueText bytes; "not set" for nil.
func valueText(v any) string {
	if v == nil {
		return "not set"
	}
	if caption, ok := v.(Caption); ok {
		return string(caption)
	}
	data, err := Canonical(v)
	if err != nil {
		return "not shown"
	}
	if len(data) > maxValueText {
		return strings.ToValidUTF8(string(data[:maxValueText]), "") + "…"
	}
	return string(data)
}

// SortConflicts orders conflicts by path and manager.
func SortConflicts(list []Conflict) {
	slices.SortFunc(list, func(a, b Conflict) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Manager, b.Manager))
	})
}

func conflictPaths(conflicts []Conflict) []string {
	var out []string
	for _, c := range conflicts {
		out = append(out, c.Path)
	}
	return out
}

// WithoutFields returns a copy of an object without the values at the paths, and in
// missing the paths with no value or with several. Paths are written as in the API
// server's conflicts (package fieldpath of structured-merge-diff):
// .spec.containers[name="x"].image. Maps that become empty are removed too, because an
// apply would own them.
func WithoutFields(body map[string]any, paths []string) (out map[string]any, missing []string) {
	out = CloneBody(body)
	for _, path := range paths {
		places := find(out, path, nil)
		if len(places) != 1 || len(places[0]) == 0 {
			missing = append(missing, path)
			continue
		}
		cut, _ := remove(out, places[0]).(map[string]any)
		out = cut
	}
	return out, missing
}

// maxPlaces is the most locations of an ambiguous path that are returned.
const maxPlaces = 16

// find returns the locations that a path can mean, each as map keys and list indexes.
// There may be several, as field names may contain dots.
func find(at any, path string, place []any) [][]any {
	if path == "" {
		return [][]any{place}
	}
	var out [][]any
	step := func(next any, rest string, key any) {
		if len(out) < maxPlaces {
			out = append(out, find(next, rest, append(place[:len(place):len(place)], key))...)
		}
	}
	switch at := at.(type) {
	case map[string]any:
		rest, ok := strings.CutPrefix(path, ".")
		if !ok {
			return nil
		}
		for key, next := range at {
			if after, found := strings.CutPrefix(rest, key); found && (after == "" || after[0] == '.' || after[0] == '[') {
				step(next, after, key)
			}
		}
	case []any:
		want, rest, ok := parseElement(path)
		if !ok {
			return nil
		}
		for i, item := range at {
			if want.matches(i, item) {
				step(item, rest, i)
			}
		}
	}
	return out
}

// element is one [...] in a path: a list index, a value, or the key fields of a list
// item.
type element struct {
	index int // -1 for the others
	value string
	keys  map[string]string
}

// parseElement parses the [...] at the beginning of a path, and returns the rest of the
// path; ok is false if there is none. Values are kept as JSON text.
func parseElement(path string) (e element, rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, "[")
	if !ok {
		return e, "", false
	}
	e = element{index: -1, keys: map[string]string{}}
	for {
		if n := strings.IndexAny(rest, "=]"); n >= 0 && rest[n] == ']' && len(e.keys) == 0 {
			e.index, ok = atoi(rest[:n])
			return e, rest[n+1:], ok
		}
		name, after, found := strings.Cut(rest, "=")
		if !found {
			return e, "", false
		}
		value, after, found := cutScalar(after)
		if !found || after == "" {
			return e, "", false
		}
		if name == "" {
			e.value = value
		} else {
			e.keys[name] = value
		}
		switch after[0] {
		case ']':
			return e, after[1:], e.value == "" || len(e.keys) == 0
		case ',':
			rest = after[1:]
		default:
			return e, "", false
		}
	}
}

func atoi(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0
}

// cutScalar cuts a value off the beginning of a text, a quoted string or everything up
// to the next comma or bracket; ok is false for an empty value.
func cutScalar(text string) (value, rest string, ok bool) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		return quoted, text[len(quoted):], true
	}
	n := strings.IndexAny(text, ",]")
	if n <= 0 {
		return "", "", false
	}
	return text[:n], text[n:], true
}

// matches reports whether a list item is the one that the element names. A key
// that the item omits has a default, so only keys that are set are compared, and
// at least one must be set.
func (e element) matches(index int, item any) bool {
	if e.index >= 0 {
		return index == e.index
	}
	if e.value != "" {
		return scalarText(item) == e.value
	}
	m, ok := item.(map[string]any)
	if !ok {
		return false
	}
	found := false
	for name, want := range e.keys {
		v, set := m[name]
		if !set {
			continue
		}
		if found = true; scalarText(v) != want {
			return false
		}
	}
	return found
}

// scalarText returns a value as paths of package fieldpath write it: strings are
// quoted.
func scalarText(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	return fmt.Sprint(v)
}

// remove deletes the value at a location, and maps that become empty. It returns the
// changed value.
func remove(at any, place []any) any {
	last := len(place) == 1
	switch at := at.(type) {
	case map[string]any:
		key, _ := place[0].(string)
		if last {
			delete(at, key)
			return at
		}
		below := remove(at[key], place[1:])
		if m, ok := below.(map[string]any); ok && len(m) == 0 {
			delete(at, key)
			return at
		}
		at[key] = below
	case []any:
		i, _ := place[0].(int)
		if i >= len(at) {
			return at
		}
		if last {
			return append(at[:i:i], at[i+1:]...)
		}
		at[i] = remove(at[i], place[1:])
	}
	return at
}
