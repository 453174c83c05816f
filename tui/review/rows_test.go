package review

import (
	"runtime"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Of thousands of rows a frame makes the lines that its window shows.
func TestAFrameMakesTheLinesThatAreSeen(t *testing.T) {
	const height = 36
	m, c := reviewOf(t, sizedPlan(t, 5_000, 400), 120, height)
	for _, tab := range []string{"2", "3", "4", "5", "6"} {
		tuitest.Drive(m, c, tab)
		b, made := m.activeTab(), 0
		for i := range b.rows {
			line := b.rows[i].Line
			b.rows[i].Line = func(width int) widget.Line {
				made++
				return line(width)
			}
		}
		for _, key := range []string{"down", "end", "up", "home", "pgdown"} {
			made = 0
			m.Update(tuitest.Press(key))
			_ = m.View()
			if made == 0 || made > 2*height {
				t.Errorf("tab %s: after %s %d lines of %d rows are made for a window of %d", tab, key, made, len(b.rows), height)
			}
		}
	}
}

// What opening a tab for the first time costs each row does not grow with their number.
func TestSlowTabsOpenInLinearWork(t *testing.T) {
	slowtest.Skip(t, "plans of 16,000 objects")
	openings := func(objects int) map[string]float64 {
		p, out := sizedPlan(t, objects, 400), map[string]float64{}
		for _, tab := range []string{"2", "3", "4", "5", "6"} {
			m, _ := reviewOf(t, p, 120, 36)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m.Update(tuitest.Press(tab))
			_ = m.View()
			runtime.ReadMemStats(&after)
			out[tab] = float64(after.TotalAlloc-before.TotalAlloc) / float64(objects)
		}
		return out
	}
	few, many := openings(2_000), openings(16_000)
	for tab, each := range many {
		t.Logf("tab %s: %.0f bytes for each of 2,000 objects, %.0f for each of 16,000", tab, few[tab], each)
		if each > 1.3*few[tab] {
			t.Errorf("tab %s allocates %.0f bytes for each of 2,000 objects and %.0f for each of 16,000", tab, few[tab], each)
		}
	}
}

// A search of a plan with thousands of rows shows the hits of these before it looks in
// the manifests behind them, and leaves the cursor where it is when it has.
func TestASearchOfManyRowsBeginsWithTheRows(t *testing.T) {
	m, c := reviewOf(t, sizedPlan(t, 5_000, 400), 120, 36)
	tuitest.Drive(m, c, "4", "/")
	tuitest.Drive(m, c, tuitest.Typed("part-0003")...)
	opened := 0
	for _, tab := range m.ShownTabs() {
		m.rebuildRows(tab)
		for i := range m.tabs[tab].rows {
			if inside := m.tabs[tab].rows[i].Inside; inside != nil {
				m.tabs[tab].rows[i].Inside = func() string {
					opened++
					return inside()
				}
			}
		}
	}
	first := m.searchKey(tuitest.Press("enter"))().(searchedMsg)
	if opened > 0 || len(first.hits) == 0 || first.rest == nil {
		t.Fatalf("%d rows were opened before %d hits are shown", opened, len(first.hits))
	}
	rest := m.showHits(first)
	at := m.search.last
	if at == noHit || at.inside || m.tab != at.tab {
		t.Fatalf("the first hit shown is %+v, in tab %d", at, m.tab)
	}
	m.Update(tuitest.Press("n"))
	after := m.search.last
	m.Update(rest())
	if opened == 0 || m.search.last != after || after == at {
		t.Errorf("the cursor went from %+v to %+v, with %d rows opened", after, m.search.last, opened)
	}
	if inside := m.search.hits; len(inside) < len(first.hits) {
		t.Errorf("%d hits, %d of them in rows", len(inside), len(first.hits))
	}
}

// A text that is in no row is found behind one.
func TestASearchOfManyRowsFindsWhatTheyOpen(t *testing.T) {
	m, c := reviewOf(t, sizedPlan(t, 5_000, 400), 120, 36)
	tuitest.Drive(m, c, "/")
	tuitest.Drive(m, c, tuitest.Typed("another 50")...)
	tuitest.Drive(m, c, "enter")
	if at := m.search.last; !at.inside || at.tab != tabs.Diff && at.tab != tabs.Objects {
		t.Errorf("got %+v: %s", at, m.notice)
	}
}
