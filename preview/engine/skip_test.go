package engine

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// What another tool skips it leaves as it is, of whatever kind; what this program skips is of a
// kind that no CRD defines.
func TestWhatAToolSkipsIsNoKindThatIsNotServed(t *testing.T) {
	o := preview.Object{ID: "ServiceMonitor", APIVersion: "monitoring.coreos.com/v1", Kind: "ServiceMonitor", Name: "a", Action: preview.ActionSkip}
	o.Planned = map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "metadata": map[string]any{"name": "a"}}
	for name, tt := range map[string]struct {
		by   *preview.Applier
		want int
	}{
		"by this program": {nil, 1},
		"by Flux":         {&preview.Applier{Tool: preview.ApplierFlux}, 0},
	} {
		plan := &preview.Plan{AppliedBy: tt.by, Objects: []preview.Object{o}}
		if found := (skippedObjects{}).findings(&decidedPlan{plan: plan}); len(found) != tt.want {
			t.Errorf("%s: findings %+v", name, found)
		}
	}
}
