package applier

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestWhatHelmDoesWithAnObject(t *testing.T) {
	marked := func(extra ...string) map[string]any {
		annotations := map[string]any{helmName: "web", helmNamespace: "shop"}
		for i := 0; i+1 < len(extra); i += 2 {
			annotations[extra[i]] = extra[i+1]
		}
		return map[string]any{"metadata": map[string]any{"labels": map[string]any{helmManagedBy: helmManagedMark}, "annotations": annotations}}
	}
	bare, crd := map[string]any{"metadata": map[string]any{}}, map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
	hook := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"helm.sh/hook": "pre-install, pre-upgrade,test"}}}
	inDir := preview.Origin{File: "charts/sub/crds/a.yaml"}
	for name, tt := range map[string]struct {
		object preview.Object
		fresh  bool
		action preview.Action
		own    bool
		limit  preview.ApplierLimit
	}{
		"a new object":                  {object: preview.Object{Planned: bare}, action: preview.ActionCreate},
		"one that it applied":           {object: preview.Object{Planned: bare, LiveBody: bare, Earlier: bare}, action: preview.ActionUpdate, own: true},
		"one with its marks":            {object: preview.Object{Planned: bare, LiveBody: marked()}, action: preview.ActionUpdate, own: true},
		"one of another":                {object: preview.Object{Planned: bare, LiveBody: bare}, action: preview.ActionBlocked},
		"one that the chart drops":      {object: preview.Object{LiveBody: bare, Earlier: bare}, action: preview.ActionDelete, own: true},
		"one that is to be kept":        {object: preview.Object{LiveBody: marked(helmPolicy, "keep"), Earlier: bare}, action: preview.ActionKeep, own: true, limit: preview.ApplierLimit{What: preview.LimitKept}},
		"a CRD of a subchart":           {object: preview.Object{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Planned: crd, Origin: inDir, LiveBody: bare}, action: preview.ActionSkip, limit: preview.ApplierLimit{What: preview.LimitCRDsKept}},
		"a CRD of a first installation": {object: preview.Object{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Planned: crd, Origin: inDir}, fresh: true, action: preview.ActionCreate},
		"a CRD of a template":           {object: preview.Object{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Planned: crd, Earlier: crd, Origin: preview.Origin{File: "templates/crds/a.yaml"}, LiveBody: bare}, action: preview.ActionUpdate, own: true},
		"a hook that ran before":        {object: preview.Object{Planned: hook, LiveBody: bare}, action: preview.ActionReplace, own: true, limit: preview.ApplierLimit{What: preview.LimitHookRuns, Detail: "pre-upgrade"}},
		"a hook of an installation":     {object: preview.Object{Planned: hook}, fresh: true, action: preview.ActionCreate, limit: preview.ApplierLimit{What: preview.LimitHookRuns, Detail: "pre-install"}},
	} {
		h := &Helm{release: preview.Release{Name: "web", Namespace: "shop"}, exists: !tt.fresh}
		action, own := h.Decide(&tt.object)
		var limits []preview.ApplierLimit
		if tt.limit.What != "" {
			limits = append(limits, tt.limit)
		}
		if action != tt.action || own != tt.own || !slices.Equal(h.about.Limits, limits) {
			t.Errorf("%s: %s, own %t, limits %v", name, action, own, h.about.Limits)
		}
	}
}

func FuzzHelmRecord(f *testing.F) {
	f.Add("%")
	f.Add(`{"name":"web","version":12,"config":{"a":1},"chart":{"metadata":{"name":"web"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, zipped := range []bool{true, false} {
			if got, err := readHelmRecord(held(packedRelease(t, text, zipped))); err == nil && (got.Chart == "" || got.Values == nil) {
				t.Errorf("a record without chart or values: %+v", got)
			}
		}
		_, _ = readHelmRecord(held(text))
	})
}
