package record

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
)

// recordPayload is the type under which the sha256 of a record is signed, as it
// is stored. The record holds the release, the revision, the cluster, and the
// hash of the plan, so that none of them can be exchanged.
const recordPayload = "application/vnd.kubectl-operator.record.v1+sha256"

// maxSignature bounds a signature as it is read, in bytes. Those of the keys that
// are taken have at most 139.
const maxSignature = 512

const notSigned = "it is not signed"

// Keys sign and verify the records of releases. Without keys, records are neither
// signed nor verified.
type Keys struct {
	// Signer signs what is written; nil leaves it unsigned.
	Signer *approval.Key
	// Trusted are the keys whose records are believed, that of Signer included.
	Trusted []approval.PublicKey
}

// storedForm is a record as it was read: the hash of its bytes, and its signature,
// if any.
type storedForm struct {
	sum       []byte
	signature []byte
}

func sumOf(packed []byte) []byte {
	sum := sha256.Sum256(packed)
	return []byte(hex.EncodeToString(sum[:]))
}

// sign returns the signature of a packed record, nil if there is no key to sign
// with.
func (k Keys) sign(packed []byte) ([]byte, error) {
	if k.Signer == nil {
		return nil, nil
	}
	sig, err := k.Signer.SignDetached(recordPayload, sumOf(packed))
	if err != nil {
		return nil, fmt.Errorf("signing the record: %w", err)
	}
	return sig, nil
}

// verify looks who signed a record that was read from a cluster, of which
// identity is the identity. It returns nil where no key is trusted, and nothing
// could be said.
//
// A signature does not say that the record is the newest one: who may write the
// release's Secrets may put an older one back.
func (k Keys) verify(r *Record, identity string) *preview.RecordSignature {
	if len(k.Trusted) == 0 {
		return nil
	}
	if len(r.stored.signature) == 0 {
		return &preview.RecordSignature{Problem: notSigned}
	}
	for _, key := range k.Trusted {
		switch {
		case !key.Verifies(recordPayload, r.stored.sum, r.stored.signature):
		case r.Target != identity:
			return &preview.RecordSignature{Problem: "it was signed for the cluster " + r.Target}
		default:
			return &preview.RecordSignature{Key: key.ID}
		}
	}
	return &preview.RecordSignature{Problem: "its signature is of no key that is trusted, or it was changed since"}
}

// signatureOf returns the signature of a record, nil if there is none. A malformed
// signature is returned as well, and fails to verify.
func signatureOf(secret map[string]any) []byte {
	text := preview.String(secret, "data", keySignature)
	if len(text) > base64.StdEncoding.EncodedLen(maxSignature) {
		return []byte{0}
	}
	sig, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return []byte{0}
	}
	return sig
}

// ownSignature returns the verification of a record that these keys just
// signed.
func (k Keys) ownSignature() *preview.RecordSignature {
	switch {
	case k.Signer != nil:
		return &preview.RecordSignature{Key: k.Signer.ID}
	case len(k.Trusted) > 0:
		return &preview.RecordSignature{Problem: notSigned}
	}
	return nil
}

// ForSuccessor returns the keys for a record that resumes or replaces another. If
// the other was not verified, the new one is not signed, because a signature would
// vouch for content that others may have written.
func (k Keys) ForSuccessor(before *Record) Keys {
	if before.Signature == nil || before.Signature.Key == "" {
		return Keys{Trusted: k.Trusted}
	}
	return k
}
