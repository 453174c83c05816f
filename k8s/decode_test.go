package k8s

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestDecodePage(t *testing.T) {
	page, err := decodePage([]byte(`{"metadata":{"continue":"next","remainingItemCount":7,"resourceVersion":"5"},"items":[{"a":9007199254740993},{}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if page.next != "next" || page.remaining != 7 || page.resourceVersion != "5" || len(page.items) != 2 || page.items[0]["a"] != int64(9007199254740993) {
		t.Errorf("got %+v", page)
	}
	for _, text := range []string{"", "[]", `{"items":5}`, `{"items":[null]}`, `{"items":["x"]}`, `{"items":[{"a":1,"a":2}]}`} {
		if _, err := decodePage([]byte(text), nil); preview.ReasonOf(err) != preview.ReasonOther {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// newObserver follows one object called a and counts the reports.
func newObserver(reports *int) *observer {
	return &observer{
		refs:   map[string]preview.Ref{"a": {Name: "a"}},
		report: func(preview.Ref, map[string]any, error) { *reports++ },
	}
}

func TestEvent(t *testing.T) {
	object := func(name string) string {
		return `{"metadata":{"name":"` + name + `","resourceVersion":"7"}}`
	}
	for _, test := range []struct {
		name, line, version string
		reports             int
		reason              preview.Reason
	}{
		{"a change", `{"type":"MODIFIED","object":` + object("a") + `}`, "7", 1, ""},
		{"a deletion", `{"type":"DELETED","object":` + object("a") + `}`, "7", 1, ""},
		{"another object", `{"type":"ADDED","object":` + object("b") + `}`, "7", 0, ""},
		{"a bookmark", `{"type":"BOOKMARK","object":` + object("") + `}`, "7", 0, ""},
		{"a resourceVersion that is too old", `{"type":"ERROR","object":{"kind":"Status","code":410}}`, "", 0, ""},
		{"another error", `{"type":"ERROR","object":{"kind":"Status","code":500,"message":"etcdserver: leader changed"}}`, "", 0, preview.ReasonUnavailable},
		{"half an event", `{"type":"ADDED","obj`, "", 0, preview.ReasonUnavailable},
		{"an event about nothing", `{"type":"ADDED","object":[]}`, "", 0, preview.ReasonOther},
	} {
		t.Run(test.name, func(t *testing.T) {
			reports := 0
			version, err := newObserver(&reports).event([]byte(test.line))
			if version != test.version || reports != test.reports || preview.ReasonOf(err) != test.reason {
				t.Errorf("got %q, %d reports, %v", version, reports, err)
			}
		})
	}
}

func TestGroupVersionPath(t *testing.T) {
	for _, test := range []struct{ apiVersion, want string }{
		{"v1", "/api/v1"},
		{"apps/v1", "/apis/apps/v1"},
		{"", ""},
		{"/v1", ""},
		{"apps/", ""},
		{"../v1", ""},
		{"a/..", ""},
		{"a/b/c", ""},
		{"a?b=c/v1", ""},
	} {
		got, err := groupVersionPath(test.apiVersion)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%q: got %q, %v", test.apiVersion, got, err)
		}
	}
}

// FuzzResponses holds that nothing a server sends panics.
func FuzzResponses(f *testing.F) {
	f.Add(`{"type":"ADDED","object":{"metadata":{"name":"a"}}}`)
	f.Add(`{"metadata":{"continue":"x"},"items":[{"a":1e400}]}`)
	f.Add(`{"type":"ERROR","object":{"code":"x"}}`)
	f.Add(strings.Repeat(`{"items":[`, 200))
	f.Fuzz(func(t *testing.T, text string) {
		var reports int
		_, _ = decodePage([]byte(text), nil)
		_, _ = decodePage([]byte(text), newFieldTree([]string{"items.metadata", "x"}))
		_, _ = newObserver(&reports).event([]byte(text))
		if _, err := groupVersionPath(text); err == nil && strings.Contains(text, "..") && strings.Contains("/"+text+"/", "/../") {
			t.Errorf("%q became a path", text)
		}
	})
}
