package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// textOf is a whole document, also what is below the window.
func textOf(m *review) string {
	var b strings.Builder
	for _, l := range m.browser().pager.Lines {
		b.WriteString(l.Plain() + "\n")
	}
	return b.String()
}

func TestAFoldedFindingListsAllItsObjects(t *testing.T) {
	b := newPlan(t, preview.RequestInstall)
	for i := range 40 {
		role := clusterRole(fmt.Sprintf("role-%02d", i), "secrets")
		b.object(preview.ActionCreate, role, nil, nil)
		b.finding(preview.Critical, "rbac-secrets-read", "RBAC-10", preview.RefOf(role).ID(), "reads every Secret", "why", fmt.Sprintf("grant %d", i))
	}
	m, c := reviewOf(t, b.seal(), 80, 24)
	drive(m, c, "n")
	text := textOf(m)
	for i := range 40 {
		if !strings.Contains(text, fmt.Sprintf("+ ClusterRole role-%02d  manifests/clusterrole.yaml  document 3  line 22", i)) {
			t.Errorf("role-%02d is not listed", i)
		}
	}
	if !strings.Contains(text, "more lines; e shows the object") {
		t.Error("long evidence is not cut to its head")
	}
}

func TestWhatWasAcceptedEarlierStandsApart(t *testing.T) {
	b := newPlan(t, preview.RequestUpgrade)
	b.p.Base = preview.Base{Revision: 3, Digest: digestOf("base")}
	for i := range 8 {
		b.finding(preview.Warning, "rbac-secrets-read", "RBAC-10", fmt.Sprintf("rbac.authorization.k8s.io/ClusterRole/-/r%d", i), "reads every Secret", "why", fmt.Sprintf("grant %d", i))
		b.p.Findings[i].AcceptedIn = i % 2 * 2
	}
	m, c := reviewOf(t, b.seal(), 120, 36)
	if fresh, earlier := m.board.in(section{severity: preview.Warning}), m.board.in(section{preview.Warning, true}); len(fresh) != 1 || len(earlier) != 1 {
		t.Fatalf("%d and %d items, want new ones folded apart from accepted ones", len(fresh), len(earlier))
	}
	drive(m, c, "2", "down")
	for _, want := range []string{"ACCEPTED EARLIER", "accepted earlier in revision 2, version 1.8.1, by sam@example.com on", "2026-10-20"} {
		if !shows(m, want) {
			t.Errorf("the screen lacks %q:\n%s", want, strings.Join(screenOf(m), "\n"))
		}
	}
	m.opts.Earlier = nil
	m.show(m.plan)
	m.earlier = earlier{}
	drive(m, c, "1")
	if !shows(m, "ACCEPTED EARLIER  (1)  in revision 2") {
		t.Error("without a receipt the revision is not named")
	}
}

func TestTheDetailSaysWhatIsLiveAndWhoSetIt(t *testing.T) {
	m, c := reviewOf(t, upgradePlan(t), 120, 36)
	drive(m, c, "2")
	text := textOf(m)
	for _, want := range []string{".spec.replicas  1  (set by kubectl-operator, 2026-03-02)", "How to reduce it", "--pin-images"} {
		if !strings.Contains(text, want) {
			t.Errorf("the detail lacks %q:\n%s", want, text)
		}
	}
}

func TestExplainOpensThePageOfTheRule(t *testing.T) {
	for _, tab := range []string{"1", "2"} {
		m, c := reviewOf(t, freshPlan(t), 80, 24)
		drive(m, c, tab, "x")
		if !shows(m, "rbac-secrets-read") || !shows(m, "Looks at") {
			t.Errorf("x on tab %s does not show the page:\n%s", tab, strings.Join(screenOf(m), "\n"))
		}
		drive(m, c, "esc")
		if m.page != nil {
			t.Error("esc does not close the page")
		}
	}
	m, c := reviewOf(t, freshPlan(t), 80, 24)
	drive(m, c, "2", "down", "x")
	if !shows(m, "there is no page for the rule webhook-fail-closed") {
		t.Error("a rule of nobody's has a page")
	}
}

func TestWhatTheReviewLeavesOpenHasAPage(t *testing.T) {
	p := cleanPlan(t)
	p.ReadMode = preview.ReadOffline
	m, c := reviewOf(t, p, 120, 36)
	for range len(m.browser().rows) {
		if m.browser().selected().id == questionsID {
			break
		}
		drive(m, c, "down")
	}
	drive(m, c, "enter")
	if m.tab != tabFindings || !strings.Contains(textOf(m), "whether you may carry this out") {
		t.Errorf("the open questions of an offline plan are not told:\n%s", strings.Join(screenOf(m), "\n"))
	}
}

// judgedPlan is one whose findings a policy judged, and added to.
func judgedPlan(t *testing.T) *preview.Plan {
	b := newPlan(t, preview.RequestInstall)
	role := clusterRole("reader", "secrets")
	b.object(preview.ActionCreate, role, nil, nil)
	at := preview.RefOf(role).ID()
	b.finding(preview.Critical, "rbac-workloads-write", "RBAC-20", at, "ServiceAccount operator: writes Deployments", "Pods can be started as any account.", "grant 1")
	b.p.Findings[0].Judged = &preview.Judged{By: preview.JudgedBySeverity, Was: preview.Warning, Reason: "workloads are reviewed here"}
	b.finding(preview.Info, "rbac-secrets-read", "RBAC-10", at, "ServiceAccount operator: reads every Secret", "why", "grant 2")
	b.p.Findings[1].Judged = &preview.Judged{By: preview.JudgedByWaiver, Was: preview.Critical, Reason: "it keeps its own there", Owner: "team-data", Expires: "2999-12-31"}
	b.finding(preview.Warning, preview.RulePolicy, "", at, "images come from registry.example.com", "The policy of this cluster wants it.", "quay.io/mongodb/mongodb-kubernetes:1.10.0")
	b.p.Findings[2].Judged = &preview.Judged{By: preview.JudgedByRule}
	b.finding(preview.Warning, preview.RuleWaiverExpired, "", "", "the waiver of image-by-tag for team-web ended on 2026-01-31", "What it waived counts again.", "image-by-tag")
	return b.seal()
}

func TestFindingsThatAPolicyJudgedLookAsRecorded(t *testing.T) {
	p := judgedPlan(t)
	for _, size := range sizes {
		for name, keys := range map[string][]any{"judged": {"2"}, "judged-critical": {"n"}, "judged-waived": {"2", "end", "enter"}} {
			t.Run(name+"/"+sizeName(size), func(t *testing.T) {
				m, c := reviewOf(t, p, size[0], size[1])
				drive(m, c, keys...)
				golden(t, name+"/"+sizeName(size)+"/policy", m, size[0], size[1])
			})
		}
	}
}
