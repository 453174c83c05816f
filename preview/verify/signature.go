package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	sigverify "github.com/sigstore/sigstore-go/pkg/verify"
)

// statements are the in-toto predicate types that count as a signature: cosign's own,
// and SLSA provenance, which says that the signer built the content. A scan report or an
// SBOM by the same signer does not say so.
var statements = []string{
	"https://sigstore.dev/cosign/sign/v1",
	"https://slsa.dev/provenance/v1",
	"https://slsa.dev/provenance/v0.2",
}

// The reasons that have their own words.
var (
	errOtherKey    = errors.New("it is by another key")
	errOtherDigest = errors.New("it is for another digest")
)

// verify returns the signer, or an error if the artifact is no signature of the digest
// by a trusted signer.
func (t *Trust) verify(digest string, a Artifact) (string, error) {
	switch {
	case a.MediaType == SimpleSigning && t.keyless == nil:
		return t.simpleByKey(digest, a)
	case a.MediaType == SimpleSigning:
		return t.simpleKeyless(digest, a)
	case strings.HasPrefix(a.MediaType, bundlePrefix):
		return t.bundle(digest, a.Payload)
	}
	return "", errOtherStatement
}

// simpleByKey verifies cosign's simple signing payload with the trusted keys and
// returns the name of the key. The signature is checked before the payload is read.
func (t *Trust) simpleByKey(digest string, a Artifact) (string, error) {
	sig, err := base64.StdEncoding.DecodeString(a.Annotations[annotationSignature])
	if err != nil || len(sig) == 0 {
		return "", errors.New("its annotation holds no signature")
	}
	for _, k := range t.keys {
		for _, v := range k.verifiers {
			if v.VerifySignature(bytes.NewReader(sig), bytes.NewReader(a.Payload)) == nil {
				return k.name, checkSimple(digest, a.Payload)
			}
		}
	}
	return "", errOtherKey
}

// simpleKeyless verifies cosign's simple signing payload whose certificate and log
// entry are in annotations, and returns the signer.
func (t *Trust) simpleKeyless(digest string, a Artifact) (string, error) {
	b, err := simpleBundle(a)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(a.Payload)
	if _, err := t.keyless.Verify(b, sigverify.NewPolicy(
		sigverify.WithArtifactDigest("sha256", sum[:]), sigverify.WithCertificateIdentity(t.identity))); err != nil {
		return "", err
	}
	return t.String(), checkSimple(digest, a.Payload)
}

// checkSimple returns an error unless a verified payload is an image signature for the
// digest.
func checkSimple(digest string, payload []byte) error {
	var p struct {
		Critical struct {
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
			Type string `json:"type"`
		} `json:"critical"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return errors.New("its payload is not JSON of the expected shape")
	}
	if p.Critical.Type != "cosign container image signature" {
		return errors.New("its payload is not an image signature")
	}
	if p.Critical.Image.Digest != digest {
		return errOtherDigest
	}
	return nil
}

// bundle verifies a Sigstore bundle and returns the signer: its signature is over the
// manifest with the digest, or over an in-toto statement whose subject is that
// manifest.
func (t *Trust) bundle(digest string, data []byte) (string, error) {
	hash, err := hex.DecodeString(strings.TrimPrefix(digest, "sha256:"))
	if err != nil || len(hash) != sha256.Size {
		return "", errors.New("only sha256 digests are signed")
	}
	var b bundle.Bundle
	if err := b.UnmarshalJSON(data); err != nil {
		return "", fmt.Errorf("it is no Sigstore bundle: %w", err)
	}
	artifact := sigverify.WithArtifactDigest("sha256", hash)
	if t.keyless != nil {
		result, err := t.keyless.Verify(&b, sigverify.NewPolicy(artifact, sigverify.WithCertificateIdentity(t.identity)))
		if err != nil {
			return "", errors.Join(otherStatement(&b), err)
		}
		return t.String(), checkStatement(result)
	}
	for _, k := range t.keys {
		var result *sigverify.VerificationResult
		if result, err = k.bundle(&b, artifact); err == nil {
			return k.name, checkStatement(result)
		}
	}
	return "", errors.Join(otherStatement(&b), err)
}

// bundle verifies a Sigstore bundle with one key. The key id that the bundle gives as a
// hint is not used, because it is not signed.
func (k key) bundle(b *bundle.Bundle, artifact sigverify.ArtifactPolicyOption) (*sigverify.VerificationResult, error) {
	var last error
	for _, v := range k.verifiers {
		material := root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) {
			return root.NewExpiringKey(v, time.Time{}, time.Time{}), nil
		})
		verifier, err := sigverify.NewVerifier(material, sigverify.WithNoObserverTimestamps(), sigverify.WithoutStatementPredicate())
		if err != nil {
			return nil, err
		}
		result, err := verifier.Verify(b, sigverify.NewPolicy(artifact, sigverify.WithKey()))
		if err == nil {
			return result, nil
		}
		last = err
	}
	return nil, last
}

// checkStatement returns [errOtherStatement] for a verified in-toto statement whose
// predicate type is none of [statements].
func checkStatement(result *sigverify.VerificationResult) error {
	if result.Statement != nil && !slices.Contains(statements, result.Statement.GetPredicateType()) {
		return errOtherStatement
	}
	return nil
}

// otherStatement returns [errOtherStatement] for a bundle whose predicate type would
// not count as a signature even if it verified: the report of a foreign scanner must
// not make content refused.
func otherStatement(b *bundle.Bundle) error {
	envelope := b.GetDsseEnvelope()
	if envelope == nil {
		return nil
	}
	var s struct {
		PredicateType string `json:"predicateType"`
	}
	if json.Unmarshal(envelope.GetPayload(), &s) == nil && !slices.Contains(statements, s.PredicateType) {
		return errOtherStatement
	}
	return nil
}

// certificate returns the DER form of the first certificate in PEM text.
func certificate(text string) ([]byte, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("it is by a key, not by a certificate")
	}
	return block.Bytes, nil
}
