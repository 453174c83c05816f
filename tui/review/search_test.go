package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

func TestASearchGoesOnInTheNextTab(t *testing.T) {
	m, c := reviewOf(t, settingsPlan(t, 120), 120, 36)
	tuitest.Drive(m, c, "/")
	tuitest.Drive(m, c, tuitest.Typed("settings")...)
	tuitest.Drive(m, c, "enter")
	var hits []tabs.Tab
	for range 6 {
		hits = append(hits, m.tab)
		if !strings.Contains(m.notice, fmt.Sprintf("hit %d of 4: 1 in Summary, 1 in Findings, 1 in Objects, 1 in Diff", (len(hits)-1)%4+1)) {
			t.Errorf("hit %d is announced as %q", len(hits), m.notice)
		}
		tuitest.Drive(m, c, "]")
	}
	if fmt.Sprint(hits) != fmt.Sprint([]tabs.Tab{tabs.Summary, tabs.Findings, tabs.Objects, tabs.Diff, tabs.Summary, tabs.Findings}) {
		t.Errorf("the hits are in tabs %v", hits)
	}
	tuitest.Drive(m, c, "[", "[", "[")
	if m.tab != tabs.Diff {
		t.Errorf("[ from the first hit leads to tab %d, not around to the last", m.tab)
	}
	tuitest.Drive(m, c, "esc", "]")
	if m.search.active() || strings.Contains(m.notice, "hit") {
		t.Errorf("esc does not end the search: %q", m.notice)
	}
}

func TestASearchInADocumentCoversItAndTheOtherTabs(t *testing.T) {
	m, c := reviewOf(t, settingsPlan(t, 120), 120, 36)
	tuitest.Drive(m, c, "5", "enter", "/")
	tuitest.Drive(m, c, tuitest.Typed("setting00005")...)
	tuitest.Drive(m, c, "enter")
	sheet := m.activeTab().sheet
	if !strings.Contains(m.notice, "hit 1 of 10 ") || sheet.Path() != ".data.setting000050" {
		t.Fatalf("%q at %s: what is folded was not found", m.notice, sheet.Path())
	}
	tuitest.Drive(m, c, "]")
	if sheet.Path() != ".data.setting000051" {
		t.Errorf("the next hit is at %s", sheet.Path())
	}
	// The facts of a finding are a document as well.
	tuitest.Drive(m, c, "esc", "2", "enter", "/")
	tuitest.Drive(m, c, tuitest.Typed("matters")...)
	tuitest.Drive(m, c, "enter")
	if m.tab != tabs.Findings || m.search.line < 0 || !strings.Contains(m.notice, "hit 1 of 1 ") {
		t.Errorf("%q in tab %d at line %d", m.notice, m.tab, m.search.line)
	}
	tuitest.Drive(m, c, "4", "]")
	if m.tab != tabs.Findings || m.activeTab().pane != frame.PaneDetail {
		t.Errorf("] leads to tab %d, not back to the document that was searched", m.tab)
	}
}

func TestAnotherFilterIsSearchedAnew(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	tuitest.Drive(m, c, "4", "f", "f", "/")
	tuitest.Drive(m, c, tuitest.Typed("re:^create CustomResourceDefinition kind03")...)
	tuitest.Drive(m, c, "enter")
	if !strings.Contains(m.notice, "hit 1 of 1 ") || m.tab != tabs.Diff {
		t.Fatalf("notice %q in tab %d", m.notice, m.tab)
	}
	tuitest.Drive(m, c, "4", "F", "]")
	if !strings.Contains(m.notice, "of 2: 1 in Objects, 1 in Diff") {
		t.Errorf("notice %q after the filter went", m.notice)
	}
	tuitest.Drive(m, c, "f", "f", "/")
	tuitest.Drive(m, c, tuitest.Typed("nowhere at all")...)
	tuitest.Drive(m, c, "enter")
	if !strings.Contains(m.notice, "filters hide rows") {
		t.Errorf("notice %q does not say that not all was searched", m.notice)
	}
}

func TestAnswersOfAnEarlierSearchAreDropped(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	tuitest.Drive(m, c, "4", "/")
	tuitest.Drive(m, c, tuitest.Typed("kind03")...)
	_, cmd := m.Update(tuitest.Press("enter"))
	if !strings.Contains(m.notice, "searching") {
		t.Errorf("notice %q while it is searched", m.notice)
	}
	tuitest.Drive(m, c, "esc")
	before := m.activeTab().selected().ID
	tuitest.Pump(m, cmd)
	if m.search.active() || m.activeTab().selected().ID != before {
		t.Error("a search that was ended moved the cursor")
	}
}

func TestARegularExpressionIsBounded(t *testing.T) {
	for _, expr := range []string{"re:(a{100}){10}", "re:" + strings.Repeat("a{999}", 40), "re:((((a*)*)*)*)*" + strings.Repeat("(x|y){90}", 9)} {
		if _, err := frame.Finder(expr); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%.30s…: error %v, want one that says it is too large", expr, err)
		}
	}
	find, err := frame.Finder("re:(a*)*b")
	if err != nil {
		t.Fatal(err)
	}
	if find(strings.Repeat("a", 100_000)) != nil {
		t.Error("a match where there is none")
	}
}

func FuzzFinder(f *testing.F) {
	f.Add("re:(a|b)*", "abab")
	f.Add("größe", "Die GRÖßE")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, query, text string) {
		find, err := frame.Finder(query)
		if err != nil || find == nil {
			return
		}
		end := 0
		for _, at := range find(text) {
			if at[0] < end || at[1] < at[0] || at[1] > len(text) {
				t.Fatalf("%q in %q: %v", query, text, at)
			}
			end = at[1]
		}
	})
}

// While a search is on, n and N go to its hits: they mark nothing as reviewed.
func TestNextGoesToHitsWhileASearchIsOn(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	left := m.Checklist.Remaining()
	tuitest.Drive(m, c, "2", "/")
	tuitest.Drive(m, c, tuitest.Typed("secret")...)
	tuitest.Drive(m, c, "enter")
	first := m.notice
	tuitest.Drive(m, c, "n", "n", "n", "n", "n")
	if m.Checklist.Remaining() != left || left == 0 {
		t.Errorf("%d of %d findings are left to review", m.Checklist.Remaining(), left)
	}
	if !strings.Contains(m.notice, "hit ") || m.notice == first {
		t.Errorf("n leads from %q to %q", first, m.notice)
	}
	for range 5 {
		tuitest.Drive(m, c, "N")
	}
	if m.notice != first {
		t.Errorf("N leads to %q, not back to %q", m.notice, first)
	}
	tuitest.Drive(m, c, "esc", "1", "n", "n")
	if m.Checklist.Remaining() != left-1 {
		t.Errorf("after the search n marks nothing: %d of %d are left", m.Checklist.Remaining(), left)
	}
}

// A search proves that a text is absent, so it covers what rows open as well.
func TestASearchCoversWhatRowsOpen(t *testing.T) {
	for _, test := range []struct {
		name, tab, query string
		at               tabs.Tab
		inside           bool
	}{
		{"a field of a diff, from the list beside it", "5", "setting00005", tabs.Diff, true},
		{"a field of a diff, from another tab", "3", "setting00005", tabs.Diff, true},
		{"the evidence of a finding", "2", "evidence", tabs.Findings, false},
		{"a heading, which cannot be selected", "2", "heading", tabs.Summary, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, c := reviewOf(t, settingsPlan(t, 120), 120, 36)
			query := test.query
			switch query { // words of this plan
			case "evidence":
				query = m.Checklist.Items[0].First().Pieces[0].Text
			case "heading":
				tuitest.Drive(m, c, test.tab)
				query = m.activeTab().rows[0].Text
			}
			tuitest.Drive(m, c, test.tab, "/")
			tuitest.Drive(m, c, tuitest.Typed(query)...)
			tuitest.Drive(m, c, "enter")
			if m.tab != test.at || !strings.Contains(m.notice, "hit ") {
				t.Fatalf("%q in tab %d", m.notice, m.tab)
			}
			if !test.inside {
				return
			}
			if s := m.activeTab().sheet; s == nil || m.activeTab().pane != frame.PaneDetail || !strings.HasPrefix(s.Path(), ".data.setting00005") {
				t.Errorf("the diff does not open at what was found")
			}
			before := m.activeTab().sheet.Path()
			if tuitest.Drive(m, c, "n"); m.activeTab().sheet.Path() == before {
				t.Errorf("n stays at %s", before)
			}
		})
	}
}

func TestASearchSaysWhatItCovered(t *testing.T) {
	m, c := reviewOf(t, tuitest.UpgradePlan(t), 120, 36)
	for _, query := range []string{"nowhere at all", "bmV3", "b2xk", "YWRtaW4="} { // values of Secrets are not searched for either
		tuitest.Drive(m, c, "4", "/")
		tuitest.Drive(m, c, tuitest.Typed(query)...)
		tuitest.Drive(m, c, "enter")
		if !strings.Contains(m.notice, "no match for \""+query+"\" in any tab, text, YAML or diff") {
			t.Errorf("%q: %q", query, m.notice)
		}
	}
}
