package engine

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// What the tool that applies skips of itself is served; what no CRD defines is not.
func TestWhatAToolSkipsIsNoKindThatIsNotServed(t *testing.T) {
	object := func(apiVersion, kind string) preview.Object {
		o := preview.Object{ID: kind, APIVersion: apiVersion, Kind: kind, Name: "a", Action: preview.ActionSkip}
		o.Planned = map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "a"}}
		return o
	}
	definition, absent := object("apiextensions.k8s.io/v1", "CustomResourceDefinition"), object("monitoring.coreos.com/v1", "ServiceMonitor")
	live, ignored := object("example.com/v1", "Live"), object("example.com/v1", "Ignored")
	live.LiveBody = live.Planned
	plan := &preview.Plan{
		AppliedBy: &preview.Applier{Limits: []preview.ApplierLimit{{What: preview.LimitIgnored, Object: "Ignored"}}},
		Objects:   []preview.Object{definition, absent, live, ignored},
	}
	found := skippedObjects{}.findings(&decidedPlan{plan: plan})
	if len(found) != 1 || found[0].Object != "ServiceMonitor" {
		t.Errorf("findings %+v", found)
	}
}
