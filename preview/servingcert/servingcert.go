// Package servingcert makes the certificates by which an API server trusts the
// webhooks of a package, where nothing in the cluster issues any.
//
// A [Set] is an authority of its own for one Service, and a certificate of it. The
// authority is good for the names of that Service alone, and outlives several
// certificates, so that a renewed one needs no change of what trusts it. Keys are
// random and made once: a plan has them in the Secret that it writes, whose values
// enter digests through scrypt like those of other Secrets, and an upgrade takes
// them over from the cluster while they are good. So the same plan never gets other
// keys, and no record, report or log has any.
package servingcert

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The keys of a certificate's Secret. The first two are those of type
// kubernetes.io/tls.
const (
	KeyCertificate  = "tls.crt"
	KeyPrivate      = "tls.key"
	KeyAuthority    = "ca.crt"
	KeyAuthorityKey = "ca.key"
)

// SecretType is the type of the Secret.
const SecretType = "kubernetes.io/tls"

const (
	// lifetime of a certificate is that which OLM asks cert-manager for.
	lifetime = 730 * 24 * time.Hour
	// authorityLifetime is the time for which webhooks trust an authority.
	authorityLifetime = 10 * 365 * 24 * time.Hour
	// backdated is the time by which clocks may differ.
	backdated = time.Hour
)

// Set is an authority and the certificate that it issued, in PEM.
type Set struct {
	Authority, AuthorityKey []byte
	Certificate, Key        []byte
}

// New makes an authority and a certificate for hosts.
func New(hosts []string, now time.Time) (*Set, error) {
	ca := &x509.Certificate{
		Subject: pkix.Name{CommonName: "webhooks of " + hosts[0]}, NotBefore: now.Add(-backdated), NotAfter: now.Add(authorityLifetime),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: hosts,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	s := &Set{}
	if s.Authority, err = sign(ca, ca, key.Public(), key); err != nil {
		return nil, err
	}
	if s.AuthorityKey, err = encodeKey(key); err != nil {
		return nil, err
	}
	return s, s.issue(hosts, now)
}

// issue makes a certificate and its key, by the authority.
func (s *Set) issue(hosts []string, now time.Time) error {
	ca, err := parse(s.Authority)
	if err != nil {
		return err
	}
	by, err := parseKey(s.AuthorityKey)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	leaf := &x509.Certificate{
		Subject: pkix.Name{CommonName: commonName(hosts[0])}, DNSNames: hosts, NotBefore: now.Add(-backdated), NotAfter: now.Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	if s.Certificate, err = sign(leaf, ca, key.Public(), by); err != nil {
		return err
	}
	s.Key, err = encodeKey(key)
	return err
}

// commonName returns a name that fits: it has at most 64 characters (RFC 5280), and
// clients read the DNS names.
func commonName(host string) string { return host[:min(len(host), 64)] }

// Renew returns the set to use for hosts: the one that is there while it is good,
// one with another certificate of the same authority after two thirds of the
// certificate's life, and a new one where there is none or the authority ends.
func (s *Set) Renew(hosts []string, now time.Time) (renewed *Set, made bool, err error) {
	ca, leaf, err := s.check(hosts, now)
	switch {
	case err != nil || ca.NotAfter.Before(now.Add(lifetime)):
		renewed, err = New(hosts, now)
		return renewed, true, err
	case now.Before(Due(leaf)):
		return s, false, nil
	}
	again := &Set{Authority: s.Authority, AuthorityKey: s.AuthorityKey}
	return again, true, again.issue(hosts, now)
}

// check parses a set, and verifies that its certificate is of its authority, for
// hosts, and has its key.
func (s *Set) check(hosts []string, now time.Time) (ca, leaf *x509.Certificate, err error) {
	if s == nil {
		return nil, nil, errors.New("there is none")
	}
	if ca, err = parse(s.Authority); err != nil {
		return nil, nil, err
	}
	if leaf, err = parse(s.Certificate); err != nil {
		return nil, nil, err
	}
	for _, pair := range []struct {
		of  *x509.Certificate
		key []byte
	}{{ca, s.AuthorityKey}, {leaf, s.Key}} {
		key, err := parseKey(pair.key)
		if err != nil {
			return nil, nil, err
		}
		public, ok := pair.of.PublicKey.(*ecdsa.PublicKey)
		if !ok || !public.Equal(key.Public()) {
			return nil, nil, errors.New("a key is not that of its certificate")
		}
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	// Whether it has ended is for the caller: an ended one of this authority is renewed.
	at := now
	if at.After(leaf.NotAfter) {
		at = leaf.NotAfter
	}
	for _, host := range hosts {
		if _, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: at}); err != nil {
			return nil, nil, err
		}
	}
	return ca, leaf, nil
}

// Due returns when a certificate is to be renewed: after two thirds of its life.
func Due(cert *x509.Certificate) time.Time {
	return cert.NotBefore.Add(cert.NotAfter.Sub(cert.NotBefore) / 3 * 2)
}

// Data returns the data of the Secret, as the API shows it.
func (s *Set) Data() map[string]any {
	out := map[string]any{}
	for key, value := range map[string][]byte{
		KeyCertificate: s.Certificate, KeyPrivate: s.Key, KeyAuthority: s.Authority, KeyAuthorityKey: s.AuthorityKey,
	} {
		out[key] = base64.StdEncoding.EncodeToString(value)
	}
	return out
}

// Read returns the set in a Secret, nil where it has none as [Set.Data] writes it.
func Read(secret map[string]any) *Set {
	s := &Set{}
	for key, to := range map[string]*[]byte{
		KeyCertificate: &s.Certificate, KeyPrivate: &s.Key, KeyAuthority: &s.Authority, KeyAuthorityKey: &s.AuthorityKey,
	} {
		data, err := base64.StdEncoding.DecodeString(preview.String(secret, "data", key))
		if err != nil || len(data) == 0 {
			return nil
		}
		*to = data
	}
	return s
}

// Leaf returns the certificate that a Secret of type kubernetes.io/tls has; nil where
// it has none that can be read.
func Leaf(secret map[string]any) *x509.Certificate {
	if preview.String(secret, "kind") != "Secret" || preview.String(secret, "type") != SecretType {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(preview.String(secret, "data", KeyCertificate))
	if err != nil {
		return nil
	}
	cert, err := parse(data)
	if err != nil {
		return nil
	}
	return cert
}

// Trust makes an object trust the authority of a Secret wherever it calls a host of
// the certificate there and trusts another one. It reports whether it changed any.
func Trust(body, secret map[string]any) bool {
	leaf, ca := Leaf(secret), preview.String(secret, "data", KeyAuthority)
	if leaf == nil || ca == "" {
		return false
	}
	changed := false
	for _, client := range Clients(body) {
		host := preview.String(client, "service", "name") + "." + preview.String(client, "service", "namespace") + ".svc"
		if slices.Contains(leaf.DNSNames, host) && client["caBundle"] != nil && client["caBundle"] != ca {
			client["caBundle"], changed = ca, true
		}
	}
	return changed
}

// Clients returns the clientConfigs by which an object, such as a webhook
// configuration, says how the API server calls a webhook.
func Clients(body map[string]any) []map[string]any {
	var out []map[string]any
	for _, hook := range preview.Maps(body, "webhooks") {
		out = append(out, preview.Map(hook, "clientConfig"))
	}
	if client := preview.Map(body, "spec", "conversion", "webhook", "clientConfig"); client != nil {
		out = append(out, client)
	}
	return out
}

func sign(cert, by *x509.Certificate, public crypto.PublicKey, key crypto.Signer) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("making a serial number: %w", err)
	}
	cert.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, cert, by, public, key)
	if err != nil {
		return nil, fmt.Errorf("signing a certificate: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// parse parses the first certificate of a text in PEM.
func parse(data []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(bytes.TrimSpace(data))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("it has no certificate in PEM")
	}
	return x509.ParseCertificate(block.Bytes)
}

func parseKey(data []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(bytes.TrimSpace(data))
	if block == nil {
		return nil, errors.New("it has no key in PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("its key is of another kind")
	}
	return private, nil
}
