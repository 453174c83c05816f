package source_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func blobs(t *testing.T, o source.Options) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(o.CacheDir, "blobs/sha256/*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestAPoisonedCacheHealsOrIsRefused(t *testing.T) {
	registry := sourcetest.TLS(t)
	digest := push(t, registry, "b:v1", bundleDir(), nil)
	text := registry.Host + "/b@" + digest
	poisons := map[string]func(t *testing.T, name string){
		"a byte changed": func(t *testing.T, name string) {
			data, err := os.ReadFile(name)
			must(t, err)
			data[len(data)-1] ^= 1
			must(t, os.WriteFile(name, data, 0o600))
		},
		"cut short": func(t *testing.T, name string) { must(t, os.Truncate(name, 10)) },
		"grown": func(t *testing.T, name string) {
			must(t, os.Truncate(name, 5<<20))
		},
		"a link elsewhere": func(t *testing.T, name string) {
			must(t, os.Remove(name))
			must(t, os.Symlink("/etc/passwd", name))
		},
	}
	for poison, spoil := range poisons {
		t.Run(poison, func(t *testing.T) {
			o := registry.Options(t)
			if _, _, err := get(t.Context(), o, text); err != nil {
				t.Fatal(err)
			}
			names := blobs(t, o)
			if len(names) != 3 { // manifest, config, layer
				t.Fatalf("cached %q", names)
			}
			for _, name := range names {
				spoil(t, name)
			}
			_, content, err := get(t.Context(), o, text)
			if err != nil {
				t.Fatal(err)
			}
			mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
			o.Offline = true
			if _, _, err := get(t.Context(), o, text); err != nil {
				t.Errorf("the cache did not heal: %v", err)
			}
			for _, name := range names {
				spoil(t, name)
				if _, _, err := get(t.Context(), o, text); err == nil {
					t.Errorf("%s was read", filepath.Base(name))
				}
				o.Offline = false
				if _, _, err := get(t.Context(), o, text); err != nil {
					t.Error(err)
				}
				o.Offline = true
			}
		})
	}
}

func TestTheCacheIsPrivateAndSafeForSeveralAtOnce(t *testing.T) {
	registry := sourcetest.TLS(t)
	digest := push(t, registry, "b:v1", bundleDir(), nil)
	o := registry.Options(t)
	o.CacheDir = filepath.Join(o.CacheDir, "cache")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			_, content, err := get(t.Context(), o, registry.Host+"/b@"+digest)
			if err != nil {
				t.Error(err)
				return
			}
			mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
		})
	}
	wait.Wait()
	if names := blobs(t, o); len(names) != 3 {
		t.Errorf("cached %q", names)
	}
	for path, want := range map[string]os.FileMode{o.CacheDir: 0o700, blobs(t, o)[0]: 0o600} {
		info, err := os.Stat(path)
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
}

func TestWithoutACacheDirectoryTheUsersIsTaken(t *testing.T) {
	registry := sourcetest.TLS(t)
	push(t, registry, "b:v1", bundleDir(), nil)
	o := registry.Options(t)
	o.CacheDir = ""
	home := t.TempDir()
	t.Setenv("HOME", home)
	for xdg, want := range map[string]string{
		"":                         filepath.Join(home, ".cache/kubectl-operator/blobs/sha256"),
		"relative":                 filepath.Join(home, ".cache/kubectl-operator/blobs/sha256"),
		filepath.Join(home, "xdg"): filepath.Join(home, "xdg/kubectl-operator/blobs/sha256"),
	} {
		t.Setenv("XDG_CACHE_HOME", xdg)
		if _, _, err := get(t.Context(), o, registry.Host+"/b:v1"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(want); err != nil {
			t.Error(err)
		}
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	_, _, err := get(t.Context(), o, registry.Host+"/b:v1")
	mustFail(t, err, "give --cache-dir")
}

func TestACacheThatCannotBeWrittenSaysSo(t *testing.T) {
	registry := sourcetest.TLS(t)
	push(t, registry, "b:v1", bundleDir(), nil)
	o := registry.Options(t)
	o.CacheDir = filepath.Join(o.CacheDir, "file")
	must(t, os.WriteFile(o.CacheDir, nil, 0o600))
	_, _, err := get(t.Context(), o, registry.Host+"/b:v1")
	mustFail(t, err, "making the cache")
}

// stalling answers everything but sends only half of each blob.
func stalling(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/blobs/") {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
}

func TestARegistryThatStallsIsGivenUp(t *testing.T) {
	registry := sourcetest.TLS(t, stalling)
	digest := push(t, registry, "b:v1", bundleDir(), nil)
	o := registry.Options(t)
	o.RequestTimeout = 200 * time.Millisecond
	_, _, err := get(t.Context(), o, registry.Host+"/b@"+digest)
	mustFail(t, err, "does not answer")
	if names := blobs(t, o); len(names) != 1 {
		t.Errorf("cached %q", names)
	}
}

func TestCancellingStopsADownload(t *testing.T) {
	var asked atomic.Int32
	registry := sourcetest.TLS(t, func(h http.Handler) http.Handler {
		slow := stalling(h)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			isBlob := r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/")
			if isBlob && asked.Add(1) > 1 { // the first is the configuration
				slow.ServeHTTP(w, r)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	digest := push(t, registry, "b:v1", bundleDir(), nil)
	r, err := ref.Parse(registry.Host + "/b@" + digest)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := registry.Options(t)
	var came, total int64
	o.Progress = func(p source.Progress) {
		came, total = max(came, p.Done), p.Total
		cancel() // what came so far is told while the rest is waited for
	}
	f := source.New(o)
	pin, err := f.Pin(ctx, r)
	must(t, err)
	if _, err := f.Open(ctx, pin); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if came != int64(len("half")) || total <= came {
		t.Errorf("told of %d of %d bytes", came, total)
	}
	if names := blobs(t, o); len(names) != 2 {
		t.Errorf("cached %q, want the manifest and the configuration", names)
	}
}

// Whatever took the place of an entry, a directory too, is replaced.
func TestACacheEntryThatBecameADirectoryHeals(t *testing.T) {
	registry := sourcetest.TLS(t)
	push(t, registry, "b:v1", bundleDir(), nil)
	o := registry.Options(t)
	_, _, err := get(t.Context(), o, registry.Host+"/b:v1")
	must(t, err)
	for _, dir := range []string{"blobs/sha256", "resolved"} {
		entries, err := os.ReadDir(filepath.Join(o.CacheDir, dir))
		must(t, err)
		if len(entries) == 0 {
			t.Fatalf("%s is empty", dir)
		}
		for _, entry := range entries {
			name := filepath.Join(o.CacheDir, dir, entry.Name())
			must(t, os.Remove(name))
			must(t, os.MkdirAll(filepath.Join(name, "below"), 0o700))
		}
	}
	for _, o.Offline = range []bool{false, true} {
		_, content, err := get(t.Context(), o, registry.Host+"/b:v1")
		must(t, err)
		mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
	}
}
