package verdict_test

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// The verdict lists the objects that an uninstall leaves, with the flag that deletes them
// too, and none of the deleted ones.
func TestAnUninstallSaysWhatItKeeps(t *testing.T) {
	crd := preview.Object{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "a.b", Action: preview.ActionKeep}
	held := preview.Object{ID: "core/PersistentVolumeClaim/shop/data", APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data", Action: preview.ActionKeep}
	foreign := crd
	foreign.ID, foreign.LiveBody = "apiextensions.k8s.io/CustomResourceDefinition/-/a.b", map[string]any{"metadata": map[string]any{"labels": map[string]any{preview.LabelPartOf: "applyset-of-another"}}}
	helms := crd
	helms.Format, helms.LiveBody = "helm", map[string]any{"metadata": map[string]any{"annotations": map[string]any{"helm.sh/resource-policy": "keep"}}}
	gone, namespace := crd, preview.Object{APIVersion: "v1", Kind: "Namespace", Name: "shop", Action: preview.ActionDelete}
	gone.Name, gone.Action = "c.d", preview.ActionDelete
	const crds, own = "CRD a.b, with its custom resources: --include-crds deletes them", "namespace shop: --include-namespaces deletes it, if the release created it"
	for name, tt := range map[string]struct {
		action   string
		objects  []preview.Object
		want     []string
		included bool // by --include-crds and --include-namespaces
	}{
		"a CRD and the namespace":            {preview.RequestUninstall, []preview.Object{crd, gone}, []string{crds, own}, false},
		"the CRD, as the namespace goes":     {preview.RequestUninstall, []preview.Object{crd, namespace}, []string{crds}, false},
		"what no flag deletes":               {preview.RequestUninstall, []preview.Object{held, foreign}, []string{"PersistentVolumeClaim data, as it is", "CustomResourceDefinition a.b, as it is", own}, false},
		"a CRD that Helm's annotation keeps": {preview.RequestUninstall, []preview.Object{helms}, []string{"CRD a.b, with its custom resources, as its annotation helm.sh/resource-policy asks", own}, false},
		"that CRD, with the flags":           {preview.RequestUninstall, []preview.Object{helms, namespace}, []string{"CRD a.b, with its custom resources, as its annotation helm.sh/resource-policy asks"}, true},
		"what stays in spite of the flags":   {preview.RequestUninstall, []preview.Object{crd}, []string{"CRD a.b, with its custom resources, as it is", "namespace shop, as it is"}, true},
		"nothing is said of an upgrade":      {preview.RequestUpgrade, []preview.Object{crd}, nil, false},
		"nor of a plan without an object":    {preview.RequestUninstall, nil, nil, false},
	} {
		p := &preview.Plan{Release: preview.Release{Name: "shop", Namespace: "shop"}, Request: preview.Request{Action: tt.action}, Objects: tt.objects, Base: preview.Base{Revision: 1}}
		p.Options.IncludeCRDs, p.Options.IncludeNamespaces = tt.included, tt.included
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

// How many custom resources a CRD that stays has is said where it was counted, survives
// that a policy judges the findings, and is no part of what follows from the plan alone.
func TestWhatAnUninstallKeepsIsCounted(t *testing.T) {
	release := preview.Release{Name: "shop", Namespace: "shop"}
	live := map[string]any{"metadata": map[string]any{"name": "a.b"}}
	crd := func(name string, action preview.Action) preview.Object {
		return preview.Object{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: name, Action: action, LiveBody: live}
	}
	p := &preview.Plan{
		Release: release, Request: preview.Request{Action: preview.RequestUninstall}, Base: preview.Base{Revision: 1},
		Objects: []preview.Object{crd("a.b", preview.ActionKeep), crd("c.d", preview.ActionDelete)},
	}
	p.Verdict = verdict.Of(p, nil)
	uncounted := verdict.Kept(p)
	var asked []string
	count := func(crd *preview.Object) (string, error) {
		asked = append(asked, crd.Name)
		return "3 objects are stored", nil
	}
	if err := verdict.CountKept(p, count); err != nil {
		t.Fatal(err)
	}
	want := []string{"CRD a.b, with its custom resources (3 objects are stored): --include-crds deletes them", uncounted[1]}
	verdict.Renew(p)
	if got := verdict.Kept(p); !slices.Equal(got, want) || !slices.Equal(asked, []string{"a.b"}) {
		t.Errorf("kept: %q, want %q; counted: %q", got, want, asked)
	}
	p.Verdict = verdict.Of(p, nil)
	if got := verdict.Kept(p); !slices.Equal(got, uncounted) {
		t.Errorf("without a cluster: %q, want %q", got, uncounted)
	}
	upgrade := *p
	upgrade.Request.Action = preview.RequestUpgrade
	if err := verdict.CountKept(&upgrade, count); err != nil || len(asked) != 1 {
		t.Errorf("an upgrade counts %q, %v", asked, err)
	}
}

// Programs get the evidence of each finding as a list.
func TestGroupsHoldTheEvidenceOfTheirFindings(t *testing.T) {
	p := &preview.Plan{Findings: []preview.Finding{
		{ID: "a", Rule: "pod-root", Severity: preview.Warning, Title: "a: b", Pieces: []preview.Piece{{Text: "one"}, {Text: "two"}}},
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
