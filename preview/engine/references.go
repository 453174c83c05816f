package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// reference is something a pod template names and does not hold.
type reference struct {
	ref  preview.Ref
	from string // object id
}

// externalReferences lists what the plan's pod templates need and the plan
// does not bring, sorted, each once.
func externalReferences(p *preview.Plan) []preview.Ref {
	var out []preview.Ref
	for _, r := range references(p) {
		out = append(out, r.ref)
	}
	slices.SortFunc(out, func(a, b preview.Ref) int { return strings.Compare(a.ID(), b.ID()) })
	return slices.CompactFunc(out, func(a, b preview.Ref) bool { return a.ID() == b.ID() })
}

func references(p *preview.Plan) []reference {
	brought := broughtBy(p)
	var out []reference
	for i := range p.Objects {
		o := &p.Objects[i]
		pod, _ := preview.PodTemplate(o.Sealed)
		if pod == nil {
			continue
		}
		for _, ref := range preview.PodReferences(pod, o.Namespace) {
			if !brought[ref.ID()] {
				out = append(out, reference{ref: ref, from: o.ID})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b reference) int {
		return cmp.Or(strings.Compare(a.ref.ID(), b.ref.ID()), strings.Compare(a.from, b.from))
	})
	return out
}

// broughtBy lists the ids of what exists once the plan is applied: its
// objects, and the Secrets that cert-manager or service-ca make for them.
func broughtBy(p *preview.Plan) map[string]bool {
	ids := map[string]bool{}
	secret := func(namespace, name string) {
		if name != "" {
			ids[preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: name}.ID()] = true
		}
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Sealed == nil {
			continue
		}
		ids[o.ID] = true
		switch o.GroupKind() {
		case "cert-manager.io/Certificate":
			secret(o.Namespace, preview.String(o.Sealed, "spec", "secretName"))
		case preview.KindService:
			secret(o.Namespace, preview.String(o.Sealed, "metadata", "annotations", "service.beta.openshift.io/serving-cert-secret-name"))
		}
	}
	return ids
}
