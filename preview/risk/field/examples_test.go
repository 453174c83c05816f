package field_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/field"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/fieldtest"
)

// TestExamplesAreFound has the rules that a row names look at its example, in the
// kind that is nearest to the field and, for what pods have, in another that makes
// pods. They must find it, and say something else without the field.
func TestExamplesAreFound(t *testing.T) {
	g := fieldtest.NewGenerator()
	tried := 0
	for i, r := range field.Rows() {
		if r.Judgement != field.ByRule && r.Judgement != field.WithRule && r.Judgement != field.OfObject {
			continue
		}
		for _, rule := range r.Rules {
			for _, kind := range g.KindsFor(r, rule, i) {
				tried++
				t.Run(r.Type+" "+r.Field+" "+rule+" "+kind, func(t *testing.T) { tryExample(t, g, r, rule, kind) })
			}
		}
	}
	t.Logf("%d examples", tried)
}

func tryExample(t *testing.T, g *fieldtest.Generator, r field.Row, rule, kind string) {
	bad, good, hasGood := strings.Cut(r.Example, " | ")
	objects := g.Objects(t, r, kind, bad)
	var other any
	if hasGood {
		other = fieldtest.Parse(t, good)
	}
	without := preview.Clone(objects).([]any)
	for _, o := range without {
		g.Replace(o, r, other)
	}
	found, instead := findings(t, objects)[rule], findings(t, without)[rule]
	switch {
	case found == "":
		t.Errorf("it finds nothing in %v", objects)
	case r.Judgement != field.OfObject && found == instead:
		t.Errorf("it says the same without the field, %s, of %v", found, objects)
	}
}

// findings returns severities and evidence by rule, of a plan that creates objects.
func findings(t *testing.T, objects []any) map[string]string {
	t.Helper()
	p := &preview.Plan{Release: preview.Release{Name: "op", Namespace: "app"}}
	var bodies []map[string]any
	for _, o := range objects {
		body := o.(map[string]any)
		bodies = append(bodies, body)
		ref := preview.RefOf(body)
		p.Objects = append(p.Objects, preview.Object{
			ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Action: preview.ActionCreate, Planned: body,
		})
	}
	p.Access.Grants = access.Delta(nil, access.Compute(access.Input{Objects: bodies}))
	p.Cloud = cloud.Delta(preview.Cloud{}, cloud.Scan(cloud.Input{Objects: bodies}))
	list, err := risk.Evaluate(risk.Input{Plan: p})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range list {
		out[f.Rule] += fmt.Sprintf("%s %s: %s; ", f.Severity, f.Title, f.Evidence)
	}
	return out
}
