package source_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// redirecting sends requests whose path holds part elsewhere, and counts them.
func redirecting(part string, count *atomic.Int32, to func(*http.Request) string) sourcetest.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, part) {
				count.Add(1)
				http.Redirect(w, r, to(r), http.StatusFound)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func TestARegistryThatRedirectsInACircleIsLeft(t *testing.T) {
	itself := func(r *http.Request) string { return r.URL.Path }
	for _, part := range []string{"/blobs/", "/manifests/"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			var on atomic.Bool
			registry := sourcetest.TLS(t, func(next http.Handler) http.Handler {
				circle := redirecting(part, &asked, itself)(next)
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if on.Load() {
						circle.ServeHTTP(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			push(t, registry, "b:v1", bundleDir(), nil)
			on.Store(true)
			_, _, err := get(t.Context(), registry.Options(t), registry.Host+"/b:v1")
			mustFail(t, err, "more than 10 redirects")
			if asked.Load() > 50 {
				t.Errorf("it was asked %d times", asked.Load())
			}
		})
	}
}

// expiredServer is a registry behind a certificate of the past.
func expiredServer(t *testing.T) (host, caFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}}, key.Public(), key)
	must(t, err)
	server := httptest.NewUnstartedServer(source.NewRegistry())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return strings.TrimPrefix(server.URL, "https://"), caFile
}

// A registry at a local address fails as any other does: plain http is no
// advice unless that is what the server speaks.
func TestErrorsOfLocalRegistriesAreTheirOwn(t *testing.T) {
	expired, caFile := expiredServer(t)
	garbled, garbledCA := sourcetest.HTTPS(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"\x01\"\r\nContent-Length: 0\r\n\r\n")
			_ = conn.Close()
		}
	}))
	plain := sourcetest.Plain(t)
	for _, test := range []struct{ name, host, caFile, want string }{
		{"an expired certificate", expired, caFile, "certificate has expired"},
		{"an answer that is no HTTP", strings.TrimPrefix(garbled.URL, "https://"), garbledCA, "malformed"},
		{"a server without TLS", plain.Host, "", "speaks plain http; --plain-http allows it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := get(t.Context(), source.Options{CacheDir: t.TempDir(), CAFile: test.caFile}, test.host+"/b:v1")
			mustFail(t, err, test.want)
			if strings.Contains(err.Error(), "--plain-http") != strings.Contains(test.want, "--plain-http") {
				t.Error(err)
			}
		})
	}
}

// localhostRegistry is a registry that is referenced by a name, so that its own
// address is another host.
func localhostRegistry(t *testing.T, front ...sourcetest.Middleware) (registry sourcetest.Registry, name string) {
	t.Helper()
	registry = sourcetest.TLS(t, front...)
	_, port, err := net.SplitHostPort(registry.Host)
	must(t, err)
	return registry, "localhost:" + port
}

// named reaches a registry under another name than its certificate's.
func named(t *testing.T, name string, allowed ...string) source.Options {
	t.Helper()
	o := source.Options{CacheDir: t.TempDir(), InsecureRegistries: []string{name}}
	for _, text := range allowed {
		address, err := source.ParsePrivateAddress(text)
		must(t, err)
		o.PrivateAddresses = append(o.PrivateAddresses, address)
	}
	return o
}

func TestPrivateAddressesAreReachedWhenTheyAreAllowed(t *testing.T) {
	storage := sourcetest.TLS(t)
	push(t, storage, "b:v1", bundleDir(), nil)
	var count atomic.Int32
	var on atomic.Bool
	registry, name := localhostRegistry(t, func(next http.Handler) http.Handler {
		away := redirecting("/blobs/", &count, func(r *http.Request) string { return "https://" + storage.Host + r.URL.Path })(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if on.Load() {
				away.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	push(t, registry, "b:v1", bundleDir(), nil)
	on.Store(true)
	_, port, err := net.SplitHostPort(storage.Host)
	must(t, err)
	for _, test := range []struct {
		name    string
		allowed []string
		want    string // of the error
	}{
		{"none", nil, fmt.Sprintf("leads to the private address %[1]s, which is refused; --allow-private-address %[1]s allows it", storage.Host)},
		{"another address", []string{"10.0.0.1"}, "which is refused"},
		{"another port", []string{"127.0.0.1:1"}, "which is refused"},
		{"the address", []string{"10.0.0.1", "127.0.0.1"}, ""},
		{"the address and its port", []string{"127.0.0.1:" + port}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := named(t, name, test.allowed...)
			o.CAFile = storage.CAFile
			_, content, err := get(t.Context(), o, name+"/b:v1")
			if test.want != "" {
				mustFail(t, err, test.want)
				return
			}
			must(t, err)
			mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
		})
	}
}

func TestATokenServerAtAPrivateAddressIsReachedWhenItIsAllowed(t *testing.T) {
	tokens := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "hunter2" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"token":"good"}`)
	})
	var on atomic.Bool
	registry, name := localhostRegistry(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if on.Load() && r.Header.Get("Authorization") != "Bearer good" {
				w.Header().Set("WWW-Authenticate", `Bearer realm="https://`+tokens.host+`/token",service="test"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	push(t, registry, "b:v1", bundleDir(), nil)
	on.Store(true)
	for _, allowed := range [][]string{nil, {"127.0.0.1"}} {
		o := named(t, name, allowed...)
		o.CAFile, o.RegistryConfig = tokens.caFile, configFile(t, name, "me:hunter2")
		_, _, err := get(t.Context(), o, name+"/b:v1")
		if allowed == nil {
			mustFail(t, err, "--allow-private-address "+tokens.host+" allows it")
			continue
		}
		must(t, err)
	}
}

// Archives and git go through the same guard.
func TestNoServerLeadsIntoAPrivateNetwork(t *testing.T) {
	for _, to := range []string{"https://169.254.169.254/latest/meta-data", "https://10.1.2.3/", "https://[fd00::1]/", "https://127.1/", "https://0x7f000001/", "https://[::ffff:10.0.0.1]/"} {
		server := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		_, _, err := get(t.Context(), server.options(t), "https://"+server.host+"/x.tgz")
		mustFail(t, err, "private address")
		u, parseErr := url.Parse(to)
		must(t, parseErr)
		if _, parseErr := netip.ParseAddr(u.Hostname()); parseErr == nil && !strings.Contains(err.Error(), "--allow-private-address") {
			t.Errorf("no advice: %v", err)
		}
	}
}

// A blob that comes a byte at a time ends, though it is never silent.
func TestARegistryThatDripsIsLeft(t *testing.T) {
	var on atomic.Bool
	registry := sourcetest.TLS(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !on.Load() || !strings.Contains(r.URL.Path, "/blobs/") {
				next.ServeHTTP(w, r)
				return
			}
			drops := time.NewTicker(20 * time.Millisecond)
			defer drops.Stop()
			for {
				select {
				case <-r.Context().Done():
					return
				case <-drops.C:
					_, _ = w.Write([]byte{0})
					w.(http.Flusher).Flush()
				}
			}
		})
	})
	push(t, registry, "b:v1", bundleDir(), nil)
	on.Store(true)
	o := registry.Options(t)
	o.RequestTimeout = 300 * time.Millisecond
	_, _, err := get(t.Context(), o, registry.Host+"/b:v1")
	mustFail(t, err, "sends less than 4 KiB a second")
}

func TestRubbishOfATokenServerIsItsOwn(t *testing.T) {
	for _, answer := range []string{"<html>", `{"token":1}`, `{}`, ""} {
		tokens := func(_ http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/token" {
					_, _ = io.WriteString(w, answer)
					return
				}
				w.Header().Set("WWW-Authenticate", `Bearer realm="https://`+r.Host+`/token"`)
				w.WriteHeader(http.StatusUnauthorized)
			})
		}
		registry := sourcetest.TLS(t, tokens)
		_, _, err := get(t.Context(), registry.Options(t), registry.Host+"/b:v1")
		mustFail(t, err, "the token server of registry "+registry.Host+" sends no token but something else")
	}
}
