package helm

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

func TestTheDefaultsOfAChart(t *testing.T) {
	content := fstest.MapFS{
		"web/Chart.yaml":          {Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- {name: redis, alias: cache, version: '1'}\n")},
		"web/charts/db/values":    {Data: []byte("")},
		"web/values.yaml":         {Data: []byte("size: 2\nopen: {}\nempty:\nlist: [a]\nnested: {a: {b: 1}}\n")},
		"web/templates/none.yaml": {Data: []byte("")},
	}
	defaulter, ok := New().(format.Defaulter)
	if !ok {
		t.Fatal("charts have no defaults")
	}
	got, err := defaulter.Defaults(format.Input{Content: content})
	if err != nil || got.Params.Values["size"] != int64(2) {
		t.Fatalf("defaults = %v, %v", got.Params.Values, err)
	}
	for path, want := range map[string]bool{
		"size": true, "open.anything": true, "empty.anything": true, "list": true, "nested.a.b": true, "cache.size": true, "redis": true, "db.x.y": true,
		"global.x": true, "sizes": false, "nested.b": false, "nested.a.c": false,
	} {
		if known := got.Known(strings.Split(path, ".")); known != want {
			t.Errorf("%s is known: %v", path, known)
		}
	}
	delete(content, "web/values.yaml")
	if got, err = defaulter.Defaults(format.Input{Content: content}); err != nil || !got.Known([]string{"sizes"}) {
		t.Errorf("a chart without values.yaml says that it knows no value, %v", err)
	}
	content["web/values.yaml"] = &fstest.MapFile{Data: []byte("a: {")}
	if _, err = defaulter.Defaults(format.Input{Content: content}); err == nil {
		t.Error("values.yaml that is no YAML has defaults")
	}
}
