package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Judge changes the findings of a plan, as the built-in rules made them, by the policy,
// and nothing else in the plan: first severities, then rules, then waivers, which apply
// to both. A nil policy changes nothing. It errs if a rule cannot be evaluated, and
// leaves the plan as it was.
//
// Findings that an earlier revision accepted with the same fingerprint do not become
// critical again.
func (p *Policy) Judge(plan *preview.Plan) error {
	if p == nil {
		return nil
	}
	if plan.Policy != nil {
		return fmt.Errorf("the findings of %s were judged already", plan.Release.Name)
	}
	broken, err := p.violations(plan)
	if err != nil {
		return fmt.Errorf("policy %s: %w", p.path, err)
	}
	findings := slices.Clone(plan.Findings)
	for i := range findings {
		p.reclassify(plan, &findings[i])
	}
	findings = append(findings, broken...)
	use := &preview.PolicyUse{Path: p.path, SHA256: p.sha256, Waived: []string{}}
	ended := map[int][]string{} // waivers that ended, and what they would hold for
	for i := range findings {
		if p.waive(&findings[i], ended) {
			use.Waived = append(use.Waived, findings[i].ID)
		}
	}
	findings = append(findings, p.expired(ended)...)
	slices.SortStableFunc(findings, func(a, b preview.Finding) int { return a.Severity.Rank() - b.Severity.Rank() })
	slices.Sort(use.Waived)
	plan.Findings, plan.Policy = findings, use
	return nil
}

// isFixed reports whether a policy must not change a finding.
func isFixed(f *preview.Finding) bool {
	return f.Severity == preview.NotKnown || f.Rule == rules.NotAppliable.Name || f.Rule == rules.Unknown.Name
}

// reclassify sets the severity of a finding from the last matching entry of the policy.
func (p *Policy) reclassify(plan *preview.Plan, f *preview.Finding) {
	if isFixed(f) {
		return
	}
	for _, s := range slices.Backward(p.severities) {
		if s.Rule != f.Rule || !matches(s.Object, f.Object) {
			continue
		}
		if s.Severity == f.Severity || f.AcceptedIn > 0 && s.Severity == preview.Critical {
			return
		}
		f.Judged = &preview.PolicyDecision{By: preview.JudgedBySeverity, Was: f.Severity, Reason: s.Reason}
		f.Severity = s.Severity
		accept(plan, f)
		return
	}
}

// accept turns a critical finding into a warning if an earlier revision accepted it,
// and it is about something that the cluster already has and the plan does not change.
func accept(plan *preview.Plan, f *preview.Finding) {
	if revision := f.AcceptedRevision(plan.Base.Accepted); revision > 0 && f.Held && f.Severity == preview.Critical {
		f.Severity, f.AcceptedIn = preview.Warning, revision
	}
}

// sendsNothing reports whether apply would send no write request, because the cluster
// already has everything.
func sendsNothing(plan *preview.Plan) bool {
	return !slices.ContainsFunc(plan.Objects, func(o preview.Object) bool { return !o.Untouched() })
}

// violations returns a finding for each rule of the policy that does not hold.
func (p *Policy) violations(plan *preview.Plan) ([]preview.Finding, error) {
	if len(p.rules) == 0 {
		return nil, nil
	}
	document, err := planDocument(plan)
	if err != nil {
		return nil, err
	}
	var out []preview.Finding
	for _, r := range p.rules {
		holds, message, err := r.evaluate(document)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.Name, err)
		}
		if holds {
			continue
		}
		object := "policy/" + r.Name
		// The accepted message is about this content, and no other's.
		evidence := message + " (" + r.Name + ", content " + plan.ContentDigest + ")"
		claim := preview.Claim{Subject: "policy " + r.Name, Predicate: message}
		f := rules.PolicyRule.FindingOf(r.Severity, object, claim, preview.Piece{What: evidence})
		f.Fingerprint = preview.TextFingerprint(f.Rule, evidence+"\n"+r.Expression)
		f.Judged, f.Held = &preview.PolicyDecision{By: preview.JudgedByRule}, sendsNothing(plan)
		accept(plan, &f)
		out = append(out, f)
	}
	return out, nil
}

// waive turns a finding into info if a waiver matches it, and reports whether one does.
// Expired waivers that match are added to ended, by index, with the finding's id.
func (p *Policy) waive(f *preview.Finding, ended map[int][]string) bool {
	if isFixed(f) || f.Severity == preview.Info {
		return false
	}
	var past []int
	for i, w := range p.waivers {
		if !w.names(f) {
			continue
		}
		if !p.now().Before(w.ends) {
			past = append(past, i)
			continue
		}
		was := f.Severity
		if f.Judged != nil && f.Judged.Was != "" {
			was = f.Judged.Was
		}
		f.Judged = &preview.PolicyDecision{By: preview.JudgedByWaiver, Was: was, Owner: w.Owner, Reason: w.Reason, Expires: w.Expires}
		f.Severity = preview.Info
		return true
	}
	for _, i := range past {
		ended[i] = append(ended[i], f.ID)
	}
	return false
}

func (w *waiver) names(f *preview.Finding) bool {
	if w.Fingerprint != "" && !f.HasFingerprint(w.Fingerprint) {
		return false
	}
	if w.Finding != "" {
		return w.Finding == f.ID
	}
	return w.Rule == f.Rule && matches(w.Object, f.Object)
}

// matches reports whether an object id matches a pattern; "*" stands for any text and
// "?" for one character. An empty pattern matches all.
func matches(pattern, object string) bool { return pattern == "" || cloud.Glob(pattern, object) }

// expired returns a finding for each expired waiver that would still match a finding.
func (p *Policy) expired(ended map[int][]string) []preview.Finding {
	var out []preview.Finding
	for i, ids := range ended {
		w := p.waivers[i]
		slices.Sort(ids)
		what := cmp.Or(w.Finding, w.Rule+prefixLines(" on ", w.Object))
		object := "waiver/" + what
		evidence := rules.Said(ids...)
		evidence[0].What = what + ", owner " + w.Owner + ", ended with " + w.Expires + ": " + ids[0]
		claim := preview.Claim{Subject: "the waiver of " + what, Predicate: "ended with " + w.Expires, Clause: true}
		f := rules.PolicyWaiverExpired.WithReason(w.Owner).Finding(object, claim, evidence...)
		f.Judged = &preview.PolicyDecision{By: preview.JudgedByRule}
		if !slices.ContainsFunc(out, func(g preview.Finding) bool { return g.ID == f.ID }) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b preview.Finding) int { return strings.Compare(a.Object, b.Object) })
	return out
}

func prefixLines(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
