package controlplane

import (
	"bytes"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestKwokConfig(t *testing.T) {
	config, err := kwokConfig()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for doc := range bytes.SplitSeq(config, []byte("\n---\n")) {
		var stage struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct{ Next map[string]any }
		}
		if err := yaml.Unmarshal(doc, &stage); err != nil {
			t.Fatalf("document %d: %v", len(names)+1, err)
		}
		if stage.Kind != "Stage" || len(stage.Spec.Next) == 0 {
			t.Errorf("document %d is not a stage with a next state: %+v", len(names)+1, stage)
		}
		names = append(names, stage.Metadata.Name)
	}
	want := []string{
		"pod-ready", "pod-complete", "pod-delete", "node-initialize", "node-heartbeat-with-lease",
	}
	for _, f := range faults {
		want = append(want, "pod-fault-"+f.name)
	}
	if !slices.Equal(names, want) {
		t.Errorf("stages %q, want %q", names, want)
	}
	if n := bytes.Count(config, []byte(`.metadata.annotations["kubectl-operator/sandbox-fault"]`)); n != 2 {
		t.Errorf("%d stages leave out pods with a fault, want pod-ready and pod-complete", n)
	}
}

func TestExceptFaultsRefusesAStageWithoutSelector(t *testing.T) {
	for _, stage := range []string{"kind: Stage", "spec: {selector: {matchExpressions: {}}}", "["} {
		if got, err := exceptFaults(stage); err == nil {
			t.Errorf("exceptFaults(%q) = %q, want an error", stage, got)
		}
	}
}
