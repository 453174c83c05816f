package record

import (
	"slices"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// How an approval was given.
const (
	ApprovedOnScreen  = "screen"         // a person, on the screen that made the plan
	ApprovedByYes     = "yes"            // --yes alone
	ApprovedByDigest  = "digest"         // --yes --approve REVIEW-DIGEST
	ApprovedByContent = "content digest" // --yes --approve CONTENT-DIGEST
	ApprovedByPlan    = "plan file"      // --plan FILE --yes
)

// Approval is the decision that a digest may be applied: the approver, the way, and the
// accepted findings. Apply requires one.
type Approval struct {
	Digest  string `json:"digest"` // the review digest, or the content digest for ApprovedByContent
	How     string `json:"how"`
	By      string `json:"by"`
	Ruleset int    `json:"ruleset"` // 0 when the approver named none
	// Accepted are the findings approved one by one: on the screen, in the
	// reviewed plan file, or by --accept.
	Accepted []Acceptance `json:"accepted"`
	// Signed are the signed approvals that counted, where some were required.
	Signed []approval.Signature `json:"signed,omitempty"`
	// Policy is the sha256 of the policy that judged the findings at apply time.
	Policy string `json:"policy,omitempty"`
}

// Acceptance is a finding that was accepted, by its id and fingerprint. An empty
// fingerprint accepts the finding by its id, which suffices if one plan is approved.
type Acceptance struct {
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint"`
}

// Receipt records what was approved and what was observed after the apply.
type Receipt struct {
	Release       preview.Release `json:"release"`
	Revision      int             `json:"revision"`
	Digest        string          `json:"digest"`
	ContentDigest string          `json:"contentDigest"`
	Target        string          `json:"target"`
	Approval      Approval        `json:"approval"`
	Started       time.Time       `json:"started"`
	Finished      time.Time       `json:"finished"`
	State         string          `json:"state"` // of the record: applied, failed, …
	Objects       []ObjectReceipt `json:"objects"`
	Stages        []StageReceipt  `json:"stages,omitempty"` // in the order that they began
	// HealthChecks are the user's additional health checks; they are no part of the
	// approval.
	HealthChecks []string `json:"healthChecks,omitempty"`
	// Undoes is the failed revision that this one took back by itself, and Undo
	// the receipt of the one that took this back.
	Undoes *RollbackOf `json:"undoes,omitempty"`
	Undo   *Receipt    `json:"undo,omitempty"`
}

// ObjectReceipt records what was done with one object, and its state at the end.
type ObjectReceipt struct {
	ID     string         `json:"id"`
	Action preview.Action `json:"action"`
	State  ObjectState    `json:"state"`
	UID    string         `json:"uid,omitempty"`
	// Version is the resourceVersion that the write left: an object that still has it was
	// changed by no other client since.
	Version string   `json:"resourceVersion,omitempty"`
	Digest  string   `json:"digest,omitempty"`
	Notes   []string `json:"notes,omitempty"`   // such as "unreviewed defaults", "changed outside this plan"
	Message string   `json:"message,omitempty"` // why it failed or diverged
	// Cause is the reason why it was not ready when it was last seen, and
	// Offender the id of the first object at fault.
	Cause    rollout.Cause `json:"cause,omitempty"`
	Offender string        `json:"offender,omitempty"`
}

// ObjectState is the state of an object during apply and rollout.
type ObjectState string

// The object states, in the order an object goes through them.
const (
	StatePending  ObjectState = "pending"
	StateSent     ObjectState = "sent"     // request under way: in flight
	StateReleased ObjectState = "released" // taken off its former owner, and not applied yet
	StateApplied  ObjectState = "applied"  // acknowledged
	StateWaiting  ObjectState = "waiting"  // applied, not ready yet
	StateReady    ObjectState = "ready"    // applied and healthy
	StateRemoving ObjectState = "removing" // deletion acknowledged
	StateRemoved  ObjectState = "removed"
	StateFailed   ObjectState = "failed"
	StateSkipped  ObjectState = "skipped"  // not sent: its kind is not served
	StateDiverged ObjectState = "diverged" // applied, and not what was reviewed
)

// Passes reports whether a finding may pass with the approval. A finding gates if it is
// critical or unknown, and one that gates passes
//
//   - if it is accepted by name: on the screen, in the plan file or by --accept;
//   - if it is critical and a digest of the same ruleset approves what it is about:
//     inContent says whether that is part of the content. What only a policy makes
//     critical, no digest stands for, and what is not known neither.
//
// A finding that an earlier revision accepted passes where a person or a digest approves
// the plan. With --yes alone it is critical, because everyone who can write records could
// have written that acceptance.
func (a Approval) Passes(f preview.Finding, inContent bool) bool {
	severity := f.Severity
	if a.How == ApprovedByYes {
		severity = f.Unaccepted()
	}
	if !severity.Gates() || a.Accepts(f) {
		return true
	}
	return severity == preview.Critical && f.Judged == nil && a.coversRuleset() && (a.How == ApprovedByDigest || inContent)
}

// WithReviewed returns the approval with the findings of the approved plan file accepted
// that gate. Left out are findings that only a policy makes critical, those that were
// less severe in the plan file, and objects that could not be read, which are no part of
// the file.
func (a Approval) WithReviewed(findings []preview.Finding) Approval {
	a.Accepted = slices.Clone(a.Accepted)
	for _, f := range findings {
		accepted := Acceptance{ID: f.ID, Fingerprint: f.Fingerprint}
		if f.Severity.Gates() && f.Judged == nil && !f.Unreviewed && f.Rule != rules.Unknown.Name && !slices.Contains(a.Accepted, accepted) {
			a.Accepted = append(a.Accepted, accepted)
		}
	}
	return a
}

// Accepts reports whether the approval accepts a finding: by id and fingerprint,
// or by the id alone, unless the approval is --yes alone, which names no plan.
func (a Approval) Accepts(f preview.Finding) bool {
	return slices.ContainsFunc(a.Accepted, func(x Acceptance) bool {
		if x.ID != f.ID {
			return false
		}
		return f.HasFingerprint(x.Fingerprint) || x.Fingerprint == "" && a.How != ApprovedByYes
	})
}

// coversRuleset reports whether approval by digest also covers critical findings
// of the present rules: the approver's version must have had the same ruleset.
func (a Approval) coversRuleset() bool {
	return (a.How == ApprovedByDigest || a.How == ApprovedByContent) && a.Ruleset == preview.Ruleset
}
