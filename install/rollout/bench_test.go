package rollout_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// stepwise is a watcher that reports every object of a rollout several times, as its
// controller brings it on.
type stepwise struct{ bodies [][]map[string]any }

func (s stepwise) Observe(ctx context.Context, _ []preview.Ref, each func(preview.Ref, map[string]any, error)) error {
	for _, round := range s.bodies {
		for _, body := range round {
			each(preview.RefOf(body), body, nil)
		}
	}
	<-ctx.Done()
	return nil
}

// BenchmarkFollowing follows rollouts of more and more objects; each changes three
// times. The time of each object should not grow by more than 30 %.
func BenchmarkFollowing(b *testing.B) {
	first := 0.0
	for _, n := range []int{1000, 5000, 20000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var s stepwise
			var refs []preview.Ref
			for _, condition := range []string{"Ready=Unknown", "Ready=False", "Ready=True"} {
				var round []map[string]any
				for i := range n {
					round = append(round, body(fmt.Sprint("web-", i), condition))
				}
				s.bodies = append(s.bodies, round)
			}
			for i := range n {
				refs = append(refs, thing(fmt.Sprint("web-", i)))
			}
			b.ReportAllocs()
			for b.Loop() {
				report, err := rollout.Wait(b.Context(), rollout.Options{Watcher: s, Refs: refs, Timeout: time.Minute})
				if err != nil || report.Outcome != rollout.AllReady {
					b.Fatalf("%s: %v", report.Outcome, err)
				}
			}
			each := float64(b.Elapsed().Microseconds()) / float64(b.N) / float64(n)
			b.ReportMetric(each, "µs/object")
			if first == 0 {
				first = each
			}
			b.ReportMetric(each/first, "times-smallest")
		})
	}
}
