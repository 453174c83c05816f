package fields

import (
	"strings"
	"testing"
)

func document() map[string]any {
	return map[string]any{
		"name": "a", "on": true, "off": false, "empty": "", "nothing": nil,
		"list": []any{"x", map[string]any{"y": 1.0, "z": "z"}}, "map": map[string]any{"key": "value", "number": 2.0},
	}
}

func TestWhatNobodyReadIsNamed(t *testing.T) {
	for _, test := range []struct {
		name     string
		defaults bool
		read     func(*Document)
		want     string
	}{
		{"nothing is read", false, func(*Document) {}, "the fields empty, list, map, name, off, on are not supported"},
		{"what says the same as its absence is passed over", true, func(*Document) {}, "the fields list, map, name, on are not supported"},
		{"all but one", false, func(r *Document) { r.Know("name", "on", "off", "empty", "list") }, "the field map is not supported"},
		{"a part of a map", false, func(r *Document) {
			r.Know("name", "on", "off", "empty", "list")
			r.At("map.key").Text()
		}, "the field map.number is not supported"},
		{"a part of a member", false, func(r *Document) {
			r.Know("name", "on", "off", "empty", "map", "list[0]")
			r.At("list").Items()[1].At("z").Need()
		}, "the field list[1].y is not supported"},
		{"everything", false, func(r *Document) { r.Know("name", "on", "off", "empty", "map", "list") }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := New(document())
			r.Defaults = test.defaults
			test.read(r)
			err := r.Err(1)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestWhatIsOfAnotherKindIsSaid(t *testing.T) {
	for want, read := range map[string]func(*Document){
		"list: it is a list where text is due":            func(r *Document) { r.At("list").Text() },
		"name: it is text where true or false is due":     func(r *Document) { r.At("name").Flag() },
		"on: it is true or false where a list is due":     func(r *Document) { r.At("on").Items() },
		"list[0]: it is text where a map is due":          func(r *Document) { r.At("list").Maps() },
		"name: it is text where a map is due":             func(r *Document) { r.At("name").Mapping() },
		"list: it is a list where a map is due":           func(r *Document) { r.At("list").IsMap() },
		"map: number is a number where text is due":       func(r *Document) { r.At("map").TextMap() },
		"none: it is missing":                             func(r *Document) { r.At("none").Need(); r.At("neither").Need() },
		`name: "a" is not supported; supported are: b, c`: func(r *Document) { r.At("name").OneOf("b", "c") },
		"list[1]: it is a map where text is due":          func(r *Document) { r.At("list").Texts() },
		"name: first; on: second":                         func(r *Document) { r.At("name").Fail("first"); r.At("on").Fail("second"); r.At("off").Fail("third") },
		"many: it has 1001 items; at most 1000 are read":  func(r *Document) { Field{r, "many", make([]any, 1001)}.Items() },
		"map.evil: it is text where true or false is due": func(r *Document) { Field{r, "map.evil", "x"}.Flag() },
	} {
		r := New(document())
		read(r)
		if err := r.Err(2); err == nil || err.Error() != want || !r.Failed() {
			t.Errorf("%v, want %q", err, want)
		}
	}
	r := New(nil)
	if r.At("a.b").Text() != "" || r.At("a").Flag() || r.At("a").Items() != nil || r.At("a").TextMap() != nil || r.At("a").IsMap() || r.Err(1) != nil {
		t.Errorf("what is absent is wrong: %v", r.Err(1))
	}
}
