package preview

import (
	"reflect"
	"strings"
	"testing"
)

func TestValuesComeBackAsTheyWere(t *testing.T) {
	values := map[string]any{
		"a": map[string]any{"b.c/d": int64(9007199254740993), "none": map[string]any{}, "list": []any{map[string]any{"x": 1.5}, nil}},
		// Numbers in files are floats, and numbers of --set integers, also side by side.
		"b": "", "c": nil, "d": 4651090.0, "e": false, "f": []any{int64(4651090), 4651090.0, 1e21},
	}
	list, err := SetValues(values, func([]string, any) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	back, err := NestValues(list)
	if err != nil || !reflect.DeepEqual(back, values) {
		t.Errorf("values = %#v, %v", back, err)
	}
}

func TestWithheldValuesAreAPathAlone(t *testing.T) {
	list, err := SetValues(map[string]any{"a": map[string]any{"word": "hunter2", "x": "y"}, "m": map[string]any{"k": "hunter2"}}, func(keys []string, _ any) bool {
		return keys[len(keys)-1] == "word" || keys[0] == "m"
	})
	if err != nil || len(list) != 3 || list[0].Path() != "a.word" || !list[0].Withheld || list[0].JSON != "" || list[2].Path() != "m" || !list[2].Withheld {
		t.Fatalf("%+v, %v", list, err)
	}
	if back, err := NestValues(list); err != nil || !reflect.DeepEqual(back, map[string]any{"a": map[string]any{"x": "y"}}) {
		t.Errorf("values = %v, %v", back, err)
	}
}

// Each kind of change has its own sentence.
func TestEachOptionChangeHasAText(t *testing.T) {
	seen := map[string]bool{}
	for _, change := range []string{OptionKept, OptionSet, OptionChanged, OptionDropped, OptionNotKnown, OptionUnrecorded, OptionTakenOver} {
		text := change + " " + OptionChange{Option: "set", Keys: []string{"a", "b"}, Change: change, From: "1", To: "2", Default: "3"}.Text()
		if seen[text] || strings.HasSuffix(text, " ") {
			t.Errorf("%q", text)
		}
		seen[text] = true
	}
}
