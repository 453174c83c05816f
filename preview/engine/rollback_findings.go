package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// rollbackEffects is the check for the effects of the rollback that a failed apply
// starts.
type rollbackEffects struct{ noCheck }

// findings returns the effects that the rollback on failure has on objects. They are
// approved with the plan.
func (rollbackEffects) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	if p.FailureRollback == nil {
		return nil
	}
	counts := p.FailureRollback.Counts()
	var parts, lines []string
	for _, action := range preview.Actions() {
		if n := counts.Count(action); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, action))
		}
		for _, o := range p.FailureRollback.Objects {
			if o.Action == action {
				lines = append(lines, string(action)+" "+o.ID)
			}
		}
	}
	claim := preview.Claim{Subject: fmt.Sprintf("a failure goes back to revision %d", p.FailureRollback.Revision), Predicate: strings.Join(parts, ", ")}
	if p.FailureRollback.Revision == 0 {
		claim.Subject = "a failure removes what the plan made"
	}
	release := "release/" + p.Release.Namespace + "/" + p.Release.Name
	out := []preview.Finding{rules.OnFailureRollback.Finding(release, claim, rules.Said(lines...)...)}
	for _, f := range p.FailureRollback.Findings {
		rule, _ := rules.Named(f.Rule)
		evidence := append(rules.Said(fmt.Sprintf("going back to revision %d", p.FailureRollback.Revision)), f.Pieces...)
		back := rule.FindingOf(preview.Critical, "rollback/"+f.Object, preview.Claim{Subject: "after a failure", Predicate: f.Title}, evidence...)
		back.Ref, back.Why = f.Ref, f.Why
		out = append(out, back)
	}
	return append(out, recreatedObjects(p)...)
}

// recreatedObjects returns a finding for each object that the rollback on failure
// creates again, because it does not exist now.
func recreatedObjects(p *preview.Plan) []preview.Finding {
	var out []preview.Finding
	objects := map[string]*preview.Object{}
	for i := range p.Objects {
		objects[p.Objects[i].ID] = &p.Objects[i]
	}
	for _, o := range p.FailureRollback.Objects {
		now := objects[o.ID]
		if o.Digest == "" || now != nil && now.LiveBody != nil || o.Action == preview.ActionSkip {
			continue
		}
		out = append(out, rules.OnFailureRecreates.Finding(o.ID, rules.OnFailureRecreates.Of(o.Ref().Kind+" "+o.Ref().Name),
			preview.Piece{Object: o.ID, What: fmt.Sprintf("revision %d has it as %s", p.FailureRollback.Revision, o.Digest)}))
	}
	return out
}

// dropDuplicates removes findings about the rollback on failure that the plan itself
// has too: they are accepted as the plan's.
func dropDuplicates(p *preview.Plan) {
	if p.FailureRollback == nil {
		return
	}
	own := map[string]bool{}
	for _, f := range p.Findings {
		own[f.Fingerprint] = true
	}
	twice := map[string]bool{}
	for _, f := range p.FailureRollback.Findings {
		twice[f.Rule+"/rollback/"+f.Object] = own[f.Fingerprint]
	}
	p.Findings = slices.DeleteFunc(p.Findings, func(f preview.Finding) bool { return twice[f.ID] })
}
