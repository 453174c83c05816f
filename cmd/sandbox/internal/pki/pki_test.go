package pki

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
)

func TestIssuedCertificateIsTrustedForItsHostsOnly(t *testing.T) {
	dir := t.TempDir()
	authority, err := NewAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.Issue("server", "name", "127.0.0.1", "localhost"); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		t.Fatal("ca.crt holds no certificate")
	}
	for host, want := range map[string]bool{"127.0.0.1": true, "localhost": true, "127.0.0.2": false, "example.com": false} {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host})
		if got := err == nil; got != want {
			t.Errorf("trusted for %s: %v, want %v (%v)", host, got, want, err)
		}
	}
}
