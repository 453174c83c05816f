package record

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
)

// recordPayload is the payload type for signing the sha256 of a stored record. The
// record contains the release, the revision, the cluster, and the hash of the plan, so
// that none of them can be exchanged.
const recordPayload = "application/vnd.kubectl-operator.record.v1+sha256"

// maxSignature is the most bytes that are read as a signature. Signatures of
// the accepted kinds of keys have at most 139.
const maxSignature = 512

const notSigned = "it is not signed"

// Keys are the key that signs the records of releases, and the keys that verify
// them. Without keys, records are neither signed nor verified.
type Keys struct {
	// Signer signs what is written; nil leaves it unsigned.
	Signer *approval.Key
	// Trusted are the keys whose records are believed, Signer's included.
	Trusted []approval.PublicKey
	// Approvers hold the keys to verify the signed approvals on record; nil means do not
	// verify.
	Approvers *approval.Approvers
}

// storedForm is the hash of a record's bytes as they were read, and the
// signature of the record, if any.
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

// verify returns the trusted key that signed a record, or why it is not verified; nil if
// no key is trusted. identity identifies the cluster of the record.
//
// A signature does not prove that the record is the newest one: a user who may
// write the release's Secrets can put an older one back.
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
	return &preview.RecordSignature{Problem: "not signed by a trusted key, or modified after signing"}
}

// verifyApprovals verifies the signed approvals of a record again, and notes the first
// that does not hold.
func (r *Record) verifyApprovals() {
	applied := approval.Applied{
		Release: r.Release, Digest: r.Digest, ContentDigest: r.ContentDigest, Target: r.Target, By: r.Approval.By, Began: r.Started,
	}
	for _, signed := range r.Approval.Signed {
		why := signed.Verify(r.keys.Approvers, applied)
		if why == "" {
			continue
		}
		if r.Signature == nil {
			r.Signature = &preview.RecordSignature{}
		}
		r.Signature.Approvals = fmt.Sprintf("the approval by %.80s does not hold: %s", signed.Approver, why)
		return
	}
}

// signatureOf returns the signature in a record's Secret, nil if there is none.
// A malformed one is returned too, and then fails to verify.
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

// ownSignature returns the verification result of a record that was just signed
// with these keys.
func (k Keys) ownSignature() *preview.RecordSignature {
	switch {
	case k.Signer != nil:
		return &preview.RecordSignature{Key: k.Signer.ID}
	case len(k.Trusted) > 0:
		return &preview.RecordSignature{Problem: notSigned}
	}
	return nil
}

// ForSuccessor returns the keys for a record that resumes or replaces the
// record before. If that one was not verified, the new one is not signed,
// because a signature would vouch for content that others may have written.
func (k Keys) ForSuccessor(before *Record) Keys {
	if before.Signature == nil || before.Signature.Key == "" {
		return Keys{Trusted: k.Trusted}
	}
	return k.For(before.Signature)
}

// For returns the keys for a record that follows the one with a signature, nil for none. A
// record in a history that does not hold is not signed: the signature would vouch for that.
func (k Keys) For(before *preview.RecordSignature) Keys {
	if before != nil && before.Chain != "" {
		return Keys{Trusted: k.Trusted}
	}
	return k
}
