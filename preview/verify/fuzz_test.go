package verify_test

import (
	"bytes"
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/verify"
)

// fixedKey is the same in every process of a fuzzing run, so that what one
// finds holds in the others.
func fixedKey() signer { return signer{ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), 0} }

// Whatever lies next to an image: only content signed by the key verifies, and for no
// other digest.
func FuzzSimpleSigning(f *testing.F) {
	key, sigstore := fixedKey(), newInstance(f)
	good, soon := key.simple(f, digest), time.Now().Add(time.Minute)
	keys, keyless := trustKeys(f, key), sigstore.trust(f, issuer, parts{})
	names := []string{
		"dev.cosignproject.cosign/signature", "dev.sigstore.cosign/certificate",
		"dev.sigstore.cosign/bundle", "dev.sigstore.cosign/rfc3161timestamp",
	}
	for _, a := range []verify.Artifact{good, sigstore.simple(f, "mallory@example.com", digest, soon, bothProofs)} {
		f.Add(a.Payload, a.Annotations[names[0]], a.Annotations[names[1]], a.Annotations[names[2]], a.Annotations[names[3]])
	}
	f.Fuzz(func(t *testing.T, payload []byte, signature, certificate, log, stamp string) {
		a := []verify.Artifact{{MediaType: verify.SimpleSigning, Payload: payload, Annotations: map[string]string{
			names[0]: signature, names[1]: certificate, names[2]: log, names[3]: stamp,
		}}}
		if _, err := verify.Check(verify.Required, keys, digest, a); err == nil && !bytes.Equal(payload, good.Payload) {
			t.Errorf("verified by key, and never signed: %q", payload)
		}
		if _, err := verify.Check(verify.Required, keys, otherDigest, a); err == nil {
			t.Error("verified by key for another digest")
		}
		if _, err := verify.Check(verify.Required, keyless, digest, a); err == nil {
			t.Error("verified without a key, and signed by nobody trusted")
		}
	})
}

// Whatever a bundle says: it never verifies for a digest that no one signed, nor
// keyless.
func FuzzBundle(f *testing.F) {
	key, sigstore := fixedKey(), newInstance(f)
	keys, keyless := trustKeys(f, key), sigstore.trust(f, issuer, parts{})
	for _, a := range []verify.Artifact{
		key.bundle(f, cosignSign, digest), key.message(f, []byte("{}")),
		sigstore.bundle(f, "mallory@example.com", cosignSign, otherDigest, time.Now().Add(time.Minute), bothProofs),
	} {
		f.Add(a.Payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		a := []verify.Artifact{{MediaType: bundleType, Payload: payload}}
		for _, trust := range []*verify.Trust{keys, keyless} {
			if _, err := verify.Check(verify.Required, trust, otherDigest, a); err == nil {
				t.Errorf("verified by %s for a digest that nobody signed", trust)
			}
		}
	})
}
