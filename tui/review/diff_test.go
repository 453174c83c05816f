package review

import (
	"fmt"
	"slices"
	"strings"

	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// settings is a ConfigMap of n values; those listed differ from the default.
func settings(n int, other map[int]string) map[string]any {
	data := map[string]any{}
	for i := range n {
		data[fmt.Sprintf("setting%06d", i)] = fmt.Sprintf("value %d", i)
		if v, ok := other[i]; ok {
			data[fmt.Sprintf("setting%06d", i)] = v
		}
	}
	return tuitest.Manifest("v1", "ConfigMap", "mongodb", "settings", map[string]any{"data": data})
}

const settingsObject = "core/ConfigMap/mongodb/settings"

// settingsPlan changes three of many settings, and a finding speaks of one.
func settingsPlan(t *testing.T, n int) *preview.Plan {
	b := tuitest.NewPlan(t, preview.RequestUpgrade)
	b.Plan.Base = preview.Base{Revision: 3, Digest: tuitest.DigestOf("base")}
	result := settings(n, map[int]string{20: "value of twenty", 22: "another", n - 1: "the last"})
	b.Object(preview.ActionUpdate, result, settings(n, nil), result)
	b.Object(preview.ActionCreate, tuitest.Manifest("v1", "ServiceAccount", "mongodb", "operator", nil), nil, nil)
	b.Finding(preview.Critical, "setting", "", settingsObject, "a setting is dangerous", "why",
		settingsObject+": setting000022 is another")
	return b.Seal()
}

func TestDifferencesLookAsRecorded(t *testing.T) {
	p := settingsPlan(t, 120)
	for name, keys := range map[string][]any{
		"folded":       {"5", "enter"},
		"next":         {"5", "enter", "]", "]"},
		"unfolded":     {"5", "enter", "home", "down", "down", "enter"},
		"paths":        {"5", "enter", "p", "down"},
		"beside":       {"5", "enter", "s", "down"},
		"from-finding": {"2", "d"},
		"yaml":         {"4", "down", "e", "down", "down"},
		"search":       {"5", "enter", "/", "t", "w", "e", "n", "t", "y", "enter"},
	} {
		for _, size := range tuitest.Sizes {
			frame := fmt.Sprintf("diff-%s/%dx%d/settings", name, size[0], size[1])
			t.Run(frame, func(t *testing.T) {
				m, c := reviewOf(t, p, size[0], size[1])
				tuitest.Drive(m, c, keys...)
				golden(t, frame, m, size[0], size[1])
			})
		}
	}
}

// texts are the lines of a sheet's window.
func texts(m *review) string { return strings.Join(tuitest.ScreenOf(m), "\n") }

func TestFoldsOpenAndClose(t *testing.T) {
	m, c := reviewOf(t, settingsPlan(t, 120), 120, 36)
	tuitest.Drive(m, c, "5", "enter", "home", "down", "down", "space")
	if !tuitest.Shows(m, "apiVersion: v1") || tuitest.Shows(m, "23 unchanged") {
		t.Fatalf("the stretch did not open:\n%s", texts(m))
	}
	tuitest.Drive(m, c, "down", "down", "enter")
	if !tuitest.Shows(m, "… 23 unchanged lines") || m.activeTab().sheet.Rows[m.activeTab().sheet.Cursor].Kind != diffview.RowFold {
		t.Fatalf("the stretch did not close:\n%s", texts(m))
	}
	tuitest.Drive(m, c, "end", "enter")
	if m.notice != "nothing to expand here" {
		t.Errorf("notice %q on a changed line", m.notice)
	}
}

func TestNextChangeGoesThroughAllAndStops(t *testing.T) {
	for _, form := range []string{"", "s"} {
		m, c := reviewOf(t, settingsPlan(t, 120), 120, 36)
		tuitest.Drive(m, c, "5", "enter")
		if form != "" {
			tuitest.Drive(m, c, form)
		}
		var seen []string
		for range 3 {
			seen = append(seen, m.activeTab().sheet.Path())
			tuitest.Drive(m, c, "]")
		}
		want := []string{".data.setting000020", ".data.setting000022", ".data.setting000119"}
		if !slices.Equal(seen, want) || m.notice == "" {
			t.Errorf("form %q: the changes are %v, want %v, then a notice that there are no more: %q", form, seen, want, m.notice)
		}
		tuitest.Drive(m, c, "[", "[", "[")
		if m.activeTab().sheet.Path() != want[0] || m.notice == "" {
			t.Errorf("form %q: [ does not lead back to the first", form)
		}
	}
}

func TestAPathLeadsToItsLine(t *testing.T) {
	m, c := reviewOf(t, settingsPlan(t, 120), 80, 24)
	tuitest.Drive(m, c, "5", "enter", "p", "end")
	if got := m.activeTab().sheet.CopyText(); got != ".data.setting000119" {
		t.Fatalf("y would copy %q", got)
	}
	tuitest.Drive(m, c, "enter")
	if m.activeTab().sheet.Form != diffview.FormUnified || m.activeTab().sheet.Path() != ".data.setting000119" {
		t.Errorf("enter on a path leads to %s", m.activeTab().sheet.Path())
	}
}

func TestSideBySideIsRememberedAndNeedsRoom(t *testing.T) {
	m, c := reviewOf(t, settingsPlan(t, 120), 120, 36)
	tuitest.Drive(m, c, "5", "s")
	if m.activeTab().sheet.Form != diffview.FormBeside || m.split() {
		t.Fatal("s does not show both texts in the whole width")
	}
	tuitest.Drive(m, c, "esc", "down", "enter")
	if m.activeTab().sheet.Form != diffview.FormBeside {
		t.Error("the next object is not side by side")
	}
	tuitest.Drive(m, c, tea.WindowSizeMsg{Width: 80, Height: 24})
	if m.activeTab().sheet.Form != diffview.FormUnified {
		t.Error("side by side in 80 columns")
	}
	tuitest.Drive(m, c, "s", "s")
	if !strings.Contains(m.notice, "needs 100 columns") {
		t.Errorf("notice %q", m.notice)
	}
}

func TestEveryChangeHasItsLine(t *testing.T) {
	before := tuitest.Deployment("quay.io/x:1", 1)
	after := tuitest.Deployment("quay.io/x:2", 3)
	template := preview.Map(after, "spec", "template", "spec")
	template["hostNetwork"] = true
	template["volumes"] = []any{map[string]any{"name": "tmp", "emptyDir": map[string]any{}}}
	after["rules"] = []any{map[string]any{"verbs": []any{"get", "list"}}}
	before["rules"] = []any{map[string]any{"verbs": []any{"get"}}}
	before["gone"] = map[string]any{"a": map[string]any{"b": "c"}}
	o := &preview.Object{Kind: "Deployment", Action: preview.ActionUpdate, LiveBody: before, Planned: after, ResultBody: after}
	c := diffview.Compare(o, "", nil)
	if len(c.Changes) < 6 {
		t.Fatalf("%d changes: %v", len(c.Changes), c.Changes)
	}
	for _, change := range c.Changes {
		line := c.LineOf(change)
		if line < 0 || c.Lines[line].Op == " " {
			t.Errorf("%s is seen at line %d, which does not change", change.Path, line)
			continue
		}
		if path := strings.TrimSuffix(change.Path, "[]"); !strings.HasPrefix(c.Path(line), path) {
			t.Errorf("%s is seen at %s", change.Path, c.Path(line))
		}
	}
}

func TestAFindingOpensAtItsField(t *testing.T) {
	after := tuitest.Deployment("quay.io/x:2", 3)
	template := preview.Map(after, "spec", "template", "spec")
	template["hostNetwork"] = true
	template["containers"] = []any{
		map[string]any{"name": "first", "securityContext": map[string]any{"privileged": false}},
		map[string]any{"name": "second", "securityContext": map[string]any{"privileged": true}, "ports": []any{map[string]any{"hostPort": int64(80)}}},
	}
	o := &preview.Object{Kind: "Deployment", Action: preview.ActionUnchanged, LiveBody: after, Planned: after}
	for evidence, want := range map[string]string{
		"x: container second: privileged":                  ".spec.template.spec.containers[name=second].securityContext.privileged",
		"x: container first: privileged":                   ".spec.template.spec.containers[name=first].securityContext.privileged",
		"x: hostNetwork":                                   ".spec.template.spec.hostNetwork",
		"spec.template.spec.containers[name=second].image": ".spec.template.spec.containers[name=second].name",
		"x: hostPort 80":                                   ".spec.template.spec.containers[name=second].ports[0].hostPort",
		"nothing of the kind":                              "",
	} {
		c := diffview.Compare(o, evidence, nil)
		if at := c.LineAbout(evidence); at < 0 && want != "" || at >= 0 && c.Path(at) != want {
			t.Errorf("%q opens at %q, want %q", evidence, c.Path(at), want)
		}
	}
}

// The exact text opens at the rule of a role that a finding is about.
func TestAFindingAboutARightOpensAtItsRule(t *testing.T) {
	rule := func(resources, verbs string) map[string]any {
		list := func(text string) (out []any) {
			for _, word := range strings.Fields(text) {
				out = append(out, word)
			}
			return out
		}
		return map[string]any{"apiGroups": []any{""}, "resources": list(resources), "verbs": list(verbs)}
	}
	role := map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": map[string]any{"name": "secrets-reader", "namespace": "app"},
		"rules": []any{rule("pods", "get list"), rule("configmaps", "get list watch create"), rule("configmaps secrets", "get list"), rule("secrets", "delete")},
	}
	o := &preview.Object{ID: "rbac.authorization.k8s.io/Role/app/secrets-reader", Kind: "Role", Action: preview.ActionCreate, Planned: role}
	for evidence, want := range map[string]string{
		"get, list on secrets":        ".rules[2].resources[1]",
		"delete on secrets":           ".rules[3].verbs[0]",
		"create, watch on configmaps": ".rules[1].verbs",
		"get, list on pods":           ".rules[0].resources[0]",
	} {
		c := diffview.Exact(o, role, evidence, nil)
		if at := c.LineAbout(evidence); !strings.HasPrefix(c.Path(at), want) {
			t.Errorf("%q opens at %q, want %q", evidence, c.Path(at), want)
		}
	}
}

func TestALargeObjectIsComparedOutsideOfUpdate(t *testing.T) {
	m, c := reviewOf(t, settingsPlan(t, 2_000), 120, 36)
	c.Forward(1)
	_, cmd := m.Update(tuitest.Press("5"))
	if m.activeTab().sheet == nil || m.activeTab().sheet.Comparison != nil || cmd == nil {
		t.Fatal("2,000 settings were compared while the screen waited")
	}
	if !tuitest.Shows(m, "comparing …") {
		t.Errorf("nothing says that it is going on:\n%s", texts(m))
	}
	first := m.activeTab().sheet
	m.comparing.job.Steps.Store(4)
	if !tuitest.Shows(m, "comparing … 57%") {
		t.Errorf("nothing says how far it is:\n%s", texts(m))
	}
	if _, other := m.Update(tuitest.Press("enter")); other != nil {
		t.Error("it is made a second time meanwhile")
	}
	tuitest.Pump(m, cmd)
	if m.activeTab().sheet != first || !tuitest.Shows(m, "change 1 of 3") {
		t.Errorf("the comparison did not arrive:\n%s", texts(m))
	}
	// Left before it is made, it is not made, and made again when it is asked for.
	m, c = reviewOf(t, settingsPlan(t, 2_000), 120, 36)
	_, cmd = m.Update(tuitest.Press("5"))
	left := m.comparing.job
	tuitest.Drive(m, c, "down")
	if !left.Abandoned() {
		t.Error("it goes on though nobody waits for it")
	}
	tuitest.Pump(m, cmd)
	if !tuitest.Shows(m, "ServiceAccount mongodb/operator   + create") || tuitest.Shows(m, "setting000020") {
		t.Errorf("the object that was left is on screen:\n%s", texts(m))
	}
	tuitest.Drive(m, c, "up")
	if m.comparing.job != nil || !tuitest.Shows(m, "change 1 of 3") {
		t.Errorf("the comparison is not made when it is asked for again:\n%s", texts(m))
	}
}

func TestLongLinesCostWhatTheirWindowDoes(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 1<<20), strings.Repeat("界", 1<<18), strings.Repeat("x\u0301", 1<<18)} {
		head, cut := diffview.Prefix(text, 80)
		if !cut || len(head) > 2_000 || textsafe.Width(head) < 80 || !strings.HasPrefix(text, head) {
			t.Errorf("%d bytes of %q… for 80 cells, %d cells wide", len(head), head[:8], textsafe.Width(head))
		}
	}
	if head, cut := diffview.Prefix("short", 80); cut || head != "short" {
		t.Error("a short line is cut")
	}
}

// What could not be read may well exist: its diff says that it is not known.
func TestTheDiffOfAnUnreadObjectDoesNotSayThatItIsAbsent(t *testing.T) {
	m, c := reviewOf(t, tuitest.UpgradePlan(t), 120, 36)
	tuitest.Drive(m, c, "5", "down", "down", "down")
	if !tuitest.Shows(m, "the live object could not be read") || !tuitest.Shows(m, "--- live  (not known)") || tuitest.Shows(m, "(does not exist)") {
		t.Errorf("the diff is\n%s", texts(m))
	}
}
