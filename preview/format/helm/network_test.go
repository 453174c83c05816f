package helm

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
)

// Nothing in a chart makes a connection: neither in the confined process nor,
// which is what the second round shows, in one that could.
func TestNoPartOfAChartReachesTheNetwork(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connections.Add(1)
		_, _ = w.Write([]byte(`{"type":"object"}`))
	}))
	defer server.Close()
	url := server.URL
	host := strings.TrimPrefix(url, "http://")
	template := func(text string) fstest.MapFS { return chartOf("templates/a.yaml", configMap(text+"x")) }
	schema := func(text string) fstest.MapFS {
		return chartOf("values.schema.json", text, "templates/a.yaml", configMap("x"))
	}
	meta := "apiVersion: v2\nname: demo\nversion: 1.2.3\n"
	for name, content := range map[string]fstest.MapFS{
		"getHostByName":             template(`{{ getHostByName "` + host + `" }}`),
		"lookup":                    template(`{{ lookup "v1" "Secret" "` + strings.ReplaceAll(host, ":", "-") + `" "x" }}`),
		"Files.Get":                 template(`{{ .Files.Get "` + url + `" }}`),
		"Files.Glob":                template(`{{ (.Files.Glob "` + url + `/*").AsConfig }}`),
		"include":                   template(`{{ include "` + url + `" . }}`),
		"urlParse":                  template(`{{ (urlParse "` + url + `").host }}`),
		"the icon and the sources":  chartOf("Chart.yaml", meta+"icon: "+url+"/i.png\nsources: ["+url+"]\nhome: "+url+"\n", "templates/a.yaml", configMap("x")),
		"a dependency's repository": chartOf("Chart.yaml", meta+"dependencies: [{name: x, version: 1.0.0, repository: '"+url+"'}]\n", "templates/a.yaml", configMap("x")),
		"a lock file":               chartOf("Chart.lock", "dependencies: [{name: x, version: 1.0.0, repository: '"+url+"'}]\n", "templates/a.yaml", configMap("x")),
		"$ref":                      schema(`{"$ref":"` + url + `/s.json"}`),
		"$schema":                   schema(`{"$schema":"` + url + `/s.json"}`),
		"$id and a relative $ref":   schema(`{"$id":"` + url + `/a.json","$ref":"b.json"}`),
		"$ref to a file":            schema(`{"$ref":"file:///etc/hostname"}`),
		"$ref in definitions":       schema(`{"definitions":{"a":{"$ref":"` + url + `/s.json"}},"properties":{"x":{"$ref":"#/definitions/a"}}}`),
		"$ref in a subchart": chartOf("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
			"charts/sub/values.yaml", "a: 1\n", "charts/sub/values.schema.json", `{"$ref":"`+url+`/s.json"}`, "templates/a.yaml", configMap("x")),
	} {
		t.Run(name, func(t *testing.T) {
			_, confined := New().Render(t.Context(), input(content))
			files, err := readChart(content)
			if err != nil {
				t.Fatal(err)
			}
			open := render(&request{Files: files, Values: []byte("{}"), KubeVersion: DefaultKubeVersion, Seed: make([]byte, seedSize)})
			for _, err := range []string{errorText(confined), open.Error} {
				if strings.HasPrefix(name, "$") && !strings.Contains(err, "which is not part of the chart and is not fetched") {
					t.Errorf("got %q", err)
				}
			}
			if n := connections.Swap(0); n != 0 {
				t.Errorf("%d connections", n)
			}
		})
	}
	if _, err := http.Get(url); err != nil || connections.Load() != 1 {
		t.Errorf("the counter does not count: %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestASchemaOfItsOwnDraftIsNotRemote(t *testing.T) {
	for _, draft := range []string{"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/schema#"} {
		in := input(chartOf("values.schema.json", `{"$schema":"`+draft+`","type":"object"}`, "templates/a.yaml", configMap("x")))
		if _, err := New().Render(t.Context(), in); err != nil {
			t.Errorf("%s: %v", draft, err)
		}
	}
}
