// Package approval signs and judges approvals of plans: the approver, the key, the plan,
// the cluster, the findings, and the expiry.
//
// An approval is a DSSE envelope (github.com/secure-systems-lab/dsse, protocol 1.0.2)
// with one signature over a [Statement]. It does no I/O and believes nothing: an
// envelope counts only under a key that [Approvers] name.
package approval

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// PayloadType is the media type that the DSSE envelope of an approval names for its
// payload, a [Statement].
const PayloadType = "application/vnd.kubectl-operator.approval.v1alpha1+json"

// MaxBytes is the largest size in bytes of an envelope that is read.
const MaxBytes = 1 << 20

// Kind is the kind of a [Statement]; its apiVersion is [preview.APIVersion].
const Kind = "Approval"

// The subject of an approval.
const (
	ScopePlan    = "plan"    // this plan file, on this cluster
	ScopeContent = "content" // the content, wherever it goes
)

// Statement is the signed payload of an approval.
type Statement struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Scope      string          `json:"scope"` // one of the constants
	Release    preview.Release `json:"release"`
	// Digest, Target and PlanFile are the review digest, the identity of the
	// cluster and the sha256 of the plan file; empty where the scope is content.
	Digest        string            `json:"digest"`
	Target        string            `json:"target"`
	PlanFile      string            `json:"planFile"`
	ContentDigest string            `json:"contentDigest"`
	Ruleset       int               `json:"ruleset"`
	Accepted      []AcceptedFinding `json:"accepted"`
	Signed        string            `json:"signed"`  // RFC 3339, UTC, whole seconds
	Expires       string            `json:"expires"` // the same, empty for never
}

// AcceptedFinding names a finding that the approver accepts, by its id and the
// fingerprint of its evidence.
type AcceptedFinding struct {
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint"`
}

// NewStatement returns the unsigned statement that approves a plan. planFile is the
// sha256 of the plan's file. A plan that was made without a cluster is approved for its
// content alone, so that its statement names neither plan file nor cluster.
func NewStatement(p *preview.Plan, planFile string) Statement {
	s := Statement{
		APIVersion: preview.APIVersion, Kind: Kind, Scope: ScopePlan, Release: p.Release,
		Digest: p.Digest, Target: p.Target.Identity, PlanFile: planFile,
		ContentDigest: p.ContentDigest, Ruleset: p.Ruleset, Accepted: []AcceptedFinding{},
	}
	if p.LacksLiveState() {
		s.Scope, s.Digest, s.Target, s.PlanFile = ScopeContent, "", "", ""
	}
	return s
}

// NeededAcceptances returns the findings that an approval of the plan has to accept:
// those that gate by the built-in rules.
func NeededAcceptances(p *preview.Plan) []preview.Finding {
	var out []preview.Finding
	for _, f := range p.Findings {
		if f.Severity.Gates() && f.Judged == nil {
			out = append(out, f)
		}
	}
	return out
}

// Sign returns the DSSE envelope, as JSON, of a statement signed with key. The approval
// is valid from now on, for lasts; 0 is for ever.
func Sign(s Statement, key *Key, now time.Time, lasts time.Duration) ([]byte, error) {
	s.Signed, s.Expires = preview.ExpiryText(now), ""
	if lasts > 0 {
		s.Expires = preview.ExpiryText(now.Add(lasts))
	}
	payload, err := encode(s)
	if err != nil {
		return nil, fmt.Errorf("signing the approval: %w", err)
	}
	sig, err := key.sign(dsse.PAE(PayloadType, payload))
	if err != nil {
		return nil, fmt.Errorf("signing the approval: %w", err)
	}
	envelope := dsse.Envelope{
		PayloadType: PayloadType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []dsse.Signature{{KeyID: key.ID, Sig: base64.StdEncoding.EncodeToString(sig)}},
	}
	data, err := json.MarshalIndent(envelope, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("signing the approval: %w", err)
	}
	return append(data, '\n'), nil
}

// encode returns a statement as canonical JSON, which is the only form that is signed
// and that verification accepts.
func encode(s Statement) ([]byte, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	v, err := preview.DecodeJSON(data)
	if err != nil {
		return nil, err
	}
	return preview.Canonical(v)
}

// unverifiedEnvelope is a decoded envelope whose signature has not been verified.
type unverifiedEnvelope struct {
	statement Statement
	signed    []byte // what the signature is over
	sig       []byte
	claimed   string // key id, a hint and no more
	from, to  time.Time
}

func open(data []byte) (*unverifiedEnvelope, error) {
	if len(data) > MaxBytes {
		return nil, errors.New("it is too large for an approval")
	}
	var envelope dsse.Envelope
	if err := decodeStrict(data, &envelope); err != nil {
		return nil, errors.New("it is no DSSE envelope")
	}
	payload, err := envelope.DecodeB64Payload()
	if err != nil || envelope.PayloadType != PayloadType {
		return nil, fmt.Errorf("it is an envelope of something else, %.80q", envelope.PayloadType)
	}
	if len(envelope.Signatures) == 0 {
		return nil, errors.New("it carries no signature")
	}
	if len(envelope.Signatures) > 1 {
		return nil, fmt.Errorf("it carries %d signatures; an approval has one, and there is one approval for each approver", len(envelope.Signatures))
	}
	o := &unverifiedEnvelope{signed: dsse.PAE(PayloadType, payload), claimed: envelope.Signatures[0].KeyID}
	if o.sig, err = base64.StdEncoding.DecodeString(envelope.Signatures[0].Sig); err != nil {
		return nil, errors.New("its signature is not base64")
	}
	if err := decodeStrict(payload, &o.statement); err != nil {
		return nil, errors.New("what it signs is no approval")
	}
	again, err := encode(o.statement)
	if err != nil || !bytes.Equal(again, payload) || o.statement.APIVersion != preview.APIVersion || o.statement.Kind != Kind {
		return nil, errors.New("what it signs is not written as an approval is")
	}
	s := o.statement
	if s.Scope != ScopePlan && s.Scope != ScopeContent {
		return nil, fmt.Errorf("it approves a %.40q, which is nothing that is known", s.Scope)
	}
	if o.from, err = (preview.Options{Expires: s.Signed}).ExpiresAt(); err != nil || s.Signed == "" {
		return nil, errors.New("the time of its signing cannot be read")
	}
	if o.to, err = (preview.Options{Expires: s.Expires}).ExpiresAt(); err != nil {
		return nil, errors.New("its expiry cannot be read")
	}
	return o, nil
}

// decodeStrict decodes JSON, and refuses duplicate keys and those that the type of into
// does not have.
func decodeStrict(data []byte, into any) error {
	if _, err := preview.DecodeJSON(data); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// verifiedBy reports whether the private half of key made the envelope's signature.
func (o *unverifiedEnvelope) verifiedBy(key crypto.PublicKey) bool {
	return verify(key, o.signed, o.sig)
}
