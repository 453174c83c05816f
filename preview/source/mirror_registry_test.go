package source_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// counting counts the requests for manifests and blobs.
func counting(n *atomic.Int64) sourcetest.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && r.URL.Path != "/v2/" {
				n.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	}
}

func TestMirrorsServeDigestsAndTheSourceServesTags(t *testing.T) {
	var asked, lying atomic.Int64
	home, mirror := sourcetest.TLS(t, counting(&asked)), sourcetest.TLS(t)
	liar := sourcetest.TLS(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && r.URL.Path != "/v2/" {
				_, _ = w.Write([]byte(`{"schemaVersion":2,"evil":true}`))
				return
			}
			next.ServeHTTP(w, r)
		})
	}, counting(&lying))
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	digest := push(t, home, "org/b:v1", bundleDir(), nil)
	push(t, mirror, "copies/b:v1", fstest.MapFS{"moved": {Data: []byte("the mirror's tag is older")}}, nil)
	push(t, mirror, "copies/b:x", bundleDir(), nil)

	options := func(rule source.Mirror) source.Options {
		o := home.Options(t)
		o.CAFile = joined(t, home.CAFile, mirror.CAFile, liar.CAFile)
		rule.Source = home.Host + "/org"
		o.Mirrors = []source.Mirror{rule}
		return o
	}
	copies := mirror.Host + "/copies"
	byDigest := home.Host + "/org/b@" + digest

	t.Run("a tag is looked up at its source, the rest comes from the mirror", func(t *testing.T) {
		asked.Store(0)
		pin, content, err := get(t.Context(), options(source.Mirror{Mirrors: []string{copies}}), home.Host+"/org/b:v1")
		must(t, err)
		mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
		if pin.Source.Digest != digest || pin.Source.Reference != home.Host+"/org/b:v1" {
			t.Errorf("pinned %+v", pin.Source)
		}
		if asked.Load() != 1 {
			t.Errorf("the source was asked %d times, want once for the tag", asked.Load())
		}
	})
	t.Run("by digest the source is not asked", func(t *testing.T) {
		asked.Store(0)
		_, _, err := get(t.Context(), options(source.Mirror{Mirrors: []string{copies}, Never: true}), byDigest)
		must(t, err)
		if asked.Load() != 0 {
			t.Errorf("the source was asked %d times", asked.Load())
		}
	})
	t.Run("mirrors that lie or are gone are passed over", func(t *testing.T) {
		lying.Store(0)
		dead := strings.TrimPrefix(gone.URL, "http://") + "/x"
		_, content, err := get(t.Context(), options(source.Mirror{Mirrors: []string{dead, liar.Host + "/x", copies}, Never: true}), byDigest)
		must(t, err)
		mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
		if lying.Load() == 0 {
			t.Error("the mirror that lies was not asked")
		}
	})
	t.Run("the source is asked last", func(t *testing.T) {
		asked.Store(0)
		_, _, err := get(t.Context(), options(source.Mirror{Mirrors: []string{liar.Host + "/x"}}), byDigest)
		must(t, err)
		if asked.Load() == 0 {
			t.Error("it was not asked")
		}
	})
	t.Run("a source that must not be asked", func(t *testing.T) {
		o := options(source.Mirror{Mirrors: []string{liar.Host + "/x", mirror.Host + "/nowhere"}, Never: true})
		asked.Store(0)
		_, _, err := get(t.Context(), o, byDigest)
		mustFail(t, err, "do not match their digest; registry "+mirror.Host+" does not have it (404")
		_, _, err = get(t.Context(), o, home.Host+"/org/b:v1")
		mustFail(t, err, "mirrors answer digests only")
		if asked.Load() != 0 {
			t.Errorf("the source was asked %d times", asked.Load())
		}
	})
}
