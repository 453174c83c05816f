package source_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

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
