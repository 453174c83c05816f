package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
)

// What a tool does not do is said in words, and not by the name that JSON has for it.
func TestEveryLimitOfAToolHasWords(t *testing.T) {
	for _, limit := range preview.Limits() {
		p := &preview.Plan{AppliedBy: &preview.Applier{
			Tool: preview.ApplierHelm, Method: preview.MethodApply, Manager: "helm",
			Limits: []preview.ApplierLimit{{What: limit, Object: "core/ConfigMap/shop/a", Detail: "detail"}},
		}}
		var out strings.Builder
		if err := report.Write(&out, p, report.Options{Format: "text"}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		if strings.Contains(text, " "+string(limit)+": ConfigMap") || !strings.Contains(text, "ConfigMap shop/a") || !strings.Contains(text, "detail") {
			t.Errorf("%s: %s", limit, text)
		}
	}
}

// The first lines say who applies the plan, and whether it did before.
func TestTheHeadSaysWhoAppliesThePlan(t *testing.T) {
	for want, by := range map[string]preview.Applier{
		"Helm, which installed it: revision 7, deployed": {Tool: preview.ApplierHelm, Revision: 7, State: "deployed"},
		"Helm, which has not installed it yet":           {Tool: preview.ApplierHelm},
		"Flux helm-controller, which installed it: HelmRelease shop/web, revision 7": {
			Tool: preview.ApplierFlux, Controller: "helm-controller", Object: "helm.toolkit.fluxcd.io/HelmRelease/shop/web", Revision: 7,
		},
		"Flux kustomize-controller, which has not installed it yet: Kustomization flux-system/apps": {
			Tool: preview.ApplierFlux, Controller: "kustomize-controller", Object: "kustomize.toolkit.fluxcd.io/Kustomization/flux-system/apps",
		},
	} {
		if got := review.AppliedBy(&preview.Plan{AppliedBy: &by}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, tool := range preview.Appliers() {
		if by := (&preview.Applier{Tool: tool}); by.Name() == "" || slices.Contains([]string{"flux", "argocd", "olmv0", "olmv1", "helm"}, by.Name()) {
			t.Errorf("%s has the name %q", tool, by.Name())
		}
	}
}
