package verify_test

import (
	"crypto"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/verify"
)

func TestSignaturesByAKey(t *testing.T) {
	ours, theirs := newKey(t), newKey(t)
	manifest := []byte(`{"schemaVersion":2}`)
	edited := ours.simple(t, digest)
	edited.Payload = simplePayload(otherDigest)
	unsigned := ours.simple(t, digest)
	unsigned.Annotations = nil
	blob := ours.simple(t, digest)
	blob.Payload = []byte(strings.Replace(string(blob.Payload), "container image", "blob", 1))
	blob.Annotations = map[string]string{"dev.cosignproject.cosign/signature": ours.sign(t, blob.Payload)}
	notJSON := verify.Artifact{MediaType: verify.SimpleSigning, Payload: []byte("x"), Annotations: map[string]string{"dev.cosignproject.cosign/signature": ours.sign(t, []byte("x"))}}
	long := strings.Repeat("x\x1b[2J", 1000)

	for _, test := range []struct {
		name      string
		digest    string // empty: the usual one
		artifacts []verify.Artifact
		want      string // of the error; empty when verified
	}{
		{"a simple signing payload by the key", "", []verify.Artifact{ours.simple(t, digest)}, ""},
		{"a bundle by the key", "", []verify.Artifact{ours.bundle(t, cosignSign, digest)}, ""},
		{"provenance by the key", "", []verify.Artifact{ours.bundle(t, "https://slsa.dev/provenance/v1", digest)}, ""},
		{"a bundle over the manifest itself", digestOf(manifest), []verify.Artifact{ours.message(t, manifest)}, ""},
		{"a good one behind a foreign one", "", []verify.Artifact{theirs.simple(t, digest), theirs.bundle(t, cosignSign, digest), ours.simple(t, digest)}, ""},
		{"a simple signing payload by another key", "", []verify.Artifact{theirs.simple(t, digest)}, "by another key"},
		{"a bundle by another key", "", []verify.Artifact{theirs.bundle(t, cosignSign, digest)}, "by another key"},
		{"a simple signing payload for another digest", "", []verify.Artifact{ours.simple(t, otherDigest)}, "for another digest"},
		{"a bundle for another digest", "", []verify.Artifact{ours.bundle(t, cosignSign, otherDigest)}, "for another digest"},
		{"a bundle over another manifest", "", []verify.Artifact{ours.message(t, manifest)}, "for another digest"},
		{"a payload edited after it was signed", "", []verify.Artifact{edited}, "by another key"},
		{"a payload without a signature", "", []verify.Artifact{unsigned}, "holds no signature"},
		{"a signed payload of another type", "", []verify.Artifact{blob}, "not an image signature"},
		{"a signed payload that is not JSON", "", []verify.Artifact{notJSON}, "not JSON"},
		{"a bundle that is not JSON", "", []verify.Artifact{{MediaType: bundleType, Payload: []byte(long)}}, "no Sigstore bundle"},
		{"a scan report by the key is no signature", "", []verify.Artifact{ours.bundle(t, "https://cosign.sigstore.dev/attestation/vuln/v1", digest)}, "carries no signature"},
		{"an SBOM by somebody is no signature", "", []verify.Artifact{theirs.bundle(t, "https://spdx.dev/Document", digest)}, "carries no signature"},
		{"a payload of another media type", "", []verify.Artifact{{MediaType: "text/plain", Payload: simplePayload(digest)}}, "carries no signature"},
		{"nothing at all", "", nil, "carries no signature"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.digest == "" {
				test.digest = digest
			}
			got, err := verify.Check(verify.Required, trustKeys(t, ours), test.digest, test.artifacts)
			if test.want != "" {
				mustRefuse(t, err, test.want)
				if got.Status != verify.Unverified {
					t.Errorf("refused, and yet the status is %q", got.Status)
				}
				return
			}
			if err != nil || got.Status != verify.Verified || !strings.HasPrefix(got.Identity, "key sha256:") {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// A bundle of ours that was changed to attest something else cannot be told from
// one by a stranger: that there is one is said.
func TestAttestationsThatDoNotCountAreNamed(t *testing.T) {
	ours := newKey(t)
	bundle := ours.bundle(t, cosignSign, digest)
	signed := base64.StdEncoding.EncodeToString(statement(cosignSign, digest))
	changed := base64.StdEncoding.EncodeToString(statement("https://spdx.dev/Document", digest))
	bundle.Payload = []byte(strings.Replace(string(bundle.Payload), signed, changed, 1))
	_, err := verify.Check(verify.Required, trustKeys(t, ours), digest, []verify.Artifact{bundle})
	mustRefuse(t, err, "carries no signature (1 attestation of another kind does not count)")
	if got := verify.UncountedSignatures(2); !strings.Contains(got, "2 attestations") {
		t.Error(got)
	}
}

func TestEveryKindOfKeySigns(t *testing.T) {
	for name, s := range map[string]signer{
		"P-256": newKey(t), "P-384 with SHA-256, as cosign does": newP384(t, crypto.SHA256),
		"P-384 with SHA-384": newP384(t, crypto.SHA384), "Ed25519": newEd25519(t),
	} {
		t.Run(name, func(t *testing.T) {
			for _, a := range []verify.Artifact{s.simple(t, digest), s.bundle(t, cosignSign, digest)} {
				if got, err := verify.Check(verify.Required, trustKeys(t, s), digest, []verify.Artifact{a}); err != nil || got.Status != verify.Verified {
					t.Errorf("%s: got %+v, %v", a.MediaType, got, err)
				}
			}
		})
	}
}

func TestAnyKeyOfTheFileWillDo(t *testing.T) {
	before, after := newKey(t), newKey(t)
	trust := trustKeys(t, before, after)
	first, err := verify.Check(verify.Required, trust, digest, []verify.Artifact{before.simple(t, digest)})
	if err != nil {
		t.Fatal(err)
	}
	second, err := verify.Check(verify.Required, trust, digest, []verify.Artifact{after.simple(t, digest)})
	if err != nil || first.Identity == second.Identity {
		t.Errorf("got %+v and %+v, %v: want two names", first, second, err)
	}
}

func TestModes(t *testing.T) {
	ours, theirs := newKey(t), newKey(t)
	good, wrong := []verify.Artifact{ours.simple(t, digest)}, []verify.Artifact{theirs.simple(t, digest)}
	for _, test := range []struct {
		name      string
		mode      verify.Mode
		trust     *verify.Trust
		artifacts []verify.Artifact
		status    string
		refusal   string
	}{
		{"required with nobody to trust refuses", verify.Required, nil, good, "", "nothing says who must have signed"},
		{"required refuses what is unsigned", verify.Required, trustKeys(t, ours), nil, "", "carries no signature"},
		{"if-present lets pass what is unsigned", verify.IfPresent, trustKeys(t, ours), nil, verify.Unverified, ""},
		{"if-present refuses a wrong signature", verify.IfPresent, trustKeys(t, ours), wrong, "", "by another key"},
		{"if-present verifies a good one", verify.IfPresent, trustKeys(t, ours), good, verify.Verified, ""},
		{"if-present with nobody to trust verifies nothing", verify.IfPresent, nil, good, verify.Unverified, ""},
		{"off looks at nothing", verify.Off, trustKeys(t, ours), wrong, verify.Unverified, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := verify.Check(test.mode, test.trust, digest, test.artifacts)
			if test.refusal != "" {
				mustRefuse(t, err, test.refusal)
				return
			}
			if err != nil || got.Status != test.status {
				t.Errorf("got %+v, %v, want %s", got, err, test.status)
			}
		})
	}
}

func TestFilesThatNameNobody(t *testing.T) {
	key := newKey(t)
	for _, test := range []struct {
		name   string
		signer verify.Signer
		want   string
	}{
		{"a key file that is not there", verify.Signer{Key: "/nowhere"}, "no such file"},
		{"a key file without PEM", verify.Signer{Key: file(t, []byte("x"))}, "no PEM block"},
		{"a private key", verify.Signer{Key: file(t, []byte("-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nc2VjcmV0\n-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n"))}, "is no public key"},
		{"too many keys", verify.Signer{Key: file(t, []byte(strings.Repeat(string(key.pem(t)), 17)))}, "more than 16"},
		{"a root that is not JSON", verify.Signer{Identity: "a", Issuer: "b", TrustedRoot: file(t, []byte("x"))}, "not a Sigstore trusted root"},
		{"a root without authorities", verify.Signer{Identity: "a", Issuer: "b", TrustedRoot: file(t, []byte(`{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1"}`))}, "no certificate authority"},
		{"an identity without a root", verify.Signer{Identity: "a", Issuer: "b"}, "all three"},
		{"a key and an identity", verify.Signer{Key: "k", Identity: "a", Issuer: "b", TrustedRoot: "r"}, "not both"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := verify.Load(test.signer)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, test.want)
			}
		})
	}
}

func mustRefuse(t *testing.T, err error, want string) {
	t.Helper()
	var refused *verify.UnverifiedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v, want a refusal with %q", err, want)
	}
	if strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 1500 {
		t.Errorf("the refusal is more than a sentence: %q", err)
	}
}
