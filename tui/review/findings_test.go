package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// textOf is a whole document, also what is below the window.
func textOf(m *review) string {
	var b strings.Builder
	for _, l := range m.activeTab().pager.Lines {
		b.WriteString(l.Plain() + "\n")
	}
	return b.String()
}

func TestAFoldedFindingListsAllItsObjects(t *testing.T) {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	for i := range 40 {
		role := tuitest.ClusterRole(fmt.Sprintf("role-%02d", i), "secrets")
		b.Object(preview.ActionCreate, role, nil, nil)
		b.Finding(preview.Critical, "rbac-secrets-read", "RBAC-10", preview.RefOf(role).ID(), "reads every Secret", "why", fmt.Sprintf("grant %d", i))
	}
	m, c := reviewOf(t, b.Seal(), 80, 24)
	tuitest.Drive(m, c, "n")
	text := textOf(m)
	for i := range 40 {
		if !strings.Contains(text, fmt.Sprintf("+ ClusterRole role-%02d  manifests/clusterrole.yaml  document 3  line 22", i)) {
			t.Errorf("role-%02d is not listed", i)
		}
	}
	for i := range 40 {
		if !strings.Contains(text, fmt.Sprintf("grant %d\n", i)) {
			t.Errorf("the evidence of role-%02d is cut, and a critical finding would count as looked at without it", i)
		}
	}
}

func TestWhatWasAcceptedEarlierStandsApart(t *testing.T) {
	b := tuitest.NewPlan(t, preview.RequestUpgrade)
	b.Plan.Base = preview.Base{Revision: 3, Digest: tuitest.DigestOf("base")}
	for i := range 8 {
		b.Finding(preview.Warning, "rbac-secrets-read", "RBAC-10", fmt.Sprintf("rbac.authorization.k8s.io/ClusterRole/-/r%d", i), "reads every Secret", "why", fmt.Sprintf("grant %d", i))
		b.Plan.Findings[i].AcceptedIn = i % 2 * 2
	}
	m, c := reviewOf(t, b.Seal(), 120, 36)
	if fresh, earlier := m.Checklist.InSection(tabs.Section{Severity: preview.Warning}), m.Checklist.InSection(tabs.Section{Severity: preview.Warning, Earlier: true}); len(fresh) != 1 || len(earlier) != 1 {
		t.Fatalf("%d and %d items, want new ones folded apart from accepted ones", len(fresh), len(earlier))
	}
	tuitest.Drive(m, c, "2", "down")
	for _, want := range []string{"ACCEPTED EARLIER", "accepted earlier in revision 2, version 1.8.1, by sam@example.com", "2026-10-20"} {
		if !tuitest.Shows(m, want) {
			t.Errorf("the screen lacks %q:\n%s", want, strings.Join(tuitest.ScreenOf(m), "\n"))
		}
	}
	m.lookups.prior = nil
	m.show(m.Plan)
	m.Prior = tabs.PriorAcceptances{}
	tuitest.Drive(m, c, "1")
	if !tuitest.Shows(m, "ACCEPTED EARLIER  (1)  in revision 2") {
		t.Error("without a receipt the revision is not named")
	}
}

func TestTheDetailSaysWhatIsLiveAndWhoSetIt(t *testing.T) {
	m, c := reviewOf(t, tuitest.UpgradePlan(t), 120, 36)
	tuitest.Drive(m, c, "2")
	text := textOf(m)
	for _, want := range []string{".spec.replicas  1  (set by kubectl-operator, 2026-03-02)", "How to reduce it", "--pin-images"} {
		if !strings.Contains(text, want) {
			t.Errorf("the detail lacks %q:\n%s", want, text)
		}
	}
}

func TestExplainOpensThePageOfTheRule(t *testing.T) {
	for _, tab := range []string{"1", "2"} {
		m, c := reviewOf(t, tuitest.FreshPlan(t), 80, 24)
		tuitest.Drive(m, c, tab, "x")
		if !tuitest.Shows(m, "rbac-secrets-read") || !tuitest.Shows(m, "Looks at") {
			t.Errorf("x on tab %s does not show the page:\n%s", tab, strings.Join(tuitest.ScreenOf(m), "\n"))
		}
		tuitest.Drive(m, c, "esc")
		if m.page != nil {
			t.Error("esc does not close the page")
		}
	}
	m, c := reviewOf(t, tuitest.FreshPlan(t), 80, 24)
	tuitest.Drive(m, c, "2", "down", "x")
	if !tuitest.Shows(m, "there is no page for the rule webhook-fail-closed") {
		t.Error("a rule of nobody's has a page")
	}
}

func TestWhatTheReviewLeavesOpenHasAPage(t *testing.T) {
	p := tuitest.CleanPlan(t)
	p.ReadMode = preview.ReadOffline
	m, c := reviewOf(t, p, 120, 36)
	for range len(m.activeTab().rows) {
		if m.activeTab().selected().ID == tabs.QuestionsID {
			break
		}
		tuitest.Drive(m, c, "down")
	}
	tuitest.Drive(m, c, "enter")
	if m.tab != tabs.Findings || !strings.Contains(textOf(m), "whether you may carry this out") {
		t.Errorf("the open questions of an offline plan are not shown:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
}

// judgedPlan is one whose findings a policy judged, and added to.
func judgedPlan(t *testing.T) *preview.Plan {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	role := tuitest.ClusterRole("reader", "secrets")
	b.Object(preview.ActionCreate, role, nil, nil)
	at := preview.RefOf(role).ID()
	b.Finding(preview.Critical, "rbac-workloads-write", "RBAC-20", at, "ServiceAccount operator: writes Deployments", "Pods can be started as any account.", "grant 1")
	b.Plan.Findings[0].Judged = &preview.PolicyDecision{By: preview.JudgedBySeverity, Was: preview.Warning, Reason: "workloads are reviewed here"}
	b.Finding(preview.Info, "rbac-secrets-read", "RBAC-10", at, "ServiceAccount operator: reads every Secret", "why", "grant 2")
	b.Plan.Findings[1].Judged = &preview.PolicyDecision{By: preview.JudgedByWaiver, Was: preview.Critical, Reason: "it keeps its own there", Owner: "team-data", Expires: "2999-12-31"}
	b.Finding(preview.Warning, rules.PolicyRule.Name, "", at, "images come from registry.example.com", "The policy of this cluster wants it.", "quay.io/mongodb/mongodb-kubernetes:1.10.0")
	b.Plan.Findings[2].Judged = &preview.PolicyDecision{By: preview.JudgedByRule}
	b.Finding(preview.Warning, rules.PolicyWaiverExpired.Name, "", "", "the waiver of image-by-tag for team-web ended on 2026-01-31", "What it waived counts again.", "image-by-tag")
	return b.Seal()
}

func TestFindingsThatAPolicyJudgedLookAsRecorded(t *testing.T) {
	p := judgedPlan(t)
	for _, size := range tuitest.Sizes {
		for name, keys := range map[string][]any{"judged": {"2"}, "judged-critical": {"n"}, "judged-waived": {"2", "end", "enter"}} {
			t.Run(name+"/"+tuitest.SizeName(size), func(t *testing.T) {
				m, c := reviewOf(t, p, size[0], size[1])
				tuitest.Drive(m, c, keys...)
				golden(t, name+"/"+tuitest.SizeName(size)+"/policy", m, size[0], size[1])
			})
		}
	}
}
