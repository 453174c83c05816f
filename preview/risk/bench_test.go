package risk

import (
	"fmt"
	"maps"
	"path/filepath"
	"testing"

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
	for b.Loop() {
		evaluate(b, Input{Plan: p})
	}
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
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				evaluate(b, Input{Plan: p})
			}
		})
	}
}

// repeated returns a plan of n objects, made of those of another under other names.
func repeated(of *preview.Plan, n int) *preview.Plan {
	p := &preview.Plan{Release: of.Release}
	var bodies []map[string]any
	for i := range n {
		from := of.Objects[i%len(of.Objects)].Planned
		body := maps.Clone(from)
		meta, _ := from["metadata"].(map[string]any)
		meta = maps.Clone(meta)
		meta["name"] = fmt.Sprintf("%v-%d", meta["name"], i/len(of.Objects))
		body["metadata"] = meta
		bodies = append(bodies, body)
		p.Objects = append(p.Objects, object(body))
	}
	p.Access.Grants = access.Delta(nil, access.Compute(access.Input{Objects: bodies}))
	return p
}

// BenchmarkTables prints how much the tables judge. Their tests hold them to be
// total.
func BenchmarkTables(b *testing.B) {
	var rights, cloud int
	for b.Loop() {
		rights, cloud = 0, 0
		for _, resource := range right.Known() {
			rights += len(resource.Verbs)
		}
		for _, rows := range cloudtable.Grants() {
			cloud += len(rows)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(len(table())), "rules")
	b.ReportMetric(float64(len(right.Known())), "resources")
	b.ReportMetric(float64(rights), "rights")
	b.ReportMetric(float64(rights*len(rightScopes)), "rights×scopes")
	b.ReportMetric(float64(len(deputy.Kinds())), "operators'-kinds")
	b.ReportMetric(float64(cloud), "cloud-grants")
	fields, by := field.Counts()
	b.ReportMetric(float64(len(field.Kinds())), "kinds")
	b.ReportMetric(float64(fields), "fields")
	for _, judgement := range []string{field.Harmless, field.ByRule, field.WithRule, field.OfObject} {
		b.ReportMetric(float64(by[judgement]), "fields-"+judgement)
	}
}
