// Package sourcetest starts real OCI registries for tests, in process and on
// loopback.
package sourcetest

import (
	"archive/tar"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// Registry is a registry that runs for a test.
type Registry struct {
	Host   string // HOST:PORT, the first half of references
	CAFile string // PEM of its root; empty over plain http
}

// Middleware handles requests before a registry does, and may change requests and
// answers.
type Middleware func(http.Handler) http.Handler

// TLS starts a registry with TLS, which stops with the test.
func TLS(t testing.TB, front ...Middleware) Registry {
	t.Helper()
	server, caFile := HTTPS(t, handler(front))
	return Registry{Host: strings.TrimPrefix(server.URL, "https://"), CAFile: caFile}
}

// HTTPS starts a server with TLS, which stops with the test, and returns the PEM file
// of its root too. Failed connections are not logged.
func HTTPS(t testing.TB, handler http.Handler) (server *httptest.Server, caFile string) {
	t.Helper()
	server = httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	certificate, err := localhost()
	if err != nil {
		t.Fatal(err)
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(caFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return server, caFile
}

// localhost is the certificate of the servers of a test program, for the same names as
// httptest's. httptest's key is RSA: each handshake with it takes a millisecond of
// processor time, a third of what reading from a registry took.
var localhost = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"example.com", "localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
})

// Plain starts a registry without TLS, which stops with the test.
func Plain(t testing.TB, front ...Middleware) Registry {
	t.Helper()
	server := httptest.NewUnstartedServer(handler(front))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return Registry{Host: strings.TrimPrefix(server.URL, "http://")}
}

// Options returns options that let a Fetcher reach the registry, with their own cache.
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

// Tar packs entries as a tar archive without checking them. A size of 0 is set to the
// body's.
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

// File returns the entry of a plain file.
func File(name, body string) Entry {
	return Entry{Header: tar.Header{Name: name, Mode: 0o644}, Body: body}
}
