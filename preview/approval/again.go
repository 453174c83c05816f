package approval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxKept is how many bytes of envelopes the record of a revision keeps, so that a record
// stays one that can be stored. An approval of a hundred findings has 30 kB.
const maxKept = 256 << 10

// Applied is what a record says was applied with signed approvals.
type Applied struct {
	Release                       preview.Release
	Digest, ContentDigest, Target string
	By                            string // the user who applied it
	Began                         time.Time
}

// keep adds to approvals that count their envelopes, from the bytes in files, as long as
// they fit into a record.
func keep(counted []Signature, files [][]byte) {
	left := maxKept
	for i := range counted {
		var compact bytes.Buffer
		if json.Compact(&compact, files[i]) != nil {
			continue
		}
		if left -= compact.Len(); left >= 0 {
			counted[i].Envelope = compact.Bytes()
		}
	}
}

// Verify verifies an approval that is on record again, and returns why it does not hold,
// empty where it does. Without approvers its signature counts for nothing, and it is only
// compared with what was applied.
func (s Signature) Verify(a *Approvers, applied Applied) string {
	if len(s.Envelope) == 0 {
		if a == nil {
			return ""
		}
		return "the envelope is not on record: it was too large, was recorded by an older version, or was removed"
	}
	o, err := open(s.Envelope)
	if err != nil {
		return err.Error()
	}
	if why := s.differs(o, applied); why != "" || a == nil {
		return why
	}
	name, id, ok := a.whoSigned(o)
	switch {
	case !ok:
		return fmt.Sprintf("it is signed by no key of the approvers (it says %.71s), or was changed", o.claimed)
	case name != s.Approver || id != s.KeyID:
		return "it is signed by " + name + " with key " + id
	case !a.ApproverMayApply && a.isUser(name, applied.By):
		return name + " applied the plan as " + applied.By
	case o.statement.Scope == ScopeContent && !a.ContentApprovals:
		return "it approves the content alone, which counts only with contentApprovals: true"
	}
	return ""
}

// differs returns how an envelope differs from the approval on record and from what was
// applied, empty if it does not.
func (s Signature) differs(o *unverifiedEnvelope, applied Applied) string {
	signed, plan := o.statement, o.statement.Scope == ScopePlan
	switch {
	case signed.Release != applied.Release:
		return fmt.Sprintf("it approves the release %s/%s", signed.Release.Namespace, signed.Release.Name)
	case signed.ContentDigest != applied.ContentDigest:
		return fmt.Sprintf("it approves other content, %.80s", signed.ContentDigest)
	case plan && signed.Digest != applied.Digest:
		return fmt.Sprintf("it approves another plan, %.80s", signed.Digest)
	case plan && signed.Target != applied.Target:
		return fmt.Sprintf("it approves a plan for another cluster, %.80s", signed.Target)
	case signed.Scope != s.Scope || signed.Signed != s.Signed || signed.Expires != s.Expires:
		return "it says another scope, time or expiry than the record"
	case o.from.After(applied.Began.Add(skew)):
		return fmt.Sprintf("it was signed at %s, after the apply began", signed.Signed)
	case !o.to.IsZero() && applied.Began.After(o.to.Add(skew)):
		return fmt.Sprintf("it ended at %s, before the apply began", signed.Expires)
	}
	return ""
}
