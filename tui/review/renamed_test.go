package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

const rbac = "rbac.authorization.k8s.io/v1"

func olmRole(name string, resources ...any) map[string]any {
	return tuitest.Manifest(rbac, "ClusterRole", "", name, map[string]any{
		"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"get"}}, map[string]any{"apiGroups": []any{""}, "resources": resources, "verbs": []any{"list"}}},
	})
}

func olmBinding(name string) map[string]any {
	return tuitest.Manifest(rbac, "ClusterRoleBinding", "", name, map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "namespace": "mongodb", "name": "operator"}},
	})
}

// Roles that OLM names by the version are compared with those of the version before, and
// the list of differences begins with what decides: findings, then rights, CRDs last.
func TestDifferencesBeginWithWhatDecides(t *testing.T) {
	b := tuitest.NewPlan(t, preview.RequestUpgrade)
	b.Plan.Base = preview.Base{Revision: 3, Digest: tuitest.DigestOf("base")}
	before, after := "mongodb.v1-"+strings.Repeat("a", 42), "mongodb.v2-"+strings.Repeat("b", 42)
	crd := func(description string) map[string]any {
		return tuitest.Manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "a.mongodb.com", map[string]any{"spec": map[string]any{"description": description}})
	}
	b.Object(preview.ActionUpdate, crd("new"), crd("old"), crd("new"))
	b.Object(preview.ActionDelete, nil, olmRole(before, "nodes"), nil)
	b.Object(preview.ActionDelete, nil, olmBinding(before), nil)
	b.Object(preview.ActionCreate, olmRole(after, "secrets"), nil, nil)
	b.Object(preview.ActionCreate, olmBinding(after), nil, nil)
	b.Object(preview.ActionUpdate, tuitest.Deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 2), tuitest.Deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 1), tuitest.Deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 2))
	b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"list"}, []string{""}, []string{"secrets"}, []string{"ClusterRole/" + after, "ClusterRoleBinding/" + after}, nil)
	m, c := reviewOf(t, b.Seal(), 240, 40)
	screen := func() string { return strings.Join(tuitest.ScreenOf(m), "\n") }
	tuitest.Drive(m, c, "5")
	var order []string
	for _, line := range tuitest.ScreenOf(m) {
		for _, want := range []string{"1 description", "1 field", "ClusterRole of operator (bbbb)  renamed, +1 rule, -1 rule", "ClusterRole of operator (aaaa)  renamed"} {
			if strings.Contains(line, want) {
				order = append(order, want)
				break
			}
		}
	}
	if got, want := fmt.Sprint(order), "[1 field 1 description ClusterRole of operator (aaaa)  renamed ClusterRole of operator (bbbb)  renamed, +1 rule, -1 rule]"; got != want {
		t.Errorf("the list is %s\nwant %s\n%s", got, want, screen())
	}
	for range 10 {
		if m.activeTab().selected().ID == "rbac.authorization.k8s.io/ClusterRole/-/"+after {
			break
		}
		tuitest.Drive(m, c, "down")
	}
	for _, want := range []string{"--- ClusterRole " + before, "- secrets", "- nodes"} {
		if !strings.Contains(screen(), want) {
			t.Errorf("no %q in\n%s", want, screen())
		}
	}
	if m.tab != tabs.Diff {
		t.Error("another tab")
	}
}

// A role that OLM named is called by its account, with the beginning of its hash only
// where the account has several of its kind.
func TestAGeneratedRoleIsCalledByItsAccount(t *testing.T) {
	first, second := "mongodb.v1-"+strings.Repeat("a", 42), "mongodb.v1-"+strings.Repeat("b", 42)
	for want, names := range map[string][]string{"ClusterRole of operator": {first}, "ClusterRole of operator (aaaa)": {first, second}} {
		b := tuitest.NewPlan(t, preview.RequestInstall)
		for _, name := range names {
			b.Object(preview.ActionCreate, olmRole(name, "secrets"), nil, nil)
			b.Object(preview.ActionCreate, olmBinding(name), nil, nil)
			b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"list"}, []string{""}, []string{"secrets"}, []string{"ClusterRole/" + name, "ClusterRoleBinding/" + name}, nil)
		}
		m, c := reviewOf(t, b.Seal(), 160, 40)
		tuitest.Drive(m, c, "5")
		if screen := strings.Join(tuitest.ScreenOf(m), "\n"); !strings.Contains(screen, want+" ") || len(names) == 1 && strings.Contains(screen, "(aaaa)") {
			t.Errorf("no %q in\n%s", want, screen)
		}
	}
}

// tab goes to the right pane, and from there to the next tab: all of them are reached.
func TestTheKeyTabReachesEveryPaneAndTab(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 160, 40)
	start := m.tab
	panes, reached := 0, map[any]bool{}
	for range 20 {
		panes++
		reached[m.tab] = true
		tuitest.Drive(m, c, "tab")
		if m.tab == start {
			break
		}
	}
	if m.tab != start || len(reached) != len(m.ShownTabs()) || panes <= len(reached) {
		t.Errorf("%d panes of %d tabs were reached, of %d", panes, len(reached), len(m.ShownTabs()))
	}
	tuitest.Drive(m, c, "shift+tab")
	if shown := m.ShownTabs(); m.tab != shown[len(shown)-1] {
		t.Errorf("back is %v", m.tab)
	}
}

// The evidence of a warning that does not fit at the beginning of its page is at the end.
func TestNoEvidenceIsOutOfReach(t *testing.T) {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	id := b.Object(preview.ActionCreate, tuitest.Manifest("v1", "ConfigMap", "mongodb", "settings", nil), nil, nil).ID
	var pieces []string
	for i := range 60 {
		pieces = append(pieces, fmt.Sprintf("piece number %d", i))
	}
	b.Finding(preview.Warning, "rbac-delete", "", id, "ConfigMap settings: can delete much", "It matters.", strings.Join(pieces, preview.EvidenceMark))
	m, c := reviewOf(t, b.Seal(), 120, 200)
	tuitest.Drive(m, c, "2")
	text := textOf(m)
	for _, piece := range pieces {
		if !strings.Contains(text, piece) {
			t.Fatalf("no %q in\n%s", piece, text)
		}
	}
	if !strings.Contains(text, "at the end of this page") {
		t.Error(text)
	}
}

// Above the grants of an account stands what they come to.
func TestAnAccountIsSummedUpAboveItsGrants(t *testing.T) {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	via := []string{"ClusterRole/a", "ClusterRoleBinding/a"}
	b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"create"}, []string{"admissionregistration.k8s.io"}, []string{"validatingwebhookconfigurations"}, via, nil)
	b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"*"}, []string{"rbac.authorization.k8s.io"}, []string{"*"}, via, nil)
	b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"get", "list"}, []string{""}, []string{"secrets"}, via, nil)
	b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"get"}, []string{"apps"}, []string{"deployments"}, via, nil)
	m, c := reviewOf(t, b.Seal(), 120, 36)
	tuitest.Drive(m, c, "3")
	if want := "SA operator  writes RBAC, webhooks; reads Secrets"; !tuitest.Shows(m, want) {
		t.Errorf("no %q in\n%s", want, textOf(m))
	}
}
