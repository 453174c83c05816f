package engine

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// RecordRule returns the rule of the finding for a record with this state of its
// signature; raised is false for a verified record, which has none. Everyone who can
// write Secrets in the namespace can write a record; a signature shows that it is
// unchanged.
func RecordRule(s *preview.RecordSignature) (r rules.Rule, raised bool) {
	switch {
	case s == nil:
		return rules.RecordNotVerified, true
	case s.Chain != "":
		return rules.RecordChainBroken, true
	case s.Problem != "":
		return rules.RecordNotSigned, true
	case s.Approvals != "":
		return rules.RecordApprovalBroken, true
	}
	return rules.Rule{}, false
}

// keptOptions returns the number of options that a plan takes over from the record.
func keptOptions(p *preview.Plan) int {
	n := 0
	for _, c := range p.OptionChanges {
		if c.To != preview.Masked && (c.Change == preview.OptionKept || c.Change == preview.OptionNotKnown) {
			n++
		}
	}
	return n
}

// ownRecord is the check for what the plan takes from its own unverified record release.
type ownRecord struct{ noCheck }

// findings returns one finding with the effects of the base revision's record: the
// content that a failed apply restores, the deleted objects, the kept options, and the
// accepted findings. Content that a rollback takes from the record has its own note.
func (ownRecord) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	rule, raised := RecordRule(p.Base.Signature)
	if p.AppliedBy != nil || p.Base.Revision == 0 && p.Base.Lost == 0 || !raised {
		return nil
	}
	unsigned := rule.Name != rules.RecordNotVerified.Name
	broken := rule.Name == rules.RecordChainBroken.Name
	var decides []string
	severity := preview.Info
	switch {
	case broken:
		severity = preview.Critical
		decides = append(decides, fmt.Sprintf("which revision this one follows: it is numbered %d", p.Base.Next()))
	case unsigned:
		severity = preview.Warning
	}
	if p.FailureRollback != nil && p.FailureRollback.Revision > 0 {
		decides = append(decides, fmt.Sprintf("what a failure goes back to: its %d objects", len(p.FailureRollback.Objects)))
		severity = preview.Warning
		if unsigned {
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
	if kept := keptOptions(p); kept > 0 {
		decides = append(decides, fmt.Sprintf("its installation options, %d of which the plan keeps", kept))
		if unsigned {
			severity = preview.Critical
		}
	}
	if n := len(p.Base.Accepted); n > 0 {
		decides = append(decides, fmt.Sprintf("which findings were accepted before, as far as the cluster has them already: %d", n))
	}
	if len(decides) == 0 {
		return nil
	}
	release := "release/" + p.Release.Namespace + "/" + p.Release.Name
	which := fmt.Sprintf("the record of revision %d", p.Base.Revision)
	if p.Base.Revision == 0 {
		which = "the newest record"
	}
	claim := preview.Claim{Subject: which, Predicate: fmt.Sprintf("is %s", p.Base.Signature), Clause: true}
	return []preview.Finding{rule.WithReason().FindingOf(severity, release, claim, rules.Said(decides...)...)}
}

// recordedOptions is the check for what the plan takes from a record that only Secrets of
// the release's namespace vouch for.
type recordedOptions struct{ noCheck }

// maxOptionEffects is the most places that the finding names.
const maxOptionEffects = 20

func (recordedOptions) findings(of *decidedPlan) []preview.Finding {
	p, u := of.plan, of.plan.Base.Unvouched
	if u.IsZero() {
		return nil
	}
	var evidence []string
	if u.Package != "" {
		evidence = append(evidence, "the record chooses the package "+u.Package+", its catalog and its channel")
	}
	if u.Follows != "" {
		evidence = append(evidence, "the record says that version "+u.Follows+" is installed, whose upgrade edges are followed")
	}
	if u.Conflicts {
		evidence = append(evidence, decidedConflicts(p)...)
	}
	if len(u.Changes) > 0 {
		for _, c := range p.OptionChanges {
			if c.Change == preview.OptionKept || c.Change == preview.OptionNotKnown {
				evidence = append(evidence, "of the record: "+c.Text())
			}
		}
	}
	for i, change := range u.Changes {
		if i == maxOptionEffects {
			evidence = append(evidence, fmt.Sprintf("and %d more places", len(u.Changes)-i))
			break
		}
		evidence = append(evidence, "changed by them: "+change)
	}
	if len(evidence) == 0 {
		return nil
	}
	if u.Hidden {
		evidence = append(evidence, fmt.Sprintf("you may not get Role %s/%s, which may vouch for them", p.Release.Namespace, preview.RecordName(p.Release.Name)))
	}
	for i := range evidence {
		evidence[i] = preview.EvidenceName(evidence[i])
	}
	release := "release/" + p.Release.Namespace + "/" + p.Release.Name
	return []preview.Finding{rules.RecordOptions.Finding(release, rules.RecordOptions.Of("release "+p.Release.Name), rules.Said(evidence...)...)}
}

// decidedConflicts lists the objects with contested fields about which the plan decides.
func decidedConflicts(p *preview.Plan) []string {
	var out []string
	for i := range p.Objects {
		if o := &p.Objects[i]; len(o.Conflicts) > 0 {
			out = append(out, fmt.Sprintf("--conflicts %s of the record: %s", p.ConflictsOf(o), o.ID))
		}
	}
	return out
}
