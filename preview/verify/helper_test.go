package verify_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/verify"
)

const (
	digest      = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	otherDigest = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
	bundleType  = "application/vnd.dev.sigstore.bundle.v0.3+json"
	cosignSign  = "https://sigstore.dev/cosign/sign/v1"
)

// signer is a private key as a publisher has it.
type signer struct {
	key  crypto.Signer
	hash crypto.Hash // zero: the message itself is signed
}

func newKey(t testing.TB) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return signer{must(t, key, err), crypto.SHA256}
}

func newP384(t testing.TB, hash crypto.Hash) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	return signer{must(t, key, err), hash}
}

func newEd25519(t testing.TB) signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return signer{must(t, key, err), 0}
}

func (s signer) sign(t testing.TB, message []byte) string {
	t.Helper()
	switch s.hash {
	case crypto.SHA256:
		sum := sha256.Sum256(message)
		message = sum[:]
	case crypto.SHA384:
		sum := sha512.Sum384(message)
		message = sum[:]
	}
	sig, err := s.key.Sign(rand.Reader, message, s.hash)
	return base64.StdEncoding.EncodeToString(must(t, sig, err))
}

func (s signer) pem(t testing.TB) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.key.Public())
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must(t, der, err)})
}

// simple is what "cosign sign --key" puts next to an image.
func (s signer) simple(t testing.TB, digest string) verify.Artifact {
	t.Helper()
	payload := simplePayload(digest)
	return verify.Artifact{
		MediaType: verify.SimpleSigning, Payload: payload,
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": s.sign(t, payload)},
	}
}

func simplePayload(digest string) []byte {
	return fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":"r.example/b"},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":null}`, digest)
}

// bundle is what "cosign sign --key --new-bundle-format" puts next to an image.
func (s signer) bundle(t testing.TB, predicate, digest string) verify.Artifact {
	t.Helper()
	const payloadType = "application/vnd.in-toto+json"
	payload := statement(predicate, digest)
	pae := fmt.Sprintf("DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
	return verify.Artifact{MediaType: bundleType, Payload: asJSON(t, map[string]any{
		"mediaType":            bundleType,
		"verificationMaterial": map[string]any{"publicKey": map[string]any{"hint": "any"}},
		"dsseEnvelope": map[string]any{
			"payload": payload, "payloadType": payloadType,
			"signatures": []any{map[string]any{"sig": s.sign(t, []byte(pae))}},
		},
	})}
}

// message is a bundle over the manifest itself.
func (s signer) message(t testing.TB, manifest []byte) verify.Artifact {
	t.Helper()
	sum := sha256.Sum256(manifest)
	return verify.Artifact{MediaType: bundleType, Payload: asJSON(t, map[string]any{
		"mediaType":            bundleType,
		"verificationMaterial": map[string]any{"publicKey": map[string]any{"hint": ""}},
		"messageSignature": map[string]any{
			"messageDigest": map[string]any{"algorithm": "SHA2_256", "digest": sum[:]},
			"signature":     s.sign(t, manifest),
		},
	})}
}

func statement(predicate, digest string) []byte {
	return fmt.Appendf(nil, `{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"b","digest":{"sha256":%q}}],"predicateType":%q,"predicate":{}}`,
		digest[len("sha256:"):], predicate)
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func trustKeys(t testing.TB, signers ...signer) *verify.Trust {
	t.Helper()
	var data []byte
	for _, s := range signers {
		data = append(data, s.pem(t)...)
	}
	trust, err := verify.Load(verify.Signer{Key: file(t, data)})
	return must(t, trust, err)
}

func file(t testing.TB, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	return must(t, data, err)
}

func must[T any](t testing.TB, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}
