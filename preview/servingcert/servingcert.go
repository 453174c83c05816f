// Package servingcert makes serving certificates for the webhooks of a package, for
// clusters where nothing else issues them.
//
// A [Set] is a certificate authority (CA) for one Service, and a certificate that it
// issued. The CA is limited to the DNS names of that Service. It lives longer than its
// certificates, so that renewing one does not change the webhooks' caBundle.
//
// Private keys are random and made once. A plan has them in the Secret that it writes,
// whose values enter digests through scrypt as in other Secrets. An upgrade keeps the
// keys in the cluster while they are valid. So the same plan never gets other keys, and
// no record, report or log has any.
package servingcert

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The keys in the data of a Set's Secret. Every Secret of type kubernetes.io/tls has the
// first two.
const (
	KeyCertificate  = "tls.crt"
	KeyPrivate      = "tls.key"
	KeyAuthority    = "ca.crt"
	KeyAuthorityKey = "ca.key"
)

// SecretType is the type of a Set's Secret.
const SecretType = "kubernetes.io/tls"

const (
	// lifetime is how long a certificate is valid: as long as those that OLM requests
	// of cert-manager.
	lifetime = 730 * 24 * time.Hour
	// authorityLifetime is how long a CA is valid.
	authorityLifetime = 10 * 365 * 24 * time.Hour
	// backdated is how long before now a certificate becomes valid, because clocks of
	// other machines may be behind.
	backdated = time.Hour
)

// Set is a CA and a certificate that it issued, with their private keys, in PEM.
type Set struct {
	Authority, AuthorityKey []byte
	Certificate, Key        []byte
}

// New makes a CA and a certificate for DNS names, at least one.
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

// issue sets the certificate and its key to new ones that the CA signs.
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

// commonName returns a host name cut to 64 characters, which is the limit of a common
// name (RFC 5280). Clients check the DNS names instead.
func commonName(host string) string { return host[:min(len(host), 64)] }

// Renew returns the set to use for DNS names from now on, and whether it made anything
// new. It is s itself while s is valid for them. Once the certificate is due (see
// [Due]), a set with a new certificate of the same CA is returned; and if s is nil or
// invalid, or its CA ends before a new certificate would, an entirely new one.
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

// check returns the CA and the certificate of a set, parsed. It is an error if s is nil,
// or a key does not match, or the CA did not issue the certificate for these DNS names.
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
			return nil, nil, errors.New("a key does not belong to its certificate")
		}
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	// An expired certificate is no error here: the caller renews it with the same CA.
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

// Due returns when a certificate should be renewed: after two thirds of its lifetime.
func Due(cert *x509.Certificate) time.Time {
	return cert.NotBefore.Add(cert.NotAfter.Sub(cert.NotBefore) / 3 * 2)
}

// Data returns the data of the set's Secret, with values in base64 as in the API.
func (s *Set) Data() map[string]any {
	out := map[string]any{}
	for key, value := range map[string][]byte{
		KeyCertificate: s.Certificate, KeyPrivate: s.Key, KeyAuthority: s.Authority, KeyAuthorityKey: s.AuthorityKey,
	} {
		out[key] = base64.StdEncoding.EncodeToString(value)
	}
	return out
}

// Read returns the set in a Secret, as [Set.Data] writes it; nil if any of the four keys
// has no value in base64.
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

// Leaf returns the certificate in a Secret of type kubernetes.io/tls; nil if the object
// is none, or has no certificate that can be parsed.
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

// Trust sets the caBundle of an object's webhooks to the CA in a Secret, where they call
// a host of the Secret's certificate and have another caBundle. It reports whether it
// changed any.
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
	if changed {
		nameAuthority(body, ca)
	}
	return changed
}

// annotationAuthority names the CA that an object's webhooks trust. A caBundle alone is no
// change of an object: controllers fill it in.
const annotationAuthority = "webhook-authority-sha256"

// SetAuthority sets the caBundle of all webhooks of an object to a CA, in base64, and
// names it in an annotation, so that another CA is a change.
func SetAuthority(body map[string]any, ca string) {
	for _, client := range Clients(body) {
		client["caBundle"] = ca
	}
	nameAuthority(body, ca)
}

func nameAuthority(body map[string]any, ca string) {
	meta := preview.Map(body, "metadata")
	if meta == nil {
		return
	}
	annotations := preview.Map(meta, "annotations")
	if annotations == nil {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	sum := sha256.Sum256([]byte(ca))
	annotations[annotationAuthority] = hex.EncodeToString(sum[:])
}

// Clients returns the clientConfigs of an object, from a webhook configuration or a
// CRD's conversion; each defines how the API server calls a webhook.
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

// parse parses a PEM file whose first block must be a certificate.
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
