package k8s

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestFieldsThatAreNotUsedAreLeftOutOfObjects(t *testing.T) {
	const object = `{ "kind":"Node", "metadata" : {"name":"a","managedFields":[{"manager":"x","fieldsV1":{"f:a":{}}}],"labels":{"a":"}\"]\\"},"uid":"1"},` +
		` "spec":{"taints":[{"key":"a"}]}, "status":{"images":[{"names":["x","y"]}],"nodeInfo":{"operatingSystem":"linux","bits":64},"phase":null}, "data": ["a", {"b": [1]}] }`
	for _, test := range []struct{ name, fields, want string }{
		{"a field below another one", "status.nodeInfo", `{"metadata":{"name":"a","labels":{"a":"}\"]\\"},"uid":"1"},"status":{"nodeInfo":{"operatingSystem":"linux","bits":64}}}`},
		{"two fields of one object", "status.nodeInfo.bits status.phase", `{"metadata":{"name":"a","labels":{"a":"}\"]\\"},"uid":"1"},"status":{"nodeInfo":{"bits":64},"phase":null}}`},
		{"a whole field, and one below it", "spec spec.taints", `{"metadata":{"name":"a","labels":{"a":"}\"]\\"},"uid":"1"},"spec":{"taints":[{"key":"a"}]}}`},
		{"one below a field, and the whole", "spec.taints spec", `{"metadata":{"name":"a","labels":{"a":"}\"]\\"},"uid":"1"},"spec":{"taints":[{"key":"a"}]}}`},
		{"a list", "data", `{"metadata":{"name":"a","labels":{"a":"}\"]\\"},"uid":"1"},"data":["a", {"b": [1]}]}`},
		{"a field below what is no object", "data.b", `{"metadata":{"name":"a","labels":{"a":"}\"]\\"},"uid":"1"},"data":["a", {"b": [1]}]}`},
		{"a field that is not there", "other.field", `{"metadata":{"name":"a","labels":{"a":"}\"]\\"},"uid":"1"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := newFieldTree(strings.Fields(test.fields)).reduce(nil, []byte(object))
			if err != nil || string(got) != test.want {
				t.Errorf("%v\n%s, want\n%s", err, got, test.want)
			}
		})
	}
}

// A page with all fields is what the decoder of whole objects makes of it.
func TestAPageHasItsObjectsAndWhereItGoesOn(t *testing.T) {
	const object = `{"metadata":{"name":"a\\"},"x":[]}`
	for _, list := range []string{
		`{"kind":"List","metadata":{"continue":"c\"","remainingItemCount":7,"resourceVersion":"3"},"items":[` + object + `,` + object + `]}`,
		"\n{ \"items\" : [ " + object + "\t,\r\n" + object + " ] , \"metadata\" : { \"continue\" : \"c\\\"\", \"remainingItemCount\" : 7, \"resourceVersion\" : \"3\" } }\n",
	} {
		page, err := decodePage([]byte(list), nil)
		if err != nil || page.next != `c"` || page.remaining != 7 || page.resourceVersion != "3" || page.bytes != len(list) || len(page.items) != 2 {
			t.Fatalf("%v: %+v", err, page)
		}
		for _, body := range page.items {
			if preview.String(body, "metadata", "name") != `a\` || body["x"] == nil {
				t.Errorf("%v", body)
			}
		}
	}
	for _, empty := range []string{`{"items":[]}`, `{"items":null,"metadata":{}}`, `{}`} {
		if page, err := decodePage([]byte(empty), nil); err != nil || len(page.items) > 0 {
			t.Errorf("%s: %v, %v", empty, page, err)
		}
	}
}

// A list that is cut off anywhere, or no list, is an error and never a shorter list.
func TestAPageThatIsNoListIsAnError(t *testing.T) {
	whole := `{"metadata":{"continue":""},"items":[{"metadata":{"name":"a","uid":"\"1"},"status":{"x":[1,2]}},{"metadata":{"name":"b"}}]}`
	for _, fields := range [][]string{nil, {"status"}, {"metadata.name"}} {
		if page, err := decodePage([]byte(whole), newFieldTree(fields)); err != nil || len(page.items) != 2 {
			t.Fatalf("%v: %v", page, err)
		}
		for n := range whole {
			if page, err := decodePage([]byte(whole[:n]), newFieldTree(fields)); err == nil {
				t.Errorf("%s: %v", whole[:n], page)
			}
		}
		for _, text := range []string{``, `[]`, `"a"`, `{"items":{}}`, `{"items":"a"}`, `{"items":[1]}`, `{"items":[{]}`, `{"items":[{}{}]}`, `{"items":[,]}`, `{"items":[{},]}`, `{"items" []}`, `{1:[]}`, `{"metadata":[],"items":[]}`} {
			if page, err := decodePage([]byte(text), newFieldTree(fields)); err == nil {
				t.Errorf("%s: %v", text, page)
			}
		}
	}
}

// FuzzPage compares a page of objects with all fields, and with each one of its fields,
// with what the decoder of whole documents makes of the same text.
func FuzzPage(f *testing.F) {
	f.Add(`{"metadata":{"name":"a"},"a":{"b":"\\","c":[1,"]"]}}`)
	f.Add(`{"a":"\"","b":[{"c":{}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		want, err := decodeBody([]byte(text))
		if err != nil {
			return
		}
		page, err := decodePage(fmt.Appendf(nil, `{"items":[%s]}`, text), nil)
		if err != nil || len(page.items) != 1 || fmt.Sprint(page.items[0]) != fmt.Sprint(want) {
			t.Fatalf("%v: %v, want %v", err, page.items, want)
		}
	})
}
