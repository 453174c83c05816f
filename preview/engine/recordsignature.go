package engine

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The rules about the record of the release itself. Who may write Secrets in its
// namespace may write it, and a signature shows that it is as it was written.
const (
	RuleRecordNotVerified = "record-not-verified" // no key is configured that could tell
	RuleRecordNotSigned   = "record-not-signed"   // a key is, and it did not sign
)

// RecordRule is the rule that a record of this signature raises; it is empty
// where the record was verified.
func RecordRule(s *preview.RecordSignature) string {
	switch {
	case s == nil:
		return RuleRecordNotVerified
	case s.Problem != "":
		return RuleRecordNotSigned
	}
	return ""
}

// ownRecord finds what rests on an unverified record of the release itself.
type ownRecord struct{ noCheck }

// findings are about the record that a plan stands on, where it decides
// something: what a failure goes back to, which objects are deleted, and which
// findings were accepted before. Content that a rollback takes from one has a
// note of its own.
func (ownRecord) findings(of *view) []preview.Finding {
	p := of.plan
	rule := RecordRule(p.Base.Signature)
	if p.Base.Revision == 0 || rule == "" {
		return nil
	}
	var decides []string
	severity := preview.Info
	if rule == RuleRecordNotSigned {
		severity = preview.Warning
	}
	if p.Undo != nil && p.Undo.Revision > 0 {
		decides = append(decides, fmt.Sprintf("what a failure goes back to: its %d objects", len(p.Undo.Objects)))
		severity = preview.Warning
		if rule == RuleRecordNotSigned {
			severity = preview.Critical
		}
	}
	deleted := 0
	for i := range p.Objects {
		if p.Objects[i].Action == preview.ActionDelete {
			deleted++
		}
	}
	if deleted > 0 {
		decides = append(decides, fmt.Sprintf("which objects were of the release and are deleted, as far as they carry its mark: %d", deleted))
	}
	if n := len(p.Base.Accepted); n > 0 {
		decides = append(decides, fmt.Sprintf("which findings were accepted before, as far as the cluster has them already: %d", n))
	}
	if len(decides) == 0 {
		return nil
	}
	release := "release/" + p.Release.Namespace + "/" + p.Release.Name
	return []preview.Finding{preview.NewFinding(rule, severity, release,
		fmt.Sprintf("the record of revision %d is %s", p.Base.Revision, p.Base.Signature),
		"Who may write Secrets in the release's namespace may write its record. It decides what the evidence lists.",
		strings.Join(decides, preview.EvidenceMark))}
}
