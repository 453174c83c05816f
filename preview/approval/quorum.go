package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// skew is the largest accepted difference between the clocks of approver and
// applier.
const skew = 5 * time.Minute

// Quorum has the number of approvals that a plan needs, who may give them, and the
// approvals that were found.
type Quorum struct {
	Need      int
	Approvers *Approvers
	PlanFile  string // sha256 of the plan file
	Found     []FoundApproval
}

// FoundApproval is an approval that was found next to a plan. Err is set if it could not
// be read.
type FoundApproval struct {
	Name string // of the file, or the digest of the artifact
	Data []byte
	Err  error
}

// Signature is an approval that counts, in the form that receipts record.
type Signature struct {
	Approver string `json:"approver"`
	KeyID    string `json:"keyId"`
	Scope    string `json:"scope"`
	Signed   string `json:"signed"`
	Expires  string `json:"expires,omitempty"`
	// Envelope is the DSSE envelope as JSON, for [Signature.Verify] to verify the approval
	// again; empty where it did not fit into the record.
	Envelope []byte `json:"envelope,omitempty"`
}

// QuorumError is the error for a plan with too few valid approvals.
type QuorumError struct {
	// Reasons are one sentence each: how many there are of how many, then why
	// each of the others does not count.
	Reasons []string
}

func (e *QuorumError) Error() string { return strings.Join(e.Reasons, "; ") }

// Check counts the approvals of a plan before it is applied. users are the user names of
// the person who applies it: from the credentials, and an impersonated one. It returns
// the approvals that count and the findings that every one of them accepts, or a
// [QuorumError] if there are too few.
func (q *Quorum) Check(p *preview.Plan, users []string, now time.Time) ([]Signature, []AcceptedFinding, error) {
	var counted []Signature
	var accepted [][]AcceptedFinding
	var files [][]byte
	var reasons []string
	for _, found := range q.Found {
		o, signature, why := q.judge(p, found, users, now)
		if why == "" && slices.ContainsFunc(counted, func(s Signature) bool { return s.Approver == signature.Approver }) {
			why = "it is a second approval by " + signature.Approver + ", who counts once"
		}
		if why != "" {
			reasons = append(reasons, found.Name+" does not count: "+why)
			continue
		}
		counted, accepted, files = append(counted, signature), append(accepted, o.statement.Accepted), append(files, found.Data)
	}
	if len(counted) < q.Need {
		var names []string
		for _, s := range counted {
			names = append(names, s.Approver)
		}
		head := fmt.Sprintf("%d of %d approvals", len(counted), q.Need)
		if len(names) > 0 {
			head += ", by " + strings.Join(names, ", ")
		}
		if len(q.Found) == 0 {
			head += ": no approval files were found next to the plan"
		}
		return nil, nil, &QuorumError{Reasons: append([]string{head}, reasons...)}
	}
	keep(counted, files)
	return counted, commonAcceptances(accepted), nil
}

// judge opens an approval and returns it with its signature, or a text that says why
// the approval does not count; the text is empty if it counts.
func (q *Quorum) judge(p *preview.Plan, found FoundApproval, users []string, now time.Time) (*unverifiedEnvelope, Signature, string) {
	if found.Err != nil {
		return nil, Signature{}, found.Err.Error()
	}
	o, err := open(found.Data)
	if err != nil {
		return nil, Signature{}, err.Error()
	}
	name, id, ok := q.Approvers.whoSigned(o)
	if !ok {
		return nil, Signature{}, fmt.Sprintf("it is signed by no key of the approvers (it says %.71s), or was changed", o.claimed)
	}
	s := o.statement
	by := "it is by " + name + ", "
	applier := slices.IndexFunc(users, func(user string) bool { return q.Approvers.isUser(name, user) })
	switch {
	case !q.Approvers.ApproverMayApply && (len(users) == 0 || users[0] == ""):
		return nil, Signature{}, by + "and the cluster does not say who applies the plan"
	case !q.Approvers.ApproverMayApply && applier >= 0:
		return nil, Signature{}, by + "who applies the plan as " + users[applier]
	case !o.to.IsZero() && !now.Before(o.to):
		return nil, Signature{}, by + fmt.Sprintf("and expired at %s; by this machine's clock it is %s", s.Expires, preview.ExpiryText(now))
	case o.from.After(now.Add(skew)):
		return nil, Signature{}, by + fmt.Sprintf("signed at %s, and by this machine's clock it is only %s; one of the clocks is wrong", s.Signed, preview.ExpiryText(now))
	}
	if why := q.mismatch(p, s); why != "" {
		return nil, Signature{}, by + why
	}
	for _, f := range NeededAcceptances(p) {
		if !slices.Contains(s.Accepted, AcceptedFinding{ID: f.ID, Fingerprint: f.Fingerprint}) {
			return nil, Signature{}, by + fmt.Sprintf("who did not accept the finding %s=%s", f.ID, f.Fingerprint)
		}
	}
	return o, Signature{Approver: name, KeyID: id, Scope: s.Scope, Signed: s.Signed, Expires: s.Expires}, ""
}

// mismatch returns how a statement differs from the plan, empty if it does not.
func (q *Quorum) mismatch(p *preview.Plan, s Statement) string {
	want := NewStatement(p, q.PlanFile)
	content := s.Scope == ScopeContent
	for _, field := range []struct {
		what, got, want string
		planOnly        bool
	}{
		{"another release", s.Release.Namespace + "/" + s.Release.Name, want.Release.Namespace + "/" + want.Release.Name, false},
		{"other content", s.ContentDigest, want.ContentDigest, false},
		{"another cluster", s.Target, want.Target, true},
		{"another plan", s.Digest, want.Digest, true},
		{"another plan file", s.PlanFile, want.PlanFile, true},
		{"another ruleset", fmt.Sprint(s.Ruleset), fmt.Sprint(preview.Ruleset), false},
	} {
		if field.got != field.want && !(content && field.planOnly) {
			return fmt.Sprintf("for %s: %.80s, and this is %s", field.what, field.got, field.want)
		}
	}
	if content && !q.Approvers.ContentApprovals {
		return "and approves the content alone, which counts only with contentApprovals: true"
	}
	return ""
}

// commonAcceptances returns the findings that every approver accepts.
func commonAcceptances(lists [][]AcceptedFinding) []AcceptedFinding {
	if len(lists) == 0 {
		return nil
	}
	var out []AcceptedFinding
	for _, a := range lists[0] {
		if !slices.ContainsFunc(lists[1:], func(other []AcceptedFinding) bool { return !slices.Contains(other, a) }) {
			out = append(out, a)
		}
	}
	return out
}
