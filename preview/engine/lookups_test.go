package engine

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestAnAnswerThatMovedWhileThePlanWasMadeIsRefused(t *testing.T) {
	read := preview.ClusterRead{Kind: preview.ReadLookup, Name: "v1/Secret/x/y", Value: "sha256:1"}
	p := &preview.Plan{
		Packages: []preview.Package{{Name: "demo", Parameters: preview.Parameters{ClusterReads: []preview.ClusterRead{read}}}},
		Reads:    []preview.Read{{ID: read.ID(), Fingerprint: "sha256:1"}},
	}
	if err := checkLookups(p); err != nil {
		t.Errorf("the same answer: %v", err)
	}
	if err := checkRecorded(p, nil); err != nil {
		t.Errorf("the same answer, saved: %v", err)
	}
	p.Reads[0].Fingerprint = preview.LookupAbsent
	if err := checkLookups(p); err == nil || !strings.Contains(err.Error(), "lookup/v1/Secret/x/y is not what the templates read") {
		t.Errorf("another answer: %v", err)
	}
	if err := checkRecorded(p, nil); err == nil || !strings.Contains(err.Error(), "render/lookup/v1/Secret/x/y") {
		t.Errorf("another answer, saved: %v", err)
	}
}

func TestWhatHelmWouldKeepIsKept(t *testing.T) {
	release := preview.Release{Name: "demo", Namespace: "x"}
	live := func(annotations map[string]any) map[string]any {
		body := map[string]any{
			"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{"name": "s", "namespace": "x", "uid": "1", "annotations": annotations},
		}
		preview.Mark(body, release)
		return body
	}
	for name, c := range map[string]struct {
		annotations        map[string]any
		upgrade, uninstall preview.Action
	}{
		"nothing said":             {nil, preview.ActionDelete, preview.ActionDelete},
		"to be kept":               {map[string]any{"helm.sh/resource-policy": "keep"}, preview.ActionKeep, preview.ActionKeep},
		"a hook of an earlier one": {map[string]any{"helm.sh/hook": "pre-install"}, preview.ActionKeep, preview.ActionDelete},
	} {
		t.Run(name, func(t *testing.T) {
			o := &preview.Object{Kind: "Secret", LiveBody: live(c.annotations)}
			upgrade := &builder{recorder: newRecorder(&preview.Plan{Release: release, Packages: []preview.Package{{Name: "demo"}}}, nil, nil)}
			uninstall := &builder{recorder: newRecorder(&preview.Plan{Release: release}, nil, nil)}
			if a, b := upgrade.leftoverAction(o), uninstall.leftoverAction(o); a != c.upgrade || b != c.uninstall {
				t.Errorf("upgrade %s, uninstall %s", a, b)
			}
		})
	}
}
