package risk

import (
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudtable"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/field"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
)

func BenchmarkEvaluateLargestBundle(b *testing.B) {
	p, _ := planOfBundle(b, filepath.Join(corpustest.Dir(b, "bundles"), "argocd-operator", "0.18.0"))
	if p == nil {
		b.Fatal("the bundle is refused")
	}
	measure(b, p)
}

// measure judges a plan again and again. It reports the processor time of one judgement,
// which other work on the machine changes less than the time that passes.
func measure(b *testing.B, p *preview.Plan) {
	b.Helper()
	b.ReportAllocs()
	in := Input{Plan: p}
	in.Reach.Roles.Objects = preview.PlannedBodies(p.Objects)
	runtime.GC() // what the plan was made of is not to be collected while it is judged
	before := userTime(b)
	for b.Loop() {
		evaluate(b, in)
	}
	b.ReportMetric(float64((userTime(b)-before).Microseconds())/1e3/float64(b.N), "user-ms/op")
}

// userTime returns the processor time of this process outside of the kernel.
func userTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano())
}

// BenchmarkEvaluateObjects shows that judging is linear in the objects: those of
// the largest bundle, again and again in other namespaces and under other names.
func BenchmarkEvaluateObjects(b *testing.B) {
	bundle, _ := planOfBundle(b, filepath.Join(corpustest.Dir(b, "bundles"), "argocd-operator", "0.18.0"))
	if bundle == nil {
		b.Fatal("the bundle is refused")
	}
	for _, n := range []int{1250, 2500, 5000} {
		p := repeated(bundle, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) { measure(b, p) })
	}
}

// BenchmarkEvaluateMixture judges the objects of all bundles of the corpus as one
// package, again and again under other names, up to the size that a package may have.
func BenchmarkEvaluateMixture(b *testing.B) {
	dirs, err := filepath.Glob(filepath.Join(corpustest.Dir(b, "bundles"), "*", "*"))
	if err != nil || len(dirs) == 0 {
		b.Fatalf("no bundles: %v", err)
	}
	all := &preview.Plan{Release: preview.Release{Name: "op", Namespace: "app"}}
	for _, dir := range dirs {
		if p, _ := planOfBundle(b, dir); p != nil {
			all.Objects = append(all.Objects, p.Objects...)
		}
	}
	for _, n := range []int{1250, 2500, 5000} {
		p := repeated(all, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) { measure(b, p) })
	}
}

// maxPackage is the most bytes of content that a bundle may have (maxBundleBytes of
// preview/format/registryv1).
const maxPackage = 64 << 20

// repeated returns a plan of n objects, made of those of another under other names.
// Definitions are left out once the package would be larger than any may be.
func repeated(of *preview.Plan, n int) *preview.Plan {
	p := &preview.Plan{Release: of.Release}
	var bodies []map[string]any
	sizes, size := map[int]int{}, 0
	for i := 0; len(p.Objects) < n; i++ {
		at := i % len(of.Objects)
		from := of.Objects[at].Planned
		if sizes[at] == 0 {
			data, err := preview.Canonical(from)
			if err != nil {
				panic(err)
			}
			sizes[at] = len(data)
		}
		if size += sizes[at]; size > maxPackage && preview.IsKind(from, preview.KindCustomResourceDefinition) {
			size -= sizes[at]
			continue
		}
		body := renamed(from, fmt.Sprintf("-%d", i/len(of.Objects)))
		bodies = append(bodies, body)
		p.Objects = append(p.Objects, object(body))
	}
	p.Access.Grants = access.Delta(nil, access.Compute(access.Input{Objects: bodies}))
	return p
}

// renamed returns a copy of an object under another name. What it names of the same
// package, such as the role and accounts of a binding, has the other name too.
func renamed(from map[string]any, suffix string) map[string]any {
	body := maps.Clone(from)
	if !preview.IsKind(from, preview.KindCustomResourceDefinition) {
		body = preview.CloneBody(from)
	}
	meta, _ := body["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	meta["name"] = fmt.Sprint(meta["name"], suffix)
	body["metadata"] = meta
	if role := preview.Map(body, "roleRef"); role != nil {
		role["name"] = fmt.Sprint(role["name"], suffix)
	}
	for _, subject := range preview.Maps(body, "subjects") {
		subject["name"] = fmt.Sprint(subject["name"], suffix)
	}
	if pod, _ := preview.PodTemplate(body); pod != nil && pod["serviceAccountName"] != nil {
		pod["serviceAccountName"] = fmt.Sprint(pod["serviceAccountName"], suffix)
	}
	return body
}

// BenchmarkTables prints how much the tables judge. Their tests hold them to be
// total.
func BenchmarkTables(b *testing.B) {
	var rights, cloud int
	verbs := map[string]bool{}
	for b.Loop() {
		rights, cloud = 0, 0
		for _, resource := range right.Known() {
			rights += len(resource.Verbs)
			for _, verb := range resource.Verbs {
				verbs[verb] = true
			}
		}
		for _, rows := range cloudtable.Grants() {
			cloud += len(rows)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(len(table())), "rules")
	b.ReportMetric(float64(len(right.Known())), "resources")
	b.ReportMetric(float64(len(verbs)), "verbs")
	b.ReportMetric(float64(rights), "rights")
	b.ReportMetric(float64(rights*len(rightScopes)), "rights×scopes")
	b.ReportMetric(float64(len(deputy.Kinds())), "operators'-kinds")
	b.ReportMetric(float64(cloud), "cloud-grants")
	b.ReportMetric(float64(len(joinedHazards(b))), "joined-fields")
	b.ReportMetric(float64(len(disguises())), "disguises")
	fields, by := field.Counts()
	b.ReportMetric(float64(len(field.Kinds())), "kinds")
	b.ReportMetric(float64(fields), "fields")
	for _, judgement := range []string{field.Harmless, field.ByRule, field.WithRule, field.OfObject} {
		b.ReportMetric(float64(by[judgement]), "fields-"+judgement)
	}
}
