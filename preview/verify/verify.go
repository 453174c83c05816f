// Package verify checks that content is signed by the required signer. It is given
// the signatures and the digest of the content, and returns the identity that signed
// or an [UnverifiedError].
//
// It works on bytes alone: signatures come from preview/source as they lie next to an
// image, and trust comes from files the user named. Nothing is ever fetched here, least
// of all a trust root, so the same bytes give the same answer on every machine.
//
// Two forms are read: cosign's simple signing payload (the tag
// sha256-HEX.sig) and Sigstore bundles (OCI 1.1 referrers). Either is checked
// with a public key, or keyless against a trusted root, an identity and the
// issuer that vouched for it.
package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The outcomes that a plan records as preview.Verification.Status. Failed content is
// refused and never becomes a plan.
const (
	Verified   = "verified"
	Unverified = "unverified"
)

// The media types of payloads that are read.
const (
	// SimpleSigning is cosign's payload (github.com/sigstore/cosign,
	// specs/SIGNATURE_SPEC.md).
	SimpleSigning = "application/vnd.dev.cosign.simplesigning.v1+json"
	// bundlePrefix begins the media type of every version of the Sigstore
	// bundle (github.com/sigstore/protobuf-specs, sigstore_bundle.proto).
	bundlePrefix = "application/vnd.dev.sigstore.bundle"
)

// Artifact is one signature as it is stored next to an image. All of it is untrusted.
type Artifact struct {
	MediaType   string            // of Payload
	Annotations map[string]string // of the layer that holds Payload
	Payload     []byte
}

// errOtherStatement is the error for an attestation that does not say who released the
// content, such as a scan report: it is no signature, so it neither verifies nor fails.
var errOtherStatement = errors.New("an attestation of another kind")

// UnverifiedError is the error for content that is not signed as required, with the
// fault (What) and the advice (Next). Callers treat it as a refusal: nothing was
// written, and a retry gives the same result.
type UnverifiedError struct {
	What string
	Next string
}

func (e *UnverifiedError) Error() string { return e.What + "; " + e.Next }

// Check verifies the signatures of the content with a digest by a policy's mode and
// trust, which is nil if the policy names no signer. The errors are all
// [*UnverifiedError].
func Check(mode Mode, trust *Trust, digest string, artifacts []Artifact) (preview.Verification, error) {
	none := preview.Verification{Status: Unverified}
	if mode == Off {
		return none, nil
	}
	if trust == nil {
		if mode == Required {
			return none, &UnverifiedError{
				What: "signatures are required, and nothing says who must have signed " + digest,
				Next: "give --verify-key FILE, or --certificate-identity, --certificate-oidc-issuer and --trusted-root, or a policy in the configuration",
			}
		}
		return none, nil
	}
	var reasons []string
	others := 0
	for _, a := range artifacts {
		signer, err := trust.verify(digest, a)
		if err == nil {
			return preview.Verification{Status: Verified, Identity: signer}, nil
		}
		if errors.Is(err, errOtherStatement) {
			others++
			continue
		}
		reasons = append(reasons, plain(err))
	}
	if len(reasons) > 0 {
		return none, &UnverifiedError{
			What: fmt.Sprintf("verification failed: %s has %s, and none by %s: %s", digest, countText(len(reasons)), trust, summary(reasons)),
			Next: "take content that its publisher signed, or correct who is trusted",
		}
	}
	if mode == Required {
		return none, &UnverifiedError{
			What: "verification failed: " + digest + " carries no signature" + UncountedSignatures(others) + ", and one by " + trust.String() + " is required",
			Next: "ask its publisher to sign it",
		}
	}
	return none, nil
}

// UncountedSignatures returns text for a message about attestations that do not count
// as signatures, empty if there are none. It is always part of the message, because a
// signature that was changed to look like another attestation would be among them.
func UncountedSignatures(others int) string {
	switch others {
	case 0:
		return ""
	case 1:
		return " (1 attestation of another kind does not count)"
	}
	return fmt.Sprintf(" (%d attestations of another kind do not count)", others)
}

// summary returns the first three different reasons, sorted, and the number of others.
func summary(reasons []string) string {
	const most = 3
	slices.Sort(reasons)
	reasons = slices.Compact(reasons)
	if extra := len(reasons) - most; extra > 0 {
		return strings.Join(reasons[:most], "; ") + fmt.Sprintf("; and %d other reasons", extra)
	}
	return strings.Join(reasons, "; ")
}

func countText(n int) string {
	if n == 1 {
		return "1 signature"
	}
	return fmt.Sprintf("%d signatures", n)
}
