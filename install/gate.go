package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/remedy"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Gate decides whether an approval covers a plan, whose findings must be current:
// [Apply] calls it with a freshly made plan, the user interfaces before they ask
// for approval. The error is an [Error] of kind [Refused] that names every reason.
func Gate(plan *preview.Plan, approval record.Approval) error {
	return gate(plan, approval, false)
}

// gate is [Gate]. With resumed, plan is the recorded plan of an interrupted
// run, whose content need not be rendered again for its digest to count.
func gate(plan *preview.Plan, approval record.Approval, resumed bool) error {
	if err := gateDigest(plan, approval); err != nil {
		return err
	}
	if reason := gateRepeatable(plan, approval); reason != "" && !resumed {
		return refusal("checking the approval of "+plan.Release.Name, repeatAdvice, reason)
	}
	reasons := gateObstacles(plan)
	advice := gateAdvice(plan, approval)
	if len(reasons) > 0 {
		advice = "no approval covers that; fix these objects first, then preview again"
	}
	reasons = append(reasons, gateUnknowns(plan, approval)...)
	if approval.How == record.ApprovedByContent {
		reasons = append(reasons, gateContent(plan)...)
	}
	reasons = append(reasons, gateFindings(plan, approval)...)
	if len(reasons) == 0 {
		return nil
	}
	return refusal("checking the approval of "+plan.Release.Name, advice, reasons...)
}

func gateAdvice(plan *preview.Plan, approval record.Approval) string {
	switch approval.How {
	case record.ApprovedOnScreen:
		return "nothing was applied; review the plan again"
	case record.ApprovedByContent:
		return "review it against the cluster and approve its review digest: --approve " + plan.Digest
	}
	return "review the plan, then approve it with --plan, --approve, or --accept ID=FINGERPRINT for each finding"
}

// gateDigest returns an error unless the approved digest is the plan's.
func gateDigest(plan *preview.Plan, approval record.Approval) error {
	doing := "checking the approval of " + plan.Release.Name
	if plan.LacksLiveState() {
		return refusal(doing, "make the plan again without --offline", "an offline plan has seen no cluster and cannot be applied")
	}
	if by := plan.AppliedBy; by != nil {
		return refusal(doing, "have "+by.Name()+" apply it; to take the release over, preview with --adopt", "the plan is for "+by.Name()+" to apply, not for this program")
	}
	want, what := plan.Digest, "plan"
	switch approval.How {
	case record.ApprovedByContent:
		want, what = plan.ContentDigest, "content"
	case record.ApprovedByYes:
		if approval.Digest == "" {
			return nil
		}
	case record.ApprovedOnScreen, record.ApprovedByDigest, record.ApprovedByPlan:
	default:
		return refusal(doing, "use --approve, --plan or the screen", fmt.Sprintf("there is no approval by %q", approval.How))
	}
	if approval.Digest == want && want != "" {
		return nil
	}
	reason := fmt.Sprintf("approved was %s, but the %s is now %s", digestOrNone(approval.Digest), what, digestOrNone(want))
	if why := gateRepeatable(plan, approval); why != "" {
		return refusal(doing, repeatAdvice, reason, why)
	}
	if list := missingReadRights(plan); len(list) > 0 {
		return refusal(doing, "preview again, and approve the digest it prints", append([]string{reason}, list...)...)
	}
	if why := lookupPackages(plan); why != "" && approval.How == record.ApprovedByDigest {
		return refusal(doing, "preview again, and approve the digest it prints", reason, why)
	}
	return refusal(doing, "preview again, and approve the digest it prints", reason)
}

const repeatAdvice = "save the plan with preview --out and apply that with --plan, or review it on the screen"

// gateRepeatable returns why a plan must not be applied by digest (--approve): its
// content is one that a second rendering would not give again, so that the digest
// of a plan made elsewhere would stand for other values. It is empty if it may be.
func gateRepeatable(plan *preview.Plan, approval record.Approval) string {
	if approval.How != record.ApprovedByDigest && approval.How != record.ApprovedByContent {
		return ""
	}
	for _, pkg := range plan.Packages {
		for _, n := range pkg.Notes {
			if rules.Unrepeatable(n.Rule) {
				return fmt.Sprintf("package %s holds values that another plan would not have (%s), so that a digest approves only the plan it was printed with", pkg.Name, n.Object)
			}
		}
	}
	return ""
}

// lookupPackages names the packages whose content depends on what was read from
// the cluster while they were rendered (Helm's lookup); empty if there are none.
func lookupPackages(plan *preview.Plan) string {
	var names []string
	for _, pkg := range plan.Packages {
		if len(pkg.Parameters.ClusterReads) > 0 {
			names = append(names, pkg.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("the templates of package %s read this cluster, so its content digest holds for this cluster only", strings.Join(names, ", "))
}

func digestOrNone(digest string) string {
	if digest == "" {
		return "no digest"
	}
	return digest
}

// gateObstacles returns the plan's obstacles, reasons that refuse it whatever
// is approved.
func gateObstacles(plan *preview.Plan) []string {
	var reasons []string
	for _, o := range engine.Obstacles(plan) {
		text := o.Object + " " + o.Cause
		if o.Remedy != "" {
			text += "; " + o.Remedy
		}
		reasons = append(reasons, text)
	}
	return reasons
}

// gateUnknowns returns a reason for each unknown of the plan that the approval
// does not accept by name.
func gateUnknowns(plan *preview.Plan, approval record.Approval) []string {
	var reasons []string
	refusals := remedy.NewRefusals(plan)
	for _, u := range plan.Unknowns {
		if refusals.Permanent(u) {
			continue // an obstacle
		}
		f, ok := findingOf(plan, "unknown/"+u.Object)
		if !ok {
			// Without a finding there is no fingerprint: only the id counts.
			f = preview.Finding{ID: rules.Unknown.ID(u.Object), Severity: preview.NotKnown}
		}
		if !approval.Passes(f, false) {
			reasons = append(reasons, fmt.Sprintf("%s could not be read (%s) and is not accepted", u.Object, u.Why))
		}
	}
	return reasons
}

func findingOf(plan *preview.Plan, id string) (preview.Finding, bool) {
	for _, f := range plan.Findings {
		if f.ID == id {
			return f, true
		}
	}
	return preview.Finding{}, false
}

// needsPlanDigest ends a reason of gateContent.
const needsPlanDigest = " needs approval of the plan digest, not of the content digest"

// gateContent returns a reason for each object that an approved content digest
// does not cover (section 2 of the package documentation). It covers creates,
// updates and unchanged objects, but no deletion or adoption.
func gateContent(plan *preview.Plan) []string {
	var reasons []string
	for i := range plan.Objects {
		o := &plan.Objects[i]
		switch o.Action {
		case preview.ActionDelete:
			reasons = append(reasons, "deleting "+o.ID+needsPlanDigest)
		case preview.ActionPatch:
			// The fields that are set follow from the content alone.
			if o.ReleasesOwnership() {
				reasons = append(reasons, "releasing "+o.ID+needsPlanDigest)
			}
		case preview.ActionAdopt:
			reasons = append(reasons, "adopting "+o.ID+needsPlanDigest)
		case preview.ActionShared:
			reasons = append(reasons, "sharing "+o.ID+" with another release"+needsPlanDigest)
		case preview.ActionSkip:
			reasons = append(reasons, "skipping "+o.ID+needsPlanDigest)
		case preview.ActionReplace:
			reasons = append(reasons, "replacing "+o.ID+" (delete and create)"+needsPlanDigest)
		}
		for _, c := range o.Conflicts {
			reasons = append(reasons, fmt.Sprintf("%s: the conflict with field manager %q about %s%s", o.ID, c.Manager, c.Path, needsPlanDigest))
		}
	}
	for _, u := range plan.Unknowns {
		if u.Reason != preview.ReasonNotServed {
			reasons = append(reasons, "unknown "+u.Object+needsPlanDigest)
		}
	}
	reasons = append(reasons, gateFiles(plan)...)
	if why := lookupPackages(plan); why != "" {
		reasons = append(reasons, why)
	}
	if plan.FailureRollback != nil {
		reasons = append(reasons, "--on-failure rollback depends on the cluster and"+needsPlanDigest)
	}
	collected := aggregatedRoles(plan)
	for _, g := range plan.Access.Grants {
		if g.Change != preview.GrantNew && g.Change != preview.GrantWidened {
			continue
		}
		switch {
		case len(g.Via) == 0:
		case collected[g.Via[0]]:
			reasons = append(reasons, fmt.Sprintf("%s %s/%s gains permissions through %s, which aggregates roles that exist only in the cluster",
				g.Subject.Kind, g.Subject.Namespace, g.Subject.Name, g.Via[0]))
		case !planHasRole(plan, g.Via[0]):
			reasons = append(reasons, fmt.Sprintf("%s %s/%s gains permissions through %s, which exists only in the cluster",
				g.Subject.Kind, g.Subject.Namespace, g.Subject.Name, g.Via[0]))
		}
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

// gateFiles returns a reason for each file change that an approved content digest
// does not cover: a deletion, or the replacement of a file that was not installed.
func gateFiles(plan *preview.Plan) []string {
	var reasons []string
	for _, f := range plan.Files {
		switch {
		case f.Action == preview.ActionDelete:
			reasons = append(reasons, "removing file "+f.Path+needsPlanDigest)
		case f.Action == preview.ActionUpdate && plan.Generation.From == 0:
			reasons = append(reasons, "replacing file "+f.Path+", which this tool did not install,"+needsPlanDigest)
		}
	}
	return reasons
}

// aggregatedRoles returns the ids of the plan's ClusterRoles that aggregate
// rules of ClusterRoles outside the plan.
func aggregatedRoles(plan *preview.Plan) map[string]bool {
	var sealed, read []map[string]any
	for i := range plan.Objects {
		if body := plan.Objects[i].Planned; body != nil {
			sealed = append(sealed, body)
		}
	}
	for _, r := range plan.Reads {
		if r.Body != nil {
			read = append(read, r.Body)
		}
	}
	out := map[string]bool{}
	for _, id := range access.AggregatingRoles(sealed, nil) {
		if len(access.AggregatedRoles([]string{id}, sealed, read)) > 0 {
			out["ClusterRole/"+plan.Object(id).Name] = true
		}
	}
	return out
}

// planHasRole reports whether the plan contains a grant's role, written KIND/NAME
// or KIND/NAMESPACE/NAME.
func planHasRole(plan *preview.Plan, via string) bool {
	parts := strings.SplitN(via, "/", 3)
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Planned == nil || o.Kind != parts[0] || o.Name != parts[len(parts)-1] {
			continue
		}
		if len(parts) == 2 || o.Namespace == parts[1] {
			return true
		}
	}
	return false
}

// gateFindings returns a reason for each finding that the approval does not let pass; see
// [record.Approval.Passes].
func gateFindings(plan *preview.Plan, approval record.Approval) []string {
	var reasons []string
	for _, f := range plan.Findings {
		switch {
		case f.Rule == rules.NotAppliable.Name: // an obstacle: no approval makes the API server take it
		case f.Rule == rules.Unknown.Name: // see gateUnknowns
		case f.AcceptedIn > 0 && !plan.Changes(): // nothing is sent or recorded
		case approval.Passes(f, isContentFinding(plan, f)):
		case f.AcceptedIn > 0:
			reasons = append(reasons, fmt.Sprintf("critical finding %s=%s was accepted in revision %d, but --yes alone does not trust the record that says so: %s", f.ID, f.Fingerprint, f.AcceptedIn, f.Title))
		default:
			reasons = append(reasons, fmt.Sprintf("%s finding %s=%s is not accepted%s: %s", f.Severity, f.ID, f.Fingerprint, otherAcceptance(plan, approval, &f), f.Title))
		}
	}
	return reasons
}

// otherAcceptance returns in parentheses which acceptance does not count for a finding because
// its evidence is another, or was said in other words under an earlier ruleset; empty for none.
func otherAcceptance(plan *preview.Plan, approval record.Approval, f *preview.Finding) string {
	const why = "its evidence is another, or an earlier ruleset had other words for it"
	switch {
	case slices.ContainsFunc(approval.Accepted, func(a record.Acceptance) bool { return a.ID == f.ID && a.Fingerprint != "" }):
		return " (what is accepted has another fingerprint: " + why + ")"
	case f.Unreviewed:
		return " (the saved plan does not have it as it is now: " + why + ")"
	case f.Held && len(plan.Base.Accepted) > 0:
		return " (no earlier revision accepted it as it is now: " + why + ")"
	}
	return ""
}

// isContentFinding reports whether a finding is about an object of the content,
// not about one that is only in the cluster.
func isContentFinding(plan *preview.Plan, f preview.Finding) bool {
	if plan.Platform != "" && strings.HasPrefix(f.Object, "file/") {
		return true
	}
	o := plan.Object(f.Object)
	return o != nil && o.Planned != nil
}
