// Package pki issues the certificates of one control plane. Every control plane has its
// own authority, which nothing outside its directory trusts.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// lifetime is the validity of every certificate. Nothing renews them, as a
// sandbox is not meant to live for long.
const lifetime = 365 * 24 * time.Hour

// Authority is a certificate authority. It writes the certificates that it issues,
// and their keys, into one directory as NAME.crt and NAME.key, with mode 0600.
type Authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority generates an authority, and writes it to dir as ca.crt and ca.key.
func NewAuthority(dir string) (*Authority, error) {
	template := template(pkix.Name{CommonName: "kubectl-operator-sandbox"})
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = nil

	key, err := NewKey(filepath.Join(dir, "ca.key"))
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("signing the authority's certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading the authority's certificate back: %w", err)
	}
	if err := writePEM(filepath.Join(dir, "ca.crt"), "CERTIFICATE", der); err != nil {
		return nil, err
	}
	return &Authority{dir: dir, cert: cert, key: key}, nil
}

// Issue writes a certificate for a server at hosts (names or addresses), which
// can also be used as a client certificate of the user commonName.
func (a *Authority) Issue(name, commonName string, hosts ...string) error {
	template := template(pkix.Name{CommonName: commonName})
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key, err := NewKey(filepath.Join(a.dir, name+".key"))
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("signing the certificate of %s: %w", name, err)
	}
	return writePEM(filepath.Join(a.dir, name+".crt"), "CERTIFICATE", der)
}

// NewKey generates a P-256 key and writes it to path in the form of RFC 5915, the only
// one where kube-apiserver reads a service account key that is not RSA.
func NewKey(path string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making key %s: %w", filepath.Base(path), err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding key %s: %w", filepath.Base(path), err)
	}
	return key, writePEM(path, "EC PRIVATE KEY", der)
}

// template returns a certificate template without a serial number, so that
// CreateCertificate draws a random one.
func template(subject pkix.Name) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		Subject:     subject,
		NotBefore:   now.Add(-time.Minute),
		NotAfter:    now.Add(lifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

func writePEM(path, kind string, der []byte) error {
	data := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	return nil
}
