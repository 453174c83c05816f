package certmanager

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// Keys of a certificate's Secret.
const (
	keyCert    = "tls.crt"
	keyPrivate = "tls.key"
	keyCA      = "ca.crt"
)

// lifetime is the validity of a certificate that sets none; nothing is renewed here.
const lifetime = 90 * 24 * time.Hour

// clusterNamespace is the namespace where ClusterIssuers have their Secrets.
const clusterNamespace = "cert-manager"

// settleIssuer sets the condition Ready of an issuer: True if it is self-signed
// or has the Secret of a CA, the two sorts that are implemented here.
func (c *controller) settleIssuer(ctx context.Context, o *unstructured.Unstructured) error {
	kind := issuers
	if o.GetNamespace() == "" {
		kind = clusterIssuers
	}
	if _, err := c.authority(ctx, o); err != nil {
		return errors.Join(err, c.ready(ctx, kind, o, "False", "ErrInitIssuer", err.Error()))
	}
	return c.ready(ctx, kind, o, "True", "IsReady", "the issuer can issue")
}

// settleCertificate issues a certificate that is not issued yet, and sets the
// condition Ready of the Certificate.
func (c *controller) settleCertificate(ctx context.Context, o *unstructured.Unstructured) error {
	if err := c.issueInto(ctx, o); err != nil {
		return errors.Join(err, c.ready(ctx, certificates, o, "False", "DoesNotExist", "the certificate is not issued: "+err.Error()))
	}
	return c.ready(ctx, certificates, o, "True", "Ready", "Certificate is up to date and has not expired")
}

func (c *controller) issueInto(ctx context.Context, o *unstructured.Unstructured) error {
	name, _, _ := unstructured.NestedString(o.Object, "spec", "secretName")
	namespace := o.GetNamespace()
	have, err := c.secretKey(ctx, namespace, name, keyCert)
	if err == nil && covers(have, o) {
		return nil
	}
	signer, err := c.signer(ctx, o)
	if err != nil {
		return err
	}
	cert, key, ca, err := sign(o, signer)
	if err != nil {
		return err
	}
	return store(ctx, c.client, namespace, name, cert, key, ca)
}

// store writes the Secret of a certificate.
func store(ctx context.Context, client dynamic.Interface, namespace, name string, cert, key, ca []byte) error {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"metadata": map[string]any{
			"name": name, "namespace": namespace,
			"annotations": map[string]any{"cert-manager.io/certificate-name": name},
		},
		"data": map[string]any{keyCert: encode(cert), keyPrivate: encode(key), keyCA: encode(ca)},
	}}
	_, err := client.Resource(secrets).Namespace(namespace).
		Apply(ctx, name, secret, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}

func encode(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// covers reports whether a certificate, in PEM, has the names that Certificate
// o asks for.
func covers(data []byte, o *unstructured.Unstructured) bool {
	block, _ := pem.Decode(data)
	if block == nil {
		return false
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil || time.Now().After(cert.NotAfter) {
		return false
	}
	names, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "dnsNames")
	for _, name := range names {
		if cert.VerifyHostname(name) != nil {
			return false
		}
	}
	return true
}

// keyPair is the certificate and key of a CA. With the zero value, each
// certificate is signed by its own key.
type keyPair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// signer returns the key pair of the issuer that Certificate o names.
func (c *controller) signer(ctx context.Context, o *unstructured.Unstructured) (keyPair, error) {
	name, _, _ := unstructured.NestedString(o.Object, "spec", "issuerRef", "name")
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "issuerRef", "kind")
	resource := c.client.Resource(issuers).Namespace(o.GetNamespace())
	if kind == "ClusterIssuer" {
		resource = c.client.Resource(clusterIssuers).Namespace("")
	}
	issuer, err := resource.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return keyPair{}, fmt.Errorf("the issuer %q does not exist", name)
	}
	if err != nil {
		return keyPair{}, err
	}
	return c.authority(ctx, issuer)
}

// authority returns the key pair that an issuer signs with.
func (c *controller) authority(ctx context.Context, issuer *unstructured.Unstructured) (keyPair, error) {
	spec, _, _ := unstructured.NestedMap(issuer.Object, "spec")
	if _, ok := spec["selfSigned"]; ok {
		return keyPair{}, nil
	}
	name, found, _ := unstructured.NestedString(spec, "ca", "secretName")
	if !found {
		return keyPair{}, errors.New("only selfSigned and ca are played in the sandbox")
	}
	namespace := issuer.GetNamespace()
	if namespace == "" {
		namespace = clusterNamespace
	}
	certPEM, err := c.secretKey(ctx, namespace, name, keyCert)
	if err != nil {
		return keyPair{}, fmt.Errorf("reading the authority: %w", err)
	}
	keyPEM, err := c.secretKey(ctx, namespace, name, keyPrivate)
	if err != nil {
		return keyPair{}, fmt.Errorf("reading the authority: %w", err)
	}
	return parseKeyPair(certPEM, keyPEM)
}

func parseKeyPair(certPEM, keyPEM []byte) (keyPair, error) {
	cert, _ := pem.Decode(certPEM)
	key, _ := pem.Decode(keyPEM)
	if cert == nil || key == nil {
		return keyPair{}, errors.New("the authority's Secret holds no PEM")
	}
	parsed, err := x509.ParseCertificate(cert.Bytes)
	if err != nil {
		return keyPair{}, fmt.Errorf("reading the authority: %w", err)
	}
	private, err := x509.ParseECPrivateKey(key.Bytes)
	if err != nil {
		return keyPair{}, fmt.Errorf("reading the authority: %w", err)
	}
	return keyPair{parsed, private}, nil
}

// sign generates a key and signs a certificate for it. ca is the certificate of
// the CA to trust; all three are in PEM.
func sign(o *unstructured.Unstructured, by keyPair) (cert, private, ca []byte, err error) {
	template, err := templateOf(o)
	if err != nil {
		return nil, nil, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("making a key: %w", err)
	}
	self := by.cert == nil
	if self {
		by = keyPair{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, key.Public(), by.key)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("signing: %w", err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("encoding the key: %w", err)
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	ca = cert
	if !self {
		ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: by.cert.Raw})
	}
	return cert, private, ca, nil
}

func templateOf(o *unstructured.Unstructured) (*x509.Certificate, error) {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	common, _, _ := unstructured.NestedString(spec, "commonName")
	names, _, err := unstructured.NestedStringSlice(spec, "dnsNames")
	if err != nil {
		return nil, err
	}
	addresses, _, err := unstructured.NestedStringSlice(spec, "ipAddresses")
	if err != nil {
		return nil, err
	}
	isCA, _, _ := unstructured.NestedBool(spec, "isCA")
	life := lifetime
	if text, ok, _ := unstructured.NestedString(spec, "duration"); ok {
		if life, err = time.ParseDuration(text); err != nil {
			return nil, err
		}
	}
	now := time.Now()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: common}, DNSNames: names, NotBefore: now.Add(-time.Minute), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: isCA,
	}
	if isCA {
		template.KeyUsage |= x509.KeyUsageCertSign
		template.ExtKeyUsage = nil
	}
	for _, text := range addresses {
		ip := net.ParseIP(text)
		if ip == nil {
			return nil, fmt.Errorf("%q is not an IP address", text)
		}
		template.IPAddresses = append(template.IPAddresses, ip)
	}
	return template, nil
}
