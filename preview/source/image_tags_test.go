package source_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// inPages makes a registry answer two tags at a time, as a busy one does with a
// thousand, and counts the pages. Endless ones never say that there are no more.
func inPages(pages *atomic.Int64, endless bool) sourcetest.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/tags/list") {
				next.ServeHTTP(w, r)
				return
			}
			pages.Add(1)
			all := httptest.NewRecorder()
			whole := r.Clone(r.Context())
			whole.URL.RawQuery = ""
			next.ServeHTTP(all, whole)
			var list struct {
				Name string   `json:"name"`
				Tags []string `json:"tags"`
			}
			if json.Unmarshal(all.Body.Bytes(), &list) != nil {
				w.WriteHeader(all.Code)
				return
			}
			var from int
			_, _ = fmt.Sscan(r.FormValue("from"), &from)
			to := min(from+2, len(list.Tags))
			if to < len(list.Tags) || endless {
				w.Header().Set("Link", fmt.Sprintf(`<%s?from=%d>; rel="next"`, r.URL.Path, to%len(list.Tags)))
			}
			list.Tags = list.Tags[from:to]
			_ = json.NewEncoder(w).Encode(list)
		})
	}
}

func TestARangeOverTagsIsPinnedToTheDigestOfTheHighest(t *testing.T) {
	var pages atomic.Int64
	registry := sourcetest.Plain(t, inPages(&pages, false))
	digests := map[string]string{}
	for _, tag := range []string{"1.0.0", "1.2.0", "1.10.0", "2.0.0-rc.1", "v1.11.0", "1.12", "latest", "3.0.0_build.5"} {
		version := strings.ReplaceAll(tag, "_", "+")
		digests[tag] = registry.Chart(t, "charts/demo", tag, chartArchive(t, version))
	}
	o := registry.Options(t)
	reference := func(query string) string { return "oci://" + registry.Host + "/charts/demo?version=" + query }
	for _, test := range []struct{ name, query, want string }{
		{"the highest of all", "*", "3.0.0_build.5"},
		{"of a range", "^1", "v1.11.0"},
		{"of a range that ends", ">=1 <1.11", "1.10.0"},
		{"a range that takes pre-releases in", ">=2.0.0-0 <3", "2.0.0-rc.1"},
		{"one version", "1.2.0", "1.2.0"},
		{"one build", "3.0.0+build.5", "3.0.0_build.5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pages.Store(0)
			pin, content, err := get(t.Context(), o, reference(test.query))
			if err != nil {
				t.Fatal(err)
			}
			if pin.Source.Digest != digests[test.want] || pin.Source.Reference != "oci://"+registry.Host+"/charts/demo:"+test.want || pin.Version != strings.ReplaceAll(test.want, "_", "+") {
				t.Errorf("pinned %+v as %s", pin.Source, pin.Version)
			}
			if pages.Load() < 3 {
				t.Errorf("%d pages were asked for", pages.Load())
			}
			mustHold(t, content.FS, "demo/Chart.yaml", "demo/templates/cm.yaml")
		})
	}
	_, _, err := get(t.Context(), o, reference(">=4"))
	mustFail(t, err, "none of its 6 versions is in the range \">=4\"")
	_, _, err = get(t.Context(), o, "oci://"+registry.Host+"/charts/other?version=1")
	mustFail(t, err, "none of its 0 tags is a version")

	o.Offline = true
	pin, _, err := get(t.Context(), o, reference("^1"))
	if err != nil || pin.Source.Digest != digests["v1.11.0"] || pin.Version != "v1.11.0" {
		t.Errorf("offline: %+v, %v", pin, err)
	}
	_, _, err = get(t.Context(), o, reference("~1.2"))
	mustFail(t, err, "--offline forbids to look its tags up")
}

func TestPagesOfTagsComeToAnEnd(t *testing.T) {
	var pages atomic.Int64
	registry := sourcetest.Plain(t, inPages(&pages, true))
	registry.Chart(t, "charts/demo", "1.0.0", chartArchive(t, "1.0.0"))
	_, _, err := get(t.Context(), registry.Options(t), "oci://"+registry.Host+"/charts/demo?version=1")
	mustFail(t, err, "lists more than 200000 tags in 2000 pages; give one tag")
}

// Beside charts a repository may have images and other artifacts under tags that are
// versions: a range for a chart, or for a layer, takes the highest that has one, and asks
// for no more than it needs.
func TestARangeForAChartSkipsWhatIsNone(t *testing.T) {
	var manifests atomic.Int64
	registry := sourcetest.Plain(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/manifests/") {
				manifests.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	})
	image := sourcetest.Layer{MediaType: "application/vnd.oci.image.config.v1+json", Data: []byte(`{"config":{}}`)}
	layer := sourcetest.Layer{MediaType: "application/vnd.oci.image.layer.v1.tar", Data: sourcetest.Tar(t, sourcetest.File("a", "b"))}
	chart := registry.Chart(t, "mixed", "1.1.0", chartArchive(t, "1.1.0"))
	registry.Chart(t, "mixed", "1.0.0", chartArchive(t, "1.0.0"))
	registry.Push(t, "mixed", "1.2.0", image, layer)
	registry.Push(t, "mixed", "1.3.0", sourcetest.Layer{MediaType: "application/vnd.example+json", Data: []byte("{}")}) // without layers
	const index = "application/vnd.oci.image.index.v1+json"
	registry.Manifest(t, "mixed", "1.4.0", index, []byte(`{"schemaVersion":2,"mediaType":"`+index+`","manifests":[]}`))
	for i := range 40 {
		registry.Push(t, "images", fmt.Sprintf("1.0.%d", i), image, layer)
	}
	for _, test := range []struct {
		name, repository, query string
		charts                  bool
		want                    string
		asked                   int64
	}{
		{"a chart", "mixed", "^1", true, chart, 4},
		{"a layer", "mixed", "^1&layer=application/vnd.cncf.helm.chart.content.v1.tar+gzip", false, chart, 4},
		{"no chart in the range", "mixed", ">1.1", true, `none of the 3 highest tags in the range ">1.1" has a chart, such as 1.4.0; give a tag that has`, 3},
		{"no chart among many", "images", "*", true, `none of the 20 highest tags in the range "*" has a chart, such as 1.0.39`, 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := ref.Parse("oci://" + registry.Host + "/" + test.repository + "?version=" + test.query)
			if err != nil {
				t.Fatal(err)
			}
			r.Charts = test.charts
			manifests.Store(0)
			pin, err := source.New(registry.Options(t)).Pin(t.Context(), r)
			if pin.Source.Digest != test.want && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("pinned %+v, %v", pin.Source, err)
			}
			if manifests.Load() != test.asked {
				t.Errorf("%d manifests were asked for, want %d", manifests.Load(), test.asked)
			}
		})
	}
}
