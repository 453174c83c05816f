package source_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// paged gives lists of referrers out one at a time (OCI distribution
// specification 1.1, "Listing Referrers"). link makes the header's address.
func paged(asked *atomic.Int32, link func(r *http.Request, next int) string) sourcetest.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.URL.Path, "/referrers/") {
				next.ServeHTTP(w, r)
				return
			}
			asked.Add(1)
			whole := httptest.NewRecorder()
			next.ServeHTTP(whole, r)
			var index v1.IndexManifest
			_ = json.Unmarshal(whole.Body.Bytes(), &index)
			slices.SortFunc(index.Manifests, func(a, b v1.Descriptor) int { return strings.Compare(a.Digest.String(), b.Digest.String()) })
			at, _ := strconv.Atoi(r.URL.Query().Get("page"))
			if at+1 < len(index.Manifests) {
				w.Header().Set("Link", "<"+link(r, at+1)+`>; rel="next"`)
			}
			index.Manifests = index.Manifests[min(at, len(index.Manifests)):min(at+1, len(index.Manifests))]
			w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
			_ = json.NewEncoder(w).Encode(index)
		})
	}
}

func nextPage(r *http.Request, next int) string { return fmt.Sprintf("%s?page=%d", r.URL.Path, next) }

func TestEveryPageOfReferrersIsRead(t *testing.T) {
	for name, link := range map[string]func(*http.Request, int) string{
		"a path": nextPage,
		"a URL":  func(r *http.Request, next int) string { return "https://" + r.Host + nextPage(r, next) },
		"a query": func(_ *http.Request, next int) string {
			return fmt.Sprintf("?page=%d", next)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			registry := sourcetest.TLS(t, paged(&asked, link))
			digest := push(t, registry, "org/b:v1", bundleDir(), nil)
			for _, text := range []string{"one", "two", "three"} {
				registry.Refer(t, "org/b", digest, sigstoreBundle, signature(sigstoreBundle, text))
			}
			f := source.New(registry.Options(t))
			signatures, _, err := f.Signatures(t.Context(), pinned(t, f, registry.Host+"/org/b@"+digest))
			if got := payloads(signatures); err != nil || len(got) != 3 || asked.Load() != 3 {
				t.Errorf("got %q after %d pages, %v", got, asked.Load(), err)
			}
		})
	}
}

// A list that cannot be read to its end is an error, which no policy takes for
// "no signature".
func TestListsOfReferrersWithoutEnd(t *testing.T) {
	for _, test := range []struct {
		name string
		link func(r *http.Request, next int) string
		want string
	}{
		{"the same page again", func(r *http.Request, _ int) string { return nextPage(r, 0) }, "longer than is read"},
		{"another host", func(*http.Request, int) string { return "https://other.example.com/v2/org/b/referrers/x" }, "not followed"},
		{"another place of the registry", func(*http.Request, int) string { return "/v2/secret/tags/list" }, "not followed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked atomic.Int32
			registry := sourcetest.TLS(t, paged(&asked, test.link))
			digest := push(t, registry, "org/b:v1", bundleDir(), nil)
			for _, text := range []string{"one", "two"} {
				registry.Refer(t, "org/b", digest, spdx, signature(spdx, text))
			}
			f := source.New(registry.Options(t))
			_, _, err := f.Signatures(t.Context(), pinned(t, f, registry.Host+"/org/b@"+digest))
			mustFail(t, err, test.want)
			if asked.Load() > 60 {
				t.Errorf("%d pages were asked for", asked.Load())
			}
		})
	}
}
