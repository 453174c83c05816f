package install

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/defaulted"
)

// Verdict is the result of [Compare]: whether a written object is the reviewed one.
type Verdict string

// The verdicts.
const (
	Same     Verdict = "same"
	Diverged Verdict = "diverged"
)

// Notes of a receipt that are not a divergence.
const (
	NoteUnreviewed = "unreviewed defaults"       // values that no review could show before they existed
	NoteOutside    = "changed outside this plan" // drift that was there before the write
)

// WrittenObject is an object after a write, with the states that [Compare]
// compares it with: as planned, as reviewed, and before the write.
type WrittenObject struct {
	// Sealed is the planned object, as it was sent.
	Sealed map[string]any
	// Reviewed is the dry-run result that the review showed, nil when there
	// could be none (its namespace or CRD was new).
	Reviewed map[string]any
	// Before is the object the write was made on, nil when it created it.
	// Where the object is read later, Before is the object itself: then only
	// what was sealed and reviewed is judged.
	Before map[string]any
	// Live is the object as the write left it.
	Live map[string]any
}

// Compare decides whether a written object is the reviewed one (section 4 of the
// package documentation): every planned path has the planned (defaulted) value, no
// path of the reviewed result is missing or different, and nothing was added that
// the review did not show, except generated fields. The notes name the paths that
// differ, without values.
func Compare(t preview.TypeConverter, w WrittenObject) (Verdict, []string, error) {
	c, err := newComparison(t, w)
	if err != nil {
		return "", nil, fmt.Errorf("comparing %s: %w", preview.RefOf(w.Sealed).ID(), err)
	}
	if w.Reviewed != nil {
		return c.compareReviewed()
	}
	return c.comparePlanned()
}

// comparison holds the four bodies of a [WrittenObject] without volatile
// fields that the plan does not set. Either all four are parsed by their schema, or none is.
type comparison struct {
	sealed, reviewed, before, live parsedObject
	builtIn                        bool // the defaults of its kind are known
}

type parsedObject struct {
	body  map[string]any
	typed *typed.TypedValue
}

func newComparison(t preview.TypeConverter, w WrittenObject) (*comparison, error) {
	c := &comparison{builtIn: preview.BuiltInGroup(preview.RefOf(w.Sealed).Group())}
	slots := []*parsedObject{&c.sealed, &c.reviewed, &c.before, &c.live}
	for i, body := range []map[string]any{w.Sealed, w.Reviewed, w.Before, w.Live} {
		if body != nil {
			slots[i].body = preview.WithoutVolatile(body, w.Sealed)
		}
	}
	if c.parse(slots, t.Typed) == nil {
		return c, nil
	}
	return c, c.parse(slots, func(body map[string]any) (*typed.TypedValue, error) {
		return typed.DeducedParseableType.FromUnstructured(body)
	})
}

func (c *comparison) parse(slots []*parsedObject, parse func(map[string]any) (*typed.TypedValue, error)) error {
	for _, slot := range slots {
		if slot.body == nil {
			continue
		}
		var err error
		if slot.typed, err = parse(slot.body); err != nil {
			return err
		}
	}
	return nil
}

// compareReviewed compares the live object with the reviewed dry-run result.
func (c *comparison) compareReviewed() (Verdict, []string, error) {
	diff, err := c.reviewed.typed.Compare(c.live.typed)
	if err != nil {
		return "", nil, err
	}
	ours, err := c.sealed.typed.ToFieldSet()
	if err != nil {
		return "", nil, err
	}
	var notes, drift []string
	for _, set := range []struct {
		paths *fieldpath.Set
		how   string
	}{{diff.Removed, "is missing"}, {diff.Modified, "differs from the review"}, {diff.Added, "was added, and the review did not show it"}} {
		for path := range set.paths.Leaves().All() {
			switch {
			case equivalent(c.reviewed, c.live, path):
			case !ours.Has(path) && c.unchangedByWrite(path):
				drift = append(drift, path.String())
			default:
				notes = append(notes, path.String()+" "+set.how)
			}
		}
	}
	if len(notes) > 0 {
		return Diverged, notes, nil
	}
	if len(drift) > 0 {
		return Same, []string{NoteOutside + ": " + joinReasons(drift)}, nil
	}
	return Same, nil, nil
}

// unchangedByWrite reports whether the live object has the same value at a path
// as it had before the write.
func (c *comparison) unchangedByWrite(path fieldpath.Path) bool {
	if c.before.body == nil {
		return false
	}
	before, had := lookup(c.before.body, path)
	now, has := lookup(c.live.body, path)
	return had == has && reflect.DeepEqual(before, now)
}

// comparePlanned compares the live object with the planned one, when the review
// had no dry-run result.
func (c *comparison) comparePlanned() (Verdict, []string, error) {
	diff, err := c.sealed.typed.Compare(c.live.typed)
	if err != nil {
		return "", nil, err
	}
	var notes []string
	for _, set := range []struct {
		paths *fieldpath.Set
		how   string
	}{{diff.Removed, "is missing"}, {diff.Modified, "differs from the content sent"}} {
		for path := range set.paths.Leaves().All() {
			if !equivalent(c.sealed, c.live, path) {
				notes = append(notes, path.String()+" "+set.how)
			}
		}
	}
	if len(notes) > 0 {
		return Diverged, notes, nil
	}
	if c.before.body != nil || diff.Added.Empty() {
		return Same, nil, nil
	}
	if !c.builtIn {
		return Same, []string{NoteUnreviewed}, nil // the defaults of its CRD are not known
	}
	for _, added := range defaulted.Added(defaulted.Unexplained(c.sealed.body, c.live.body)) {
		notes = append(notes, added.Path+" was added, and the review did not show it")
	}
	if len(notes) > 0 {
		return Diverged, notes, nil
	}
	return Same, nil, nil
}

// equivalent reports whether two values that differ in form mean the same: an
// omitted empty value, a quantity in another notation, or a default that was
// filled in.
func equivalent(want, have parsedObject, path fieldpath.Path) bool {
	w, wanted := lookup(want.body, path)
	h, had := lookup(have.body, path)
	if !wanted {
		return had && defaulted.IsEmpty(h)
	}
	if !had {
		return defaulted.IsEmpty(w)
	}
	return defaulted.Covers(w, h, path.String())
}

// lookup returns the value at a path of a decoded object, and whether it is there.
func lookup(at any, path fieldpath.Path) (any, bool) {
	for _, element := range path {
		next, ok := stepInto(at, element)
		if !ok {
			return nil, false
		}
		at = next
	}
	return at, true
}

func stepInto(at any, element fieldpath.PathElement) (any, bool) {
	if element.FieldName != nil {
		m, ok := at.(map[string]any)
		v, has := m[*element.FieldName]
		return v, ok && has
	}
	list, ok := at.([]any)
	if !ok {
		return nil, false
	}
	if element.Index != nil {
		i := *element.Index
		if i < 0 || i >= len(list) {
			return nil, false
		}
		return list[i], true
	}
	for _, item := range list {
		if matchesItem(item, element) {
			return item, true
		}
	}
	return nil, false
}

// matchesItem reports whether a list item is the one that a path element names by
// key or value. A key field that the item omits has a default (such as protocol of
// a port), so only fields that are set are compared.
func matchesItem(item any, element fieldpath.PathElement) bool {
	if element.Value != nil {
		return value.Equals(value.NewValueInterface(item), *element.Value)
	}
	m, ok := item.(map[string]any)
	if !ok || element.Key == nil {
		return false
	}
	for _, field := range *element.Key {
		v, set := m[field.Name]
		if set && !value.Equals(value.NewValueInterface(v), field.Value) {
			return false
		}
	}
	return true
}
