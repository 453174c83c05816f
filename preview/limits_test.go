package preview_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// TestManifestsAreCountedWhileTheyAreRead: too large an input is refused before a parser
// makes thirty times as much of it.
func TestManifestsAreCountedWhileTheyAreRead(t *testing.T) {
	const many = 300_000
	keys := func(format string) string {
		before, after, _ := strings.Cut(format, "%d")
		var out []byte
		for i := range 1_000_000 {
			out = append(strconv.AppendInt(append(out, before...), int64(i), 10), after...)
		}
		return string(out)
	}
	item := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}},`
	for name, test := range map[string]struct{ text, want string }{
		"documents":         {strings.Repeat("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", many), "more than 40000 objects"},
		"items":             {"apiVersion: v1\nkind: List\nitems:\n" + strings.Repeat("- apiVersion: v1\n  kind: ConfigMap\n", many), "more than 40000 objects"},
		"items of JSON":     {`{"apiVersion":"v1","kind":"List","items":[` + strings.Repeat(item, many) + `{}]}`, "more than 40000 objects"},
		"documents of JSON": {strings.Repeat(`{"apiVersion":"v1","kind":"ConfigMap"}`, many), "more than 40000 objects"},
		"keys":              {"apiVersion: v1\nkind: ConfigMap\ndata:\n" + keys("  key%d: v\n"), "no request larger than 3 MiB"},
		"keys of an item":   {"kind: List\nitems:\n- kind: ConfigMap\n  data:\n" + keys("    key%d: v\n"), "no request larger than 3 MiB"},
		"keys of JSON":      {`{"kind":"ConfigMap","data":{` + keys(`"key%d":"v",`) + `"a":"b"}}`, "no request larger than 3 MiB"},
		"a text":            {"kind: ConfigMap\ndata:\n  a: " + strings.Repeat("x", 31<<20), "no request larger than 3 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(test.text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := preview.DecodeDocuments(data)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 150 {
				t.Errorf("it took %d MiB to refuse %d MiB", took, len(data)>>20)
			}
		})
	}
}

// TestAListMayBeLargerThanAnObject: the limit is for one object, not for the list.
func TestAListMayBeLargerThanAnObject(t *testing.T) {
	const many = 100
	text := strings.Repeat("x", 100_000)
	for name, file := range map[string]string{
		"YAML":                  "apiVersion: v1\nkind: List\nitems:\n" + strings.Repeat("- apiVersion: v1\n  kind: ConfigMap\n  data:\n    a: "+text+"\n    items:\n    - b\n", many),
		"YAML, further in":      "apiVersion: v1\nkind: List\nitems:\n\n# the first\n" + strings.Repeat("  - apiVersion: v1\n    kind: ConfigMap\n    data:\n      a: "+text+"\n", many) + "metadata: {}\n",
		"JSON":                  `{"apiVersion":"v1","kind":"List","items":[` + strings.Repeat(`{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"`+text+`"}},`, many-1) + `{"apiVersion":"v1","kind":"ConfigMap"}]}`,
		"documents":             strings.Repeat("--- # a\napiVersion: v1\nkind: ConfigMap\ndata: {a: "+text+"}\n...\n", many),
		"many that are nothing": strings.Repeat("---\n# nothing\n\n", 3*preview.MaxObjects) + strings.Repeat("---\napiVersion: v1\nkind: ConfigMap\n", many),
	} {
		docs, err := preview.DecodeDocuments([]byte(file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		objects := 0
		for _, doc := range docs {
			list, err := doc.Objects()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			objects += len(list)
		}
		if objects != many {
			t.Errorf("%s: %d objects, want %d", name, objects, many)
		}
	}
}

func TestAnObjectIsNoLargerThanARequest(t *testing.T) {
	body := map[string]any{"kind": "ConfigMap", "data": map[string]any{"a": strings.Repeat("x", preview.MaxObjectBytes-100)}}
	if err := preview.CheckSize(body); err != nil {
		t.Errorf("one that fits is refused: %v", err)
	}
	body["data"].(map[string]any)["b"] = strings.Repeat("x", 100)
	if err := preview.CheckSize(body); err == nil {
		t.Error("one that no API server takes passes")
	}
}
