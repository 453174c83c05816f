package review

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// sizedPlan is an upgrade of many objects that change in different ways, and
// one of many lines. There is a finding and a grant for each of the first, more
// than a window shows, and for every tenth of the others.
func sizedPlan(t testing.TB, objects, lines int) *preview.Plan {
	b := tuitest.NewPlan(t, preview.RequestUpgrade)
	b.Plan.Base = preview.Base{Revision: 3, Digest: tuitest.DigestOf("base")}
	result := settings(lines, nil)
	for i := range lines {
		if i%50 == 0 {
			preview.Map(result, "data")[fmt.Sprintf("setting%06d", i)] = fmt.Sprintf("another %d", i)
		}
	}
	b.Object(preview.ActionUpdate, result, settings(lines, nil), result)
	for i := range objects - 1 {
		name := fmt.Sprintf("part-%04d", i)
		body, was := tuitest.Manifest("v1", "ConfigMap", "mongodb", name, map[string]any{"data": map[string]any{"a": "b"}}),
			tuitest.Manifest("v1", "ConfigMap", "mongodb", name, map[string]any{"data": map[string]any{"a": "was"}})
		switch i % 4 {
		case 0:
			b.Object(preview.ActionCreate, body, nil, nil)
		case 1:
			b.Object(preview.ActionUpdate, body, was, body)
		case 2:
			b.Object(preview.ActionUnchanged, body, body, body)
		case 3:
			b.Object(preview.ActionDelete, nil, was, nil)
		}
		if i >= 200 && i%10 != 0 {
			continue
		}
		rule := fmt.Sprintf("rule-%d", i)
		severity := []preview.Severity{preview.Critical, preview.Warning, preview.NotKnown, preview.Info}[len(b.Plan.Findings)%4]
		b.Finding(severity, rule, "", "core/ConfigMap/mongodb/"+name, "does something", "why", name)
		b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"get"}, []string{""}, []string{"configmaps"}, []string{"ClusterRole/" + name, "ClusterRoleBinding/" + name}, []string{rule})
		b.Plan.Images = append(b.Plan.Images, preview.Image{Reference: "quay.io/x/" + name + ":1", Digest: tuitest.DigestOf(name)})
	}
	return b.Seal()
}

// visited are the places in which a frame is drawn, and keys that move there.
func visited() []struct {
	name string
	open []any
	keys []string
} {
	return []struct {
		name string
		open []any
		keys []string
	}{
		{"summary", nil, []string{"down", "up"}},
		{"findings", []any{"2", "down"}, []string{"down", "up"}},
		{"a finding", []any{"2", "enter"}, []string{"down", "up"}},
		{"marking", []any{"2", "enter"}, []string{"space"}},
		{"access", []any{"3", "F", "down", "down"}, []string{"down", "up"}},
		{"a grant", []any{"3", "F", "enter"}, []string{"down", "up"}},
		{"objects", []any{"4", "end"}, []string{"up", "down"}},
		{"an object", []any{"4", "end", "enter"}, []string{"up", "down"}},
		{"the list of differences", []any{"5", "end"}, []string{"up", "down"}},
		{"a large difference", largest(), []string{"down", "up"}},
		{"its changes", largest(), []string{"]", "["}},
		{"its pages", largest(), []string{"pgdown", "pgup"}},
		{"its end, side by side", append(largest(), "s", "end"), []string{"up", "down"}},
		{"its YAML", append(largest(), "esc", "e", "end"), []string{"up", "down"}},
		{"hits", append(largest(), "/", "o", "t", "h", "e", "r", "enter"), []string{"]", "["}},
		{"source", []any{"6"}, []string{"down", "up"}},
		{"tabs", []any{"6", "5", "4", "3", "2", "1"}, []string{"2", "6", "1", "3"}},
		{"help", []any{"?"}, []string{"down", "up"}},
	}
}

// largest are the keys that lead to the difference of many lines.
func largest() []any {
	return append(append([]any{"5", "home", "/"}, tuitest.Typed("mongodb/settings")...), "enter", "esc", "5", "enter")
}

func TestSlowWorkPerFrameDoesNotGrowWithThePlan(t *testing.T) {
	slowtest.Skip(t, "plans of many thousand objects")
	few, many := 300, 3_000
	small, large := sizedPlan(t, few, 400), sizedPlan(t, many, 4_000)
	for _, at := range visited() {
		t.Run(at.name, func(t *testing.T) {
			var allocs, bytes [2]uint64
			for i, p := range []*preview.Plan{small, large} {
				m, c := reviewOf(t, p, 120, 36)
				tuitest.Drive(m, c, at.open...)
				allocs[i], bytes[i] = tuitest.Frames(m, at.keys)
			}
			t.Logf("allocations %v, bytes %v", allocs, bytes)
			// Longer numbers take a little more; a walk over the plan would take
			// ten times.
			if allocs[1] > allocs[0]*5/4 || bytes[1] > bytes[0]*5/4 {
				t.Errorf("a frame of %d objects takes %d allocations of %d bytes, one of %d takes %d of %d",
					few, allocs[0], bytes[0], many, allocs[1], bytes[1])
			}
		})
	}
}

// The first frame waits for the findings to be put in order: a pointer for each,
// and what is counted of it. It makes nothing else of what a window does not
// show.
func TestWorkForTheFirstFrameDoesNotGrowWithThePlan(t *testing.T) {
	work := func(p *preview.Plan) (allocs, bytes uint64) {
		const n = 16
		c := tuitest.NewClock()
		var before, after runtime.MemStats
		for i := range 2 * n {
			if i == n {
				runtime.ReadMemStats(&before)
			}
			m := newReview(t.Context(), Options{
				Terminal: frame.Terminal{Width: 120, Height: 36}, Plan: p, Recheck: recheckSame(p), Gate: openGate, Now: c.Now,
			})
			m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
			_ = m.View()
		}
		runtime.ReadMemStats(&after)
		return (after.Mallocs - before.Mallocs) / n, (after.TotalAlloc - before.TotalAlloc) / n
	}
	small, large := sizedPlan(t, 300, 400), sizedPlan(t, 3_000, 400)
	allocs, bytes := work(small)
	more, moreBytes := work(large)
	perFinding := uint64(200 * (len(large.Findings) - len(small.Findings)))
	t.Logf("allocations %d and %d, bytes %d and %d", allocs, more, bytes, moreBytes)
	if more > allocs*5/4 || moreBytes > bytes*5/4+perFinding {
		t.Errorf("the first frame of 300 objects takes %d allocations of %d bytes, that of 3,000 takes %d of %d", allocs, bytes, more, moreBytes)
	}
}

func TestSlowLargePlanFitsInMemory(t *testing.T) {
	slowtest.Skip(t, "a plan of 5,000 objects and 100,000 lines")
	before := heapInUse()
	p := sizedPlan(t, 5_000, 100_000)
	m, c := reviewOf(t, p, 120, 36)
	tuitest.Drive(m, c, largest()...)
	if len(m.activeTab().sheet.Comparison.Lines) < 100_000 {
		t.Fatalf("the difference has %d lines", len(m.activeTab().sheet.Comparison.Lines))
	}
	used := (heapInUse() - before) >> 20
	t.Logf("%d MB", used)
	if used > 200 {
		t.Errorf("the review of 5,000 objects and 100,000 lines holds %d MB, want at most 200", used)
	}
	runtime.KeepAlive(m)
}

// heapInUse returns the bytes in use, after a collection.
func heapInUse() uint64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// BenchmarkFirstFrame is the time from a plan to its first frame.
func BenchmarkFirstFrame(b *testing.B) {
	for _, objects := range []int{50, 5_000, 40_000} {
		p := sizedPlan(b, objects, objects*20)
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) {
			c := tuitest.NewClock()
			for b.Loop() {
				m := newReview(b.Context(), Options{
					Terminal: frame.Terminal{Width: 120, Height: 36}, Plan: p, Recheck: recheckSame(p), Gate: openGate, Now: c.Now,
				})
				m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
				_ = m.View()
			}
		})
	}
}

// BenchmarkKeyToFrame presses keys in every place and reports the 99th
// percentile of the time from a key to its frame.
func BenchmarkKeyToFrame(b *testing.B) {
	for _, objects := range []int{50, 5_000, 40_000} {
		p := sizedPlan(b, objects, objects*20)
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				for _, at := range visited() {
					m, c := reviewOf(b, p, 120, 36)
					tuitest.Drive(m, c, at.open...)
					took = append(took, keyTimes(m, at.keys)...)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
			b.ReportMetric(0, "ns/op") // is mostly the way there
		})
	}
}

// BenchmarkFirstOpening is the time from the key that opens a tab for the first
// time to its frame: rows are made then.
func BenchmarkFirstOpening(b *testing.B) {
	for _, tab := range []struct{ name, key string }{{"findings", "2"}, {"access", "3"}, {"objects", "4"}, {"diff", "5"}, {"source", "6"}} {
		for _, objects := range []int{50, 5_000, 40_000} {
			p := sizedPlan(b, objects, objects)
			b.Run(fmt.Sprintf("%s/objects=%d", tab.name, objects), func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					m, _ := reviewOf(b, p, 120, 36)
					start := time.Now()
					m.Update(tuitest.Press(tab.key))
					_ = m.View()
					took = append(took, time.Since(start))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
				b.ReportMetric(0, "ns/op") // is mostly the review itself
			})
		}
	}
}

// BenchmarkSearch is the time from the key that begins a search to the frame with its
// first hit, and what plan and review hold when all tabs were searched.
func BenchmarkSearch(b *testing.B) {
	for _, objects := range []int{50, 5_000, 40_000} {
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) {
			before := heapInUse()
			p := sizedPlan(b, objects, objects)
			var took []time.Duration
			var m *review
			for b.Loop() {
				var c *tuitest.Clock
				m, c = reviewOf(b, p, 120, 36)
				tuitest.Drive(m, c, append([]any{"4", "/"}, tuitest.Typed(fmt.Sprintf("part-%04d", objects*3/4))...)...)
				start := time.Now()
				cmd := m.searchKey(tuitest.Press("enter"))
				m.Update(cmd())
				_ = m.View()
				took = append(took, time.Since(start))
				if m.search.last == noHit {
					b.Fatal(m.notice)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
			b.ReportMetric(float64(heapInUse()-before)/(1<<20), "MB-held")
			b.ReportMetric(0, "ns/op") // is mostly the review itself
			runtime.KeepAlive(m)
		})
	}
}

func keyTimes(m tea.Model, keys []string) []time.Duration {
	var took []time.Duration
	for i := range 100 {
		start := time.Now()
		_, cmd := m.Update(tuitest.Press(keys[i%len(keys)]))
		_ = m.View()
		took = append(took, time.Since(start))
		tuitest.Pump(m, cmd)
	}
	return took
}

// BenchmarkComparison compares an object of many lines, which a review does
// beside its frames.
func BenchmarkComparison(b *testing.B) {
	p := sizedPlan(b, 1, 100_000)
	for b.Loop() {
		diffview.Compare(&p.Objects[0], "", nil)
	}
}
