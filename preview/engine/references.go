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
		for _, ref := range podReferences(pod, o.Namespace) {
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

// podReferences lists what must exist for a pod to start. Optional references
// and what every cluster has (the default ServiceAccount) are left out.
func podReferences(pod map[string]any, namespace string) []preview.Ref {
	var refs []preview.Ref
	add := func(apiVersion, kind, ns, name string) {
		if name != "" {
			refs = append(refs, preview.Ref{APIVersion: apiVersion, Kind: kind, Namespace: ns, Name: name})
		}
	}
	if sa := preview.String(pod, "serviceAccountName"); sa != "default" {
		add("v1", "ServiceAccount", namespace, sa)
	}
	if class := preview.String(pod, "priorityClassName"); !strings.HasPrefix(class, "system-") {
		add("scheduling.k8s.io/v1", "PriorityClass", "", class)
	}
	for _, v := range preview.Maps(pod, "volumes") {
		refs = append(refs, sourceReferences(v, namespace, "secretName")...)
		for _, source := range preview.Maps(preview.Map(v, "projected"), "sources") {
			refs = append(refs, sourceReferences(source, namespace, "name")...)
		}
		add("v1", "PersistentVolumeClaim", namespace, preview.String(v, "persistentVolumeClaim", "claimName"))
	}
	for _, field := range []string{"initContainers", "containers"} {
		for _, container := range preview.Maps(pod, field) {
			refs = append(refs, containerReferences(container, namespace)...)
		}
	}
	return refs
}

// sourceReferences reads a volume (secretName) or projected source (name).
func sourceReferences(v map[string]any, namespace, secretKey string) []preview.Ref {
	var refs []preview.Ref
	if s := preview.Map(v, "secret"); s != nil && s["optional"] != true && preview.String(s, secretKey) != "" {
		refs = append(refs, preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: preview.String(s, secretKey)})
	}
	if c := preview.Map(v, "configMap"); c != nil && c["optional"] != true && preview.String(c, "name") != "" {
		refs = append(refs, preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: preview.String(c, "name")})
	}
	return refs
}

func containerReferences(container map[string]any, namespace string) []preview.Ref {
	var refs []preview.Ref
	one := func(source map[string]any, secretField, configField string) {
		for field, kind := range map[string]string{secretField: "Secret", configField: "ConfigMap"} {
			s := preview.Map(source, field)
			if name := preview.String(s, "name"); name != "" && s["optional"] != true {
				refs = append(refs, preview.Ref{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name})
			}
		}
	}
	for _, env := range preview.Maps(container, "env") {
		one(preview.Map(env, "valueFrom"), "secretKeyRef", "configMapKeyRef")
	}
	for _, from := range preview.Maps(container, "envFrom") {
		one(from, "secretRef", "configMapRef")
	}
	return refs
}
