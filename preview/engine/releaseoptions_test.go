package engine_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// The record keeps the options that were reviewed: a saved plan where they are others is
// refused, also where all of its digests were computed again.
func TestOptionsOfASavedPlanAreThoseOfItsContent(t *testing.T) {
	content := versionOf(t, "1.0.0", configMap("a", "b"))
	values := map[string]any{"size": int64(3)}
	hash, err := preview.HashValues(values, content.Package.Sources[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	release := preview.Release{Name: "op", Namespace: "app"}
	content.Package.Parameters.Values = hash
	if content.Package.ContentDigest, err = preview.ContentDigest(release, content.Package, content.Objects, nil); err != nil {
		t.Fatal(err)
	}
	plan := func(text string) *preview.Plan {
		p, err := engine.Build(t.Context(), []planned.Content{content}, nil, engine.Options{
			Release: release, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
			ReleaseOptions: &preview.ReleaseOptions{Values: []preview.SetValue{{Keys: []string{"size"}, JSON: text}}},
			OptionChanges:  []preview.OptionChange{{Option: "set", Keys: []string{"size"}, Change: preview.OptionKept, To: text}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return reload(t, encode(t, p))
	}
	verified, _, err := engine.Verify(plan("3"), k8s.NewSchemas())
	if err != nil || len(verified.OptionChanges) != 1 || verified.ReleaseOptions.Values[0].JSON != "3" {
		t.Fatalf("%+v, %v", verified, err)
	}
	if _, _, err := engine.Verify(plan("4"), k8s.NewSchemas()); err == nil || !strings.Contains(err.Error(), "the values for its record belong to no package of the plan") {
		t.Errorf("with other values: %v", err)
	}
	for name, change := range map[string]func(*preview.Plan){
		"the platform":    func(p *preview.Plan) { p.ReleaseOptions.Platform = "linux/arm64" },
		"none":            func(p *preview.Plan) { p.ReleaseOptions = nil },
		"what is said":    func(p *preview.Plan) { p.OptionChanges[0].To = "5" },
		"nothing is said": func(p *preview.Plan) { p.OptionChanges = nil },
		"a value withheld": func(p *preview.Plan) {
			p.ReleaseOptions.Values[0] = preview.SetValue{Keys: []string{"size"}, Withheld: true}
		},
	} {
		forged := plan("3")
		change(forged)
		if _, _, err := engine.Verify(forged, k8s.NewSchemas()); err == nil || !strings.Contains(err.Error(), "does not hold together") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
