package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// brokenConversions is the check for CRDs that stay although the Service is deleted that
// converts their objects between versions. The plan does not change the CRD itself: it has
// no content for it, and whether objects may stay as they are in another version is for
// those who know them.
type brokenConversions struct{ noCheck }

func (brokenConversions) findings(of *decidedPlan) []preview.Finding {
	var out []preview.Finding
	for i := range of.plan.Objects {
		o := &of.plan.Objects[i]
		if o.Action != preview.ActionKeep || !o.Is(preview.KindCustomResourceDefinition) || o.LiveBody == nil {
			continue
		}
		service := conversionService(o.LiveBody)
		versions := schema.LiveVersions(o.LiveBody)
		if len(versions) < 2 || !deletesService(of.plan, service) {
			continue
		}
		advice := "they have the same schema and need no conversion; after the removal"
		if !schema.SameSchema(o.LiveBody, versions) {
			advice = "their schemas differ, and without conversion fields that one lacks are lost; if that is right, after the removal"
		}
		out = append(out, rules.CRDConversionLost.Finding(o.ID, rules.CRDConversionLost.Of(o.Label()),
			preview.Piece{Object: o.ID, What: fmt.Sprintf("Service %s/%s is deleted", service.Namespace, service.Name)},
			preview.Piece{What: "versions " + strings.Join(versions, ", ")},
			preview.Piece{What: fmt.Sprintf(
				"%s: kubectl patch crd %s --type=merge -p '{\"spec\":{\"conversion\":{\"strategy\":\"None\",\"webhook\":null}}}'", advice, o.Name)}))
	}
	return out
}

// conversionService returns the Service of a CRD's conversion webhook; without a name if it
// has none.
func conversionService(crd map[string]any) preview.Ref {
	conversion := preview.Map(crd, "spec", "conversion")
	if preview.String(conversion, "strategy") != "Webhook" {
		return preview.Ref{}
	}
	service := preview.Map(conversion, "webhook", "clientConfig", "service")
	return preview.Ref{APIVersion: "v1", Kind: "Service", Namespace: preview.String(service, "namespace"), Name: preview.String(service, "name")}
}

// deletesService reports whether the plan deletes a Service, or its namespace.
func deletesService(p *preview.Plan, service preview.Ref) bool {
	namespace := preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: service.Namespace}
	return service.Name != "" && slices.ContainsFunc(p.Objects, func(o preview.Object) bool {
		return o.Action == preview.ActionDelete && (o.ID == service.ID() || o.ID == namespace.ID())
	})
}
