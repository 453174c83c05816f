package source_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// configFile writes a Docker config file with one login.
func configFile(t *testing.T, host, login string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	text := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, base64.StdEncoding.EncodeToString([]byte(login)))
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Every kind of login against every fault a registry may have. A login that works gives
// the same digest again from the cache.
func TestRegistriesByLoginAndFault(t *testing.T) {
	logins := []struct {
		name  string
		front []sourcetest.Middleware
		login string
	}{
		{"no login", nil, ""},
		{"basic", []sourcetest.Middleware{sourcetest.Basic("me", "hunter2")}, "me:hunter2"},
		{"bearer", []sourcetest.Middleware{sourcetest.Bearer("me", "hunter2", 0)}, "me:hunter2"},
	}
	faults := []struct {
		name  string
		fault sourcetest.Middleware
		login string // instead of the right one
		want  string // of the error; empty when it must succeed
	}{
		{name: "none"},
		{name: "503 once", fault: sourcetest.Failing("/b/", 1, http.StatusServiceUnavailable)},
		{name: "503 for good", fault: sourcetest.Failing("/b/", -1, http.StatusServiceUnavailable), want: "answered 503"},
		{name: "429", fault: sourcetest.Failing("/manifests/", -1, http.StatusTooManyRequests), want: "too many requests (429)"},
		{name: "403 for a blob", fault: sourcetest.Failing("/blobs/", -1, http.StatusForbidden), want: "refuses access (403"},
		{name: "the wrong password", login: "me:hunter3", want: "refuses access (401"},
		{name: "no password", login: "-", want: "refuses access (401"},
	}
	for _, login := range logins {
		for _, fault := range faults {
			t.Run(login.name+", "+fault.name, func(t *testing.T) {
				t.Parallel()
				if fault.login != "" && login.login == "" {
					t.Skip("skipped: a registry without a login has no wrong one")
				}
				// The fault stands behind the login, and is not there for the push.
				var broken atomic.Bool
				front := []sourcetest.Middleware{func(next http.Handler) http.Handler {
					if fault.fault == nil {
						return next
					}
					failing := fault.fault(next)
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if broken.Load() {
							failing.ServeHTTP(w, r)
							return
						}
						next.ServeHTTP(w, r)
					})
				}}
				registry := sourcetest.TLS(t, append(front, login.front...)...)
				pushing := registry.Options(t)
				pushing.RegistryConfig = configFile(t, registry.Host, orElse(login.login, "x:y"))
				digest, err := source.PushDir(t.Context(), registry.Host+"/b:v1", bundleDir(), nil, pushing)
				must(t, err)
				broken.Store(true)

				o := registry.Options(t)
				o.RegistryConfig = configFile(t, registry.Host, orElse(fault.login, orElse(login.login, "x:y")))
				if fault.login == "-" {
					o.RegistryConfig = configFile(t, "elsewhere.example.com", login.login)
				}
				pin, content, err := get(t.Context(), o, registry.Host+"/b:v1")
				if fault.want != "" {
					mustFail(t, err, fault.want)
					if strings.Contains(err.Error(), "hunter") {
						t.Errorf("the error repeats what the registry said: %v", err)
					}
					return
				}
				must(t, err)
				if pin.Source.Digest != digest {
					t.Errorf("pinned %s, want %s", pin.Source.Digest, digest)
				}
				mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
				o.Offline = true
				again, _, err := get(t.Context(), o, registry.Host+"/b:v1")
				must(t, err)
				if again.Source != pin.Source {
					t.Errorf("offline it is %+v, not %+v", again.Source, pin.Source)
				}
			})
		}
	}
}

func TestATokenThatExpiresIsRenewed(t *testing.T) {
	registry := sourcetest.TLS(t, sourcetest.Bearer("me", "hunter2", 1))
	o := registry.Options(t)
	o.RegistryConfig = configFile(t, registry.Host, "me:hunter2")
	digest, err := source.PushDir(t.Context(), registry.Host+"/b:v1", bundleDir(), nil, o)
	must(t, err)
	pin, content, err := get(t.Context(), o, registry.Host+"/b:v1")
	must(t, err)
	if pin.Source.Digest != digest {
		t.Errorf("pinned %s, want %s", pin.Source.Digest, digest)
	}
	mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
}

func orElse(s, fallback string) string {
	if s != "" {
		return s
	}
	return fallback
}

func TestAnInsecureRegistryIsThatHostAlone(t *testing.T) {
	other := sourcetest.TLS(t)
	push(t, other, "b:v1", bundleDir(), nil)
	registry := sourcetest.TLS(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/away/") {
				http.Redirect(w, r, "https://"+other.Host+strings.Replace(r.URL.Path, "/away/", "/b/", 1), http.StatusTemporaryRedirect)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	push(t, registry, "b:v1", bundleDir(), nil)
	o := source.Options{CacheDir: t.TempDir(), InsecureRegistries: []string{registry.Host}}
	_, _, err := get(t.Context(), o, registry.Host+"/b:v1")
	must(t, err)
	_, _, err = get(t.Context(), o, registry.Host+"/away:v1")
	mustFail(t, err, "--ca-file adds its root")
	_, _, err = get(t.Context(), o, other.Host+"/b:v1")
	mustFail(t, err, "--ca-file adds its root")
	o.Offline, o.InsecureRegistries = true, nil
	_, _, err = get(t.Context(), o, registry.Host+"/b:v1")
	mustFail(t, err, "not in the cache") // who wants a certificate gets none of that
}
