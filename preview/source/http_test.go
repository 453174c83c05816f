package source_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// webServer is a server on loopback, behind TLS.
type webServer struct{ host, caFile string }

func serve(t testing.TB, handler http.HandlerFunc) webServer {
	t.Helper()
	server, caFile := sourcetest.HTTPS(t, handler)
	return webServer{strings.TrimPrefix(server.URL, "https://"), caFile}
}

// options reach the server, with their own cache and no credentials.
func (s webServer) options(t testing.TB) source.Options {
	t.Helper()
	return source.Options{CacheDir: t.TempDir(), CAFile: s.caFile, RequestTimeout: 5 * time.Second}
}

// netrc makes text the netrc file of the test.
func netrc(t *testing.T, text string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "netrc")
	must(t, os.WriteFile(name, []byte(text), 0o600))
	t.Setenv("NETRC", name)
}

const hostToken = "KUBECTL_OPERATOR_TOKEN_127_0_0_1"

func TestCredentialsReachTheirHostAlone(t *testing.T) {
	data := archives(t)["x.tgz"]
	tests := []struct {
		name, netrc, token, want string
		ok                       bool
	}{
		{"a name and a password", "machine 127.0.0.1 login alice password s3cret", "", "Basic YWxpY2U6czNjcmV0", true},
		{"a token", "", "t0ken", "Bearer t0ken", true},
		{"a token before a password", "machine 127.0.0.1 login alice password s3cret", "t0ken", "Bearer t0ken", true},
		{"an entry for any host is for none", "default login alice password s3cret", "", "", false},
		{"an entry for another host", "machine example.com login alice password s3cret", "", "", false},
		{"none", "", "", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			netrc(t, test.netrc)
			t.Setenv(hostToken, test.token)
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != test.want || got == "" {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				_, _ = w.Write(data)
			})
			_, _, err := get(t.Context(), server.options(t), "https://"+server.host+"/x.tgz")
			if test.ok {
				must(t, err)
				return
			}
			mustFail(t, err, "refuses access (401); give credentials for it in a netrc file or in "+hostToken)
		})
	}
	t.Run("those that do not fit", func(t *testing.T) {
		netrc(t, "machine 127.0.0.1 login alice password s3cret")
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
		_, _, err := get(t.Context(), server.options(t), "https://"+server.host+"/x.tgz")
		mustFail(t, err, "the credentials for it do not give access")
		if strings.Contains(err.Error(), "s3cret") {
			t.Error(err)
		}
	})
}

func TestRedirectsCarryNoCredentialsAndKeepTLS(t *testing.T) {
	data := archives(t)["x.tgz"]
	netrc(t, "machine 127.0.0.1 login alice password s3cret")
	var sent atomic.Value
	sent.Store("")
	// Another port is another host.
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent.Store(r.Header.Get("Authorization") + r.Header.Get("Referer"))
		_, _ = w.Write(data)
	})
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }))
	t.Cleanup(plain.Close)
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/other.tgz":
			http.Redirect(w, r, "https://"+other.host+"/x.tgz", http.StatusFound)
		case "/user.tgz":
			http.Redirect(w, r, "https://eve:pw@"+other.host+"/x.tgz", http.StatusFound)
		case "/plain.tgz":
			http.Redirect(w, r, plain.URL+"/x.tgz", http.StatusFound)
		case "/file.tgz":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		default:
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}
	})
	o := first.options(t)
	o.CAFile = bothRoots(t, first, other)

	for _, name := range []string{"/other.tgz", "/user.tgz"} {
		_, _, err := get(t.Context(), o, "https://"+first.host+name)
		must(t, err)
		if sent.Load() != "" {
			t.Errorf("%s: the other host got %q", name, sent.Load())
		}
	}
	for _, plainHTTP := range []bool{false, true} {
		o.PlainHTTP = plainHTTP
		_, _, err := get(t.Context(), o, "https://"+first.host+"/plain.tgz")
		mustFail(t, err, "plain http")
	}
	_, _, err := get(t.Context(), o, "https://"+first.host+"/file.tgz")
	mustFail(t, err, `an address of the form "file": is not read`)
	_, _, err = get(t.Context(), o, "https://"+first.host+"/loop.tgz")
	mustFail(t, err, "more than 10 redirects")
}

// bothRoots trusts two servers.
func bothRoots(t testing.TB, a, b webServer) string {
	t.Helper()
	first, err := os.ReadFile(a.caFile)
	must(t, err)
	second, err := os.ReadFile(b.caFile)
	must(t, err)
	name := filepath.Join(t.TempDir(), "both.pem")
	must(t, os.WriteFile(name, append(first, second...), 0o600))
	return name
}

func TestADownloadEndsWhenNobodyWaitsForIt(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("0"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	for _, text := range []string{"https://" + server.host + "/x.tgz", server.git("")} {
		ctx, cancel := context.WithCancel(t.Context())
		o := server.options(t)
		time.AfterFunc(50*time.Millisecond, cancel)
		start := time.Now()
		_, _, err := get(ctx, o, text)
		if !errors.Is(err, context.Canceled) || time.Since(start) > 3*time.Second {
			t.Errorf("%s: got %v after %s", text, err, time.Since(start))
		}
	}
}

func TestPlainHTTPNeedsLeaveAndADigest(t *testing.T) {
	data := archives(t)["x.tgz"]
	netrc(t, "machine 127.0.0.1 login alice password s3cret")
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusTeapot) // credentials in the clear
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(plain.Close)
	text := plain.URL + "/x.tgz#sha256=" + strings.TrimPrefix(bytesDigest(data), "sha256:")
	o := source.Options{CacheDir: t.TempDir()}
	_, _, err := get(t.Context(), o, text)
	mustFail(t, err, "--plain-http allows it")
	o.PlainHTTP = true
	_, _, err = get(t.Context(), o, text)
	must(t, err)
}

func TestServersThatFail(t *testing.T) {
	data := archives(t)["x.tgz"]
	tests := []struct {
		name, want string // no want: it works out in the end
		handler    func(w http.ResponseWriter, attempt int)
	}{
		{"not there", "does not have it (404)", func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusNotFound) }},
		{"too busy once", "", func(w http.ResponseWriter, attempt int) {
			if attempt == 1 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			_, _ = w.Write(data)
		}},
		{"too busy for an hour", "429); it wants 1h0m0s", func(w http.ResponseWriter, _ int) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		}},
		{"down once", "", func(w http.ResponseWriter, attempt int) {
			if attempt == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = w.Write(data)
		}},
		{"down", "is not available (502)", func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusBadGateway) }},
		{"broken", "answered 500", func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusInternalServerError) }},
		{"10 GB announced", "announces 9536 MiB; at most 512 MiB are read", func(w http.ResponseWriter, _ int) { w.Header().Set("Content-Length", "10000000000") }},
		{"a body that breaks off", "ends too early", func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			_, _ = w.Write(data[:len(data)/2])
		}},
		{"a body that drips", "stopped sending", func(w http.ResponseWriter, _ int) {
			for range 40 {
				if _, err := w.Write([]byte{0}); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(50 * time.Millisecond)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var attempts atomic.Int32
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) { test.handler(w, int(attempts.Add(1))) })
			o := server.options(t)
			if strings.Contains(test.name, "drips") {
				o.RequestTimeout = 300 * time.Millisecond
			}
			_, _, err := get(t.Context(), o, "https://"+server.host+"/x.tgz?ref=hidden")
			if test.want == "" {
				must(t, err)
				return
			}
			mustFail(t, err, test.want)
			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("the error repeats the query: %v", err)
			}
			if attempts.Load() > 3 {
				t.Errorf("asked %d times", attempts.Load())
			}
			if entries, err := os.ReadDir(filepath.Join(o.CacheDir, "blobs", "sha256")); err == nil && len(entries) > 0 {
				t.Errorf("the cache keeps %v", entries)
			}
		})
	}
	t.Run("an unknown certificate", func(t *testing.T) {
		server := serve(t, func(http.ResponseWriter, *http.Request) {})
		o := server.options(t)
		o.CAFile = ""
		_, _, err := get(t.Context(), o, "https://"+server.host+"/x.tgz")
		mustFail(t, err, "is not trusted; --ca-file")
	})
	t.Run("a directory where the netrc file should be", func(t *testing.T) {
		t.Setenv("NETRC", t.TempDir())
		server := serve(t, func(http.ResponseWriter, *http.Request) {})
		_, _, err := get(t.Context(), server.options(t), "https://"+server.host+"/x.tgz")
		mustFail(t, err, "netrc")
	})
}

func TestTokenVariablesOfTwoHostsDiffer(t *testing.T) {
	for host, want := range map[string]string{
		"git.example.com":      "KUBECTL_OPERATOR_TOKEN_GIT_EXAMPLE_COM",
		"git-example.com:8443": "KUBECTL_OPERATOR_TOKEN_GIT__EXAMPLE_COM",
		"GitHub.com":           "KUBECTL_OPERATOR_TOKEN_GITHUB_COM",
	} {
		if got := auth.TokenVariable(host); got != want {
			t.Errorf("%s: got %s, want %s", host, got, want)
		}
	}
}
