// Package sourcetest starts real OCI registries for tests, in process and on
// loopback.
package sourcetest

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// Registry is a running registry.
type Registry struct {
	Host   string // HOST:PORT, the first half of references
	CAFile string // PEM of its root; empty over plain http
}

// Middleware stands in front of a registry and may tamper with it.
type Middleware func(http.Handler) http.Handler

// TLS starts a registry behind TLS. It stops with the test.
func TLS(t testing.TB, front ...Middleware) Registry {
	t.Helper()
	server, caFile := HTTPS(t, handler(front))
	return Registry{Host: strings.TrimPrefix(server.URL, "https://"), CAFile: caFile}
}

// HTTPS starts any server behind TLS, and returns the PEM file of its root too.
// It stops with the test, and logs nothing of connections that fail.
func HTTPS(t testing.TB, handler http.Handler) (server *httptest.Server, caFile string) {
	t.Helper()
	server = httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(caFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return server, caFile
}

// Plain starts a registry over plain http. It stops with the test.
func Plain(t testing.TB, front ...Middleware) Registry {
	t.Helper()
	server := httptest.NewUnstartedServer(handler(front))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return Registry{Host: strings.TrimPrefix(server.URL, "http://")}
}

// Options are those that reach the registry, with a cache of their own.
func (r Registry) Options(t testing.TB) source.Options {
	t.Helper()
	return source.Options{CacheDir: t.TempDir(), CAFile: r.CAFile, PlainHTTP: r.CAFile == ""}
}

func handler(front []Middleware) http.Handler {
	h := source.NewRegistry()
	for _, m := range front {
		h = m(h)
	}
	return h
}

// Tar packs entries as they are, honest or not. A size of zero is filled in
// from the body.
func Tar(t testing.TB, entries ...Entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := e.Header
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Size == 0 {
			h.Size = int64(len(e.Body))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.Body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Entry is one member of a tar archive.
type Entry struct {
	tar.Header
	Body string
}

// File is a plain file.
func File(name, body string) Entry {
	return Entry{Header: tar.Header{Name: name, Mode: 0o644}, Body: body}
}
