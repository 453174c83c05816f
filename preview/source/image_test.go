package source_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func bundleDir() fstest.MapFS {
	return fstest.MapFS{
		"manifests/csv.yaml":        {Data: []byte("kind: ClusterServiceVersion\n")},
		"metadata/annotations.yaml": {Data: []byte("annotations: {}\n")},
	}
}

func push(t testing.TB, r sourcetest.Registry, name string, dir fs.FS, labels map[string]string) string {
	t.Helper()
	digest, err := source.PushDir(t.Context(), r.Host+"/"+name, dir, labels, r.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func get(ctx context.Context, o source.Options, text string) (source.Pin, *source.Content, error) {
	r, err := ref.Parse(text)
	if err != nil {
		return source.Pin{}, nil, err
	}
	f := source.New(o)
	pin, err := f.Pin(ctx, r)
	if err != nil {
		return pin, nil, err
	}
	content, err := f.Open(ctx, pin)
	return pin, content, err
}

func files(t testing.TB, fsys fs.FS) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mustHold(t *testing.T, fsys fs.FS, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(files(t, fsys))); !slices.Equal(got, want) {
		t.Errorf("got files %q, want %q", got, want)
	}
}

func mustFail(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v, want an error with %q", err, want)
	}
	if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "://") {
		t.Errorf("the error is more than a sentence: %q", err)
	}
}

func TestATagResolvesToADigestThatOpensAgainFromTheCache(t *testing.T) {
	registry := sourcetest.TLS(t)
	digest := push(t, registry, "org/b:v1", bundleDir(), map[string]string{"a": "b"})
	o := registry.Options(t)
	var last source.Progress
	o.Progress = func(p source.Progress) { last = p }

	pin, content, err := get(t.Context(), o, registry.Host+"/org/b:v1")
	if err != nil {
		t.Fatal(err)
	}
	if pin.Source.Digest != digest || content.Source != pin.Source || pin.Source.Kind != "image" {
		t.Errorf("pin %+v, content %+v, want digest %s", pin.Source, content.Source, digest)
	}
	if content.Labels["a"] != "b" {
		t.Errorf("labels %v", content.Labels)
	}
	if last.Total == 0 || last.Done != last.Total {
		t.Errorf("progress ended at %+v", last)
	}
	if err := fstest.TestFS(content.FS, "manifests/csv.yaml", "metadata/annotations.yaml"); err != nil {
		t.Error(err)
	}

	o.Offline = true
	for _, text := range []string{registry.Host + "/org/b:v1", registry.Host + "/org/b@" + digest} {
		pin, content, err = get(t.Context(), o, text)
		if err != nil {
			t.Fatal(err)
		}
		if pin.Source.Digest != digest {
			t.Errorf("offline %s is %s, want %s", text, pin.Source.Digest, digest)
		}
		mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
	}
	_, _, err = get(t.Context(), o, registry.Host+"/org/b:v2")
	mustFail(t, err, "forbids to look its tag up")
	o.CacheDir = t.TempDir()
	_, _, err = get(t.Context(), o, registry.Host+"/org/b@"+digest)
	mustFail(t, err, "is not in the cache")
	if !errors.Is(err, source.ErrNotCached) {
		t.Errorf("%v is not an ErrNotCached", err)
	}
}

func TestATagThatMovesBetweenPinAndOpenChangesNothing(t *testing.T) {
	registry := sourcetest.TLS(t)
	push(t, registry, "org/b:v1", bundleDir(), nil)
	f := source.New(registry.Options(t))
	r, err := ref.Parse(registry.Host + "/org/b:v1")
	if err != nil {
		t.Fatal(err)
	}
	pin, err := f.Pin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	push(t, registry, "org/b:v1", fstest.MapFS{"evil": {Data: []byte("x")}}, nil)
	content, err := f.Open(t.Context(), pin)
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
}

func TestPushingTheSameDirectoryTwiceGivesOneDigest(t *testing.T) {
	a, b := sourcetest.TLS(t), sourcetest.Plain(t)
	labels := map[string]string{"x": "1", "y": "2"}
	if one, two := push(t, a, "b:v1", bundleDir(), labels), push(t, b, "other:v2", bundleDir(), labels); one != two {
		t.Errorf("%s and %s", one, two)
	}
}

func TestLabelsSayWhereTheBundleLies(t *testing.T) {
	registry := sourcetest.TLS(t)
	dir := fstest.MapFS{
		"deploy/olm/csv.yaml":   {Data: []byte("x")},
		"meta/annotations.yaml": {Data: []byte("y")},
	}
	const manifests = "operators.operatorframework.io.bundle.manifests.v1"
	tests := []struct {
		name, value, want string
	}{
		{"relative", "deploy/olm/", ""},
		{"absolute", "/deploy/olm", ""},
		{"outside", "../etc", `with ".."`},
		{"absent", "nowhere/", "does not have"},
		{"empty", "", "names no directory"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			push(t, registry, "b:v1", dir, map[string]string{
				manifests: test.value, "operators.operatorframework.io.bundle.metadata.v1": "meta/",
			})
			_, content, err := get(t.Context(), registry.Options(t), registry.Host+"/b:v1")
			if test.want != "" {
				mustFail(t, err, test.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
		})
	}
}

func TestOfACatalogImageOnlyTheConfigsAreKept(t *testing.T) {
	registry := sourcetest.TLS(t)
	base := sourcetest.Tar(t,
		sourcetest.File("bin/opm", "program"),
		link("usr/lib", "/lib"),
		sourcetest.File(`usr/lib/systemd/system-x\x2dy.slice`, "escaped by systemd"),
		sourcetest.File(".wh.configs-of-another", ""),
		sourcetest.File("configs/old/catalog.yaml", "old"),
		sourcetest.File("configs/gone.yaml", "gone"),
	)
	top := sourcetest.Tar(t,
		sourcetest.File("configs/old/.wh..wh..opq", ""),
		sourcetest.File("configs/.wh.gone.yaml", ""),
		sourcetest.File("configs/new/catalog.yaml", "new"),
	)
	_, err := source.PushLayers(t.Context(), registry.Host+"/c:v1",
		map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}, registry.Options(t), base, top)
	if err != nil {
		t.Fatal(err)
	}
	_, content, err := get(t.Context(), registry.Options(t), registry.Host+"/c:v1")
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, content.FS, "new/catalog.yaml")
}

func TestPlainHTTPNeedsToBeAllowed(t *testing.T) {
	registry := sourcetest.Plain(t)
	push(t, registry, "b:v1", bundleDir(), nil)
	o := registry.Options(t)
	if _, _, err := get(t.Context(), o, registry.Host+"/b:v1"); err != nil {
		t.Fatal(err)
	}
	o.PlainHTTP = false
	_, _, err := get(t.Context(), o, registry.Host+"/b:v1")
	mustFail(t, err, "--plain-http allows it")
}

func TestACertificateMustBeTrusted(t *testing.T) {
	registry := sourcetest.TLS(t)
	push(t, registry, "b:v1", bundleDir(), nil)
	o := registry.Options(t)
	o.CAFile = ""
	for _, o.PlainHTTP = range []bool{false, true} {
		_, _, err := get(t.Context(), o, registry.Host+"/b:v1")
		mustFail(t, err, "--ca-file adds its root")
	}
}

func TestRegistryErrorsAreOneSentence(t *testing.T) {
	registry := sourcetest.TLS(t)
	push(t, registry, "b:v1", bundleDir(), nil)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for text, want := range map[string]string{
		registry.Host + "/b:v2":                                "does not have it (404",
		registry.Host + "/other:v1":                            "does not have it (404",
		registry.Host + "/b@sha256:" + strings.Repeat("0", 64): "does not have it (404",
		strings.TrimPrefix(closed.URL, "http://") + "/b:v1":    "cannot be reached",
		"registry.invalid/b:v1":                                "registry.invalid",
	} {
		_, _, err := get(t.Context(), registry.Options(t), text)
		mustFail(t, err, want)
	}
}

func TestCredentialsStayWithTheirRegistryAndOutOfErrors(t *testing.T) {
	var mu sync.Mutex
	var elsewhere []string
	other := sourcetest.TLS(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			elsewhere = append(elsewhere, r.Header.Get("Authorization"))
			h.ServeHTTP(w, r)
		})
	})
	push(t, other, "b:v1", bundleDir(), nil)
	mu.Lock()
	elsewhere = nil
	mu.Unlock()
	home := sourcetest.TLS(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "me" || password != "hunter2" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			if strings.Contains(r.URL.Path, "/b/") {
				http.Redirect(w, r, "https://"+other.Host+r.URL.Path+"?token=hunter3", http.StatusTemporaryRedirect)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	o := home.Options(t)
	o.CAFile = joined(t, home.CAFile, other.CAFile)
	_, _, err := get(t.Context(), o, home.Host+"/b:v1")
	mustFail(t, err, "refuses access (401")

	o.RegistryConfig = filepath.Join(t.TempDir(), "config.json")
	config := `{"auths":{"` + home.Host + `":{"username":"me","password":"hunter2"}}}`
	if err := os.WriteFile(o.RegistryConfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := get(t.Context(), o, home.Host+"/b:v1"); err != nil {
		t.Fatal(err)
	}
	if len(elsewhere) == 0 || strings.Join(elsewhere, "") != "" {
		t.Errorf("the other host saw the credentials %q", elsewhere)
	}
	_, _, err = get(t.Context(), o, home.Host+"/b:v2")
	mustFail(t, err, "404")
	if strings.Contains(err.Error(), "hunter") {
		t.Errorf("credentials in %q", err)
	}
}

func TestATokenServersAnswerIsNotRepeated(t *testing.T) {
	registry := sourcetest.TLS(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/token" {
				_, _ = w.Write([]byte(`{"refresh_token":"hunter2"}`))
				return
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="https://`+r.Host+`/token",service="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"errors":[{"code":"UNAUTHORIZED","message":"hunter2"}]}`))
		})
	})
	_, _, err := get(t.Context(), registry.Options(t), registry.Host+"/b:v1")
	mustFail(t, err, "no token")
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the token is in %q", err)
	}
}

func TestARedirectToPlainHTTPIsRefusedEvenWhenAllowed(t *testing.T) {
	plain := sourcetest.Plain(t)
	push(t, plain, "b:v1", bundleDir(), nil)
	registry := sourcetest.TLS(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/b/") {
				http.Redirect(w, r, "http://"+plain.Host+r.URL.Path, http.StatusTemporaryRedirect)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	o := registry.Options(t)
	o.PlainHTTP = true
	_, _, err := get(t.Context(), o, registry.Host+"/b:v1")
	mustFail(t, err, "plain http")
}

func TestBytesThatDoNotMatchAreRefused(t *testing.T) {
	var part string
	registry := sourcetest.TLS(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || part == "" || !strings.Contains(r.URL.Path, part) {
				h.ServeHTTP(w, r)
				return
			}
			recorder := httptest.NewRecorder()
			h.ServeHTTP(recorder, r)
			body := recorder.Body.Bytes()
			body[len(body)/2] ^= 1
			maps.Copy(w.Header(), recorder.Header())
			w.WriteHeader(recorder.Code)
			_, _ = w.Write(body)
		})
	})
	digest := push(t, registry, "b:v1", bundleDir(), nil)
	for _, part = range []string{"/manifests/sha256:", "/blobs/"} {
		o := registry.Options(t)
		_, _, err := get(t.Context(), o, registry.Host+"/b@"+digest)
		if !errors.Is(err, source.ErrDigestMismatch) {
			t.Errorf("%s: %v", part, err)
		}
		mustFail(t, err, "do not match their digest")
		for name := range files(t, os.DirFS(o.CacheDir)) {
			if strings.Contains(name, ".partial") {
				t.Errorf("%s: left %s", part, name)
			}
		}
	}
}

func joined(t *testing.T, names ...string) string {
	t.Helper()
	var all []byte
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	out := filepath.Join(t.TempDir(), "all.pem")
	if err := os.WriteFile(out, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}
