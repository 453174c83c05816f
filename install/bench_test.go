package install_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// BenchmarkApply applies upgrades that change the mixture at two sizes, next to what
// "kubectl apply --server-side" takes for the same objects in the same run. It compares
// every object just before, keeps records and waits for the rollout, which kubectl does not.
func BenchmarkApply(b *testing.B) {
	box := sandboxtest.Start(b)
	first := 0.0
	for _, n := range []int{500, 5000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			each := benchmarkApply(b, box, n)
			if first == 0 {
				first = each
			}
			b.ReportMetric(each/first, "times-smallest")
		})
	}
}

// benchmarkApply returns how many microseconds one object takes.
func benchmarkApply(b *testing.B, box *sandbox.Sandbox, n int) (each float64) {
	w := newWorldIn(b, box, "applied-"+strconv.Itoa(n))
	opts := w.options(b)
	opts.Sink, opts.RolloutTimeout = nil, time.Hour
	version := 0
	next := func() *preview.Plan {
		version++
		return w.plan(b, w.mixture(b, n, strconv.Itoa(version), func(int) bool { return true }))
	}
	apply := func(plan *preview.Plan) {
		if _, err := install.Apply(b.Context(), plan, byDigest(plan), w, opts); err != nil {
			b.Fatal(err)
		}
	}
	apply(next())
	used := time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		plan := next()
		before := processorTime(b)
		b.StartTimer()
		apply(plan)
		used += processorTime(b) - before
	}
	each = float64(b.Elapsed().Microseconds()) / float64(b.N*n)
	b.ReportMetric(each, "µs/object")
	b.ReportMetric(float64(used.Microseconds())/float64(b.N*n), "processor-µs/object")
	kubectl := sandboxtest.TimeKubectl(b, box.Kubeconfig(), preview.PlannedBodies(next().Objects), 0, "apply", "--server-side", "--force-conflicts")
	b.ReportMetric(kubectl*1000, "ms-kubectl-apply")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/kubectl, "times-kubectl-apply")
	return each
}
