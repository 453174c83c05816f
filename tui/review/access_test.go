package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// accessPlan has everything that the access tab shows.
func accessPlan(t *testing.T) *preview.Plan {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	role := tuitest.Manifest("rbac.authorization.k8s.io/v1", "ClusterRole", "", "mongodb-operator", map[string]any{"rules": []any{
		map[string]any{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": []any{"get", "list"}},
		map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"get", "list"}},
		map[string]any{"apiGroups": []any{"apps"}, "resources": []any{"deployments"}, "verbs": []any{"update"}},
	}})
	b.Object(preview.ActionCreate, role, nil, nil)
	b.Object(preview.ActionCreate, tuitest.Manifest("v1", "ServiceAccount", "mongodb", "operator", nil), nil, nil)
	via := []string{"ClusterRole/mongodb-operator", "ClusterRoleBinding/mongodb-operator"}
	for _, resource := range []string{"configmaps", "pods"} {
		b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"get", "list"}, []string{""}, []string{resource}, via, nil)
	}
	b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"update"}, []string{"apps"}, []string{"deployments"}, via, nil)
	b.Grant(preview.GrantNew, preview.ScopeNamespace, "mongodb", []string{"get"}, []string{""}, []string{"secrets"},
		[]string{"Role/mongodb/secrets", "RoleBinding/mongodb/secrets"}, []string{"rbac-secrets-read"})
	b.Finding(preview.Warning, "rbac-secrets-read", "RBAC-10", "rbac.authorization.k8s.io/Role/mongodb/secrets", "ServiceAccount operator: can read Secrets in namespace mongodb", "why", "secrets")
	b.Finding(preview.Warning, rules.AccessReach.Name, "RBAC-12", "core/ServiceAccount/mongodb/operator", "ServiceAccount operator: has a privilege escalation path through another account", "An attacker with this account can also use the permissions of the accounts on the path.",
		"core/ServiceAccount/mongodb/operator: runs pods in namespace app as ServiceAccount app/admin, which may do everything")
	b.Plan.Findings[len(b.Plan.Findings)-1].Pieces[0].Path = &preview.EvidencePath{
		Kind: preview.PathThrough, Steps: []string{"runs pods in namespace app as ServiceAccount app/admin", "may do everything"},
	}
	b.Plan.Access.Installer.Missing = []preview.MissingRight{{Verb: "create", Resource: "clusterroles", Why: "the plan creates ClusterRole mongodb-operator"}}
	b.Plan.Cloud.Declared = []preview.CloudDeclaration{{Provider: "azure", Origin: "annotation features.operators.openshift.io/token-auth-azure"}}
	return b.Seal()
}

// rowWith returns the position of the first row with a text.
func rowWith(t *testing.T, m *review, text string) int {
	t.Helper()
	for i, r := range m.activeTab().rows {
		if r.ID != "" && strings.Contains(r.Text, text) {
			return i
		}
	}
	t.Fatalf("no row with %q:\n%s", text, strings.Join(tuitest.ScreenOf(m), "\n"))
	return -1
}

// A row of access to a cloud shows in which direction it changed, and how sure it is, from
// 80 columns on, however long the rest is.
func TestCloudRowsShowChangeAndCertainty(t *testing.T) {
	b := tuitest.NewPlan(t, preview.RequestUpgrade)
	long := strings.Repeat("s3:GetObject", 9)
	for change, certainty := range map[string]string{
		preview.GrantNew: preview.CloudDeclared, preview.GrantWidened: preview.CloudExample,
		preview.GrantNarrowed: preview.CloudDeclared, preview.GrantRemoved: "",
	} {
		b.Plan.Cloud.Permissions = append(b.Plan.Cloud.Permissions, preview.CloudPermission{
			Provider: "aws", Origin: "CredentialsRequest/mongodb/" + change, Effect: "Allow", Actions: []string{long}, Resources: []string{long}, Change: change, Certainty: certainty,
		})
	}
	b.Plan.Cloud.Declared = []preview.CloudDeclaration{{Provider: "gcp", Origin: "variable GOOGLE_APPLICATION_CREDENTIALS of Deployment/mongodb/operator", Certainty: preview.CloudInferred}}
	p := b.Seal()
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		m, c := reviewOf(t, p, size[0], size[1])
		tuitest.Drive(m, c, "3")
		screen := strings.Join(tuitest.ScreenOf(m), "\n")
		for _, want := range []string{"+ new ", "~ widened ", "~ narrowed ", "- removed ", "declared by", "example, in", "? inferred"} {
			if !strings.Contains(screen, want) {
				t.Errorf("%v: no %q in\n%s", size, want, screen)
			}
		}
	}
}

func TestTheAccessTabLooksAsRecorded(t *testing.T) {
	p := accessPlan(t)
	for name, keys := range map[string][]any{
		"access-parts":    {"3"},
		"access-resource": {"3", "g"},
		"access-role":     {"3", "g", "g"},
		"access-reach":    {"3", "/", "w", "h", "i", "c", "h", "enter", "esc", "enter"},
		"cani":            {"3", "c"},
	} {
		for _, size := range tuitest.Sizes {
			m, c := reviewOf(t, p, size[0], size[1])
			tuitest.Drive(m, c, keys...)
			golden(t, name+"/"+tuitest.SizeName(size)+"/access", m, size[0], size[1])
		}
	}
}

func TestGrantsThatDifferInResourcesOnlyAreOneRow(t *testing.T) {
	m, c := reviewOf(t, accessPlan(t), 120, 36)
	tuitest.Drive(m, c, "3")
	if len(m.access.Grants) != 3 {
		t.Fatalf("%d rows for 4 grants, want 3", len(m.access.Grants))
	}
	m.activeTab().list.Cursor = rowWith(t, m, "configmaps")
	tuitest.Drive(m, c, "enter")
	text := textOf(m)
	for _, want := range []string{"can get and list configmaps and pods in every namespace", "rule 1: verbs get, list", "rule 2: verbs get, list"} {
		if !strings.Contains(text, want) {
			t.Errorf("the detail lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "rule 3") {
		t.Error("a rule that the row does not come from is listed")
	}
}

func TestVerbsOfOneResourceAddUp(t *testing.T) {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	for i, verbs := range [][]string{{"get"}, {"list", "watch"}, {"delete"}} {
		b.Grant(preview.GrantNew, preview.ScopeCluster, "", verbs, []string{""}, []string{"pods"}, []string{fmt.Sprintf("ClusterRole/r%d", i), "ClusterRoleBinding/b"}, nil)
	}
	b.Grant(preview.GrantNew, preview.ScopeNamespace, "mongodb", []string{"create"}, []string{""}, []string{"pods"}, []string{"Role/mongodb/r", "RoleBinding/mongodb/b"}, nil)
	m, c := reviewOf(t, b.Seal(), 120, 36)
	tuitest.Drive(m, c, "3")
	if len(m.access.Grants) != 2 || !tuitest.Shows(m, "read delete") || !tuitest.Shows(m, "3 roles") {
		t.Errorf("%d rows, want one for the cluster and one for the namespace:\n%s", len(m.access.Grants), strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	tuitest.Drive(m, c, "x")
	if !strings.Contains(m.notice, "can get, list, watch and delete pods in every namespace") {
		t.Errorf("explained as %q", m.notice)
	}
}

func TestEveryGrantIsUnderEveryGrouping(t *testing.T) {
	p := accessPlan(t)
	for _, plan := range []*preview.Plan{p, tuitest.FreshPlan(t), tuitest.UpgradePlan(t)} {
		m, c := reviewOf(t, plan, 120, 36)
		tuitest.Drive(m, c, "3", "F")
		for range tabs.GroupCount {
			seen := map[int]bool{}
			for _, g := range m.access.Grants {
				for _, at := range g.Of {
					seen[at] = true
				}
			}
			if len(seen) != len(plan.Access.Grants) {
				t.Errorf("grouping %d shows %d of %d grants", m.Filter.Group, len(seen), len(plan.Access.Grants))
			}
			tuitest.Drive(m, c, "g")
		}
	}
}

func TestCanI(t *testing.T) {
	for _, tc := range []struct{ question, want string }{
		{"get pods", "yes: SA mongodb/operator can get pods in every namespace"},
		{"get secrets -n mongodb", "through Role/mongodb/secrets and RoleBinding/mongodb/secrets"},
		{"get secrets", "only in part: SA mongodb/operator cannot get secrets in every namespace"},
		{"delete nodes", "no: SA mongodb/operator cannot delete nodes"},
	} {
		t.Run(tc.question, func(t *testing.T) {
			m, c := reviewOf(t, accessPlan(t), 120, 36)
			tuitest.Drive(m, c, append(append([]any{"3", "c"}, tuitest.Typed(tc.question)...), "enter")...)
			if !tuitest.Shows(m, tc.want) {
				t.Errorf("want %q:\n%s", tc.want, strings.Join(tuitest.ScreenOf(m), "\n"))
			}
			tuitest.Drive(m, c, "esc")
			if m.page != nil || m.tab != tabs.Access {
				t.Error("esc does not lead back to the list")
			}
		})
	}
}

func TestAQuestionThatCannotBeReadStays(t *testing.T) {
	m, c := reviewOf(t, accessPlan(t), 120, 36)
	tuitest.Drive(m, c, append(append([]any{"3", "c"}, tuitest.Typed("get nosuchthings")...), "enter")...)
	if !tuitest.Shows(m, `"nosuchthings" is no resource that this program knows`) {
		t.Errorf("the reason is not said:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	tuitest.Drive(m, c, "backspace")
	if m.canI.input.Value() != "get nosuchthing" {
		t.Errorf("the question is %q, want it to be mended", m.canI.input.Value())
	}
	tuitest.Drive(m, c, "esc", "a")
	if m.canI.typing {
		t.Error("esc does not end the question")
	}
	m, c = reviewOf(t, accessPlan(t), 120, 36)
	tuitest.Drive(m, c, "1", "c")
	if m.canI.typing || m.notice == "" {
		t.Error("a question is asked about no subject")
	}
}

func TestRowsOfASubjectAreOrderedByDanger(t *testing.T) {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	via := []string{"ClusterRole/r", "ClusterRoleBinding/r"}
	grant := func(scope, namespace, resource string, rules ...string) {
		// Verbs of their own, so that no two make one row.
		b.Grant(preview.GrantNew, scope, namespace, []string{"verb" + resource}, []string{""}, []string{resource}, via, rules)
	}
	grant(preview.ScopeNamespace, "a", "harmless")
	grant(preview.ScopeCluster, "", "everywhere")
	grant(preview.ScopeNamespace, "a", "careful", "rule-warning")
	grant(preview.ScopeCluster, "", "carefuleverywhere", "rule-warning")
	grant(preview.ScopeNamespace, "a", "deadly", "rule-warning", "rule-critical")
	b.Finding(preview.Warning, "rule-warning", "RBAC-10", "core/ServiceAccount/mongodb/operator", "careful", "why", "evidence")
	b.Finding(preview.Critical, "rule-critical", "RBAC-11", "core/ServiceAccount/mongodb/operator", "deadly", "why", "evidence")
	m, c := reviewOf(t, b.Seal(), 120, 36)
	tuitest.Drive(m, c, "3", "F")
	last := -1
	for _, resource := range []string{"deadly", "carefuleverywhere", "careful", "everywhere", "harmless"} {
		at := -1
		for i, line := range tuitest.ScreenOf(m) {
			if strings.Contains(line, " "+resource+" ") {
				at = i
			}
		}
		if at <= last {
			t.Errorf("%s stands at line %d, want it below line %d:\n%s", resource, at, last, strings.Join(tuitest.ScreenOf(m), "\n"))
		}
		last = at
	}
}

// What x says of a grant, and the heading of the grant that is opened, are sentences that
// the window may be too narrow for: no word of them is cut.
func TestASentenceAboutAGrantIsNotCut(t *testing.T) {
	p := corpusPlan(t, corpustest.Dir(t, "bundles", "argocd-operator", "0.18.0"))
	for _, width := range []int{60, 80, 120} {
		m, c := reviewOf(t, p, width, 36)
		tuitest.Drive(m, c, "3", "down")
		said := m.activeTab().selected().Explanation()
		if said == "" {
			t.Fatal("the second grant has no explanation")
		}
		for _, key := range []string{"x", "enter"} {
			tuitest.Drive(m, c, key)
			if words := strings.Join(strings.Fields(texts(m)), " "); !strings.Contains(strings.ToLower(words), strings.ToLower(said)) {
				t.Errorf("%s at %d columns does not say %q:\n%s", key, width, said, texts(m))
			}
			tuitest.Drive(m, c, "esc")
		}
	}
}
