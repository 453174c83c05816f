package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// What an uninstall leaves is said with the flag that deletes it too, and nothing of what
// it deletes.
func TestAnUninstallSaysWhatItKeeps(t *testing.T) {
	crd := preview.Object{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "a.b", Action: preview.ActionKeep}
	gone, namespace := crd, preview.Object{APIVersion: "v1", Kind: "Namespace", Name: "shop", Action: preview.ActionDelete}
	gone.Name, gone.Action = "c.d", preview.ActionDelete
	const crds, own = "CRD a.b, with its custom resources: --include-crds deletes them", "namespace shop: --include-namespaces deletes it, if the release created it"
	for name, tt := range map[string]struct {
		action  string
		objects []preview.Object
		want    []string
	}{
		"a CRD and the namespace":         {preview.RequestUninstall, []preview.Object{crd, gone}, []string{crds, own}},
		"the CRD, as the namespace goes":  {preview.RequestUninstall, []preview.Object{crd, namespace}, []string{crds}},
		"nothing is said of an upgrade":   {preview.RequestUpgrade, []preview.Object{crd}, nil},
		"nor of a plan without an object": {preview.RequestUninstall, nil, nil},
	} {
		p := &preview.Plan{Release: preview.Release{Name: "shop", Namespace: "shop"}, Request: preview.Request{Action: tt.action}, Objects: tt.objects, Base: preview.Base{Revision: 1}}
		if got := verdict.Kept(p); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		var shown []string
		for _, h := range verdict.Of(p, nil).Changes {
			if h.Topic == preview.TopicKept {
				shown = append(shown, h.Text)
			}
		}
		if !slices.Equal(shown, tt.want) {
			t.Errorf("%s: the changes have %q", name, shown)
		}
	}
}

// Programs get the evidence of each finding as a list.
func TestGroupsHoldTheEvidenceOfTheirFindings(t *testing.T) {
	p := &preview.Plan{Findings: []preview.Finding{
		{ID: "a", Rule: "pod-root", Severity: preview.Warning, Title: "a: b", Evidence: strings.Join([]string{"one", "two"}, preview.EvidenceMark)},
		{ID: "b", Rule: "pod-root", Severity: preview.Info, Title: "c: d"},
	}}
	pieces := map[string][]string{}
	for _, g := range verdict.Of(p, nil).Groups {
		for i, id := range g.Findings {
			pieces[id] = g.Evidence[i]
		}
	}
	if !slices.Equal(pieces["a"], []string{"one", "two"}) || pieces["b"] == nil || len(pieces["b"]) != 0 {
		t.Errorf("the evidence is %q", pieces)
	}
}
