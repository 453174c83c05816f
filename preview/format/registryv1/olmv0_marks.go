package registryv1

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// The labels that OLM v0 finds its objects by.
const (
	managedLabel        = "olm.managed"
	ownerNamespaceLabel = "olm.owner.namespace"
	ownerKindLabel      = "olm.owner.kind"
)

// owner says how OLM writes that the ClusterServiceVersion owns an object. Uids are left to
// the caller.
type owner struct{ reference, labels bool }

// mark adds the marks of OLM v0 to an object.
func (b *bundle) mark(body map[string]any, p params, by owner) {
	ref := preview.RefOf(body)
	preview.SetMetadata(body, "labels", managedLabel, "true")
	namespace := p.namespace
	if by.reference && ref.Namespace != "" {
		namespace = ref.Namespace // which has a copy of the ClusterServiceVersion
		refersTo(body, csvAPI, csvKind, b.csv.name)
	}
	if by.labels {
		preview.SetMetadata(body, "labels", ownerLabel, b.csv.name)
		preview.SetMetadata(body, "labels", ownerNamespaceLabel, namespace)
		preview.SetMetadata(body, "labels", ownerKindLabel, csvKind)
	}
	adopted := by.reference || by.labels ||
		slices.ContainsFunc(b.csv.ownedAPIs(), func(api ownedAPI) bool { return ref.Kind == "CustomResourceDefinition" && api.Name == ref.Name })
	if adopted && namespace == p.namespace && slices.Contains(componentKinds(), ref.Kind) {
		preview.SetMetadata(body, "labels", ComponentLabel(b.packageName, p.namespace), "")
	}
}

// componentKinds are the kinds that OLM adopts for an Operator
// (pkg/controller/operators/components.go).
func componentKinds() []string {
	return []string{
		"ClusterRole", "ClusterRoleBinding", "ConfigMap", "CustomResourceDefinition", "Deployment", "Role", "RoleBinding", "Secret",
		"Service", "ServiceAccount",
	}
}

// ComponentLabel is the label of what OLM v0 installs of a package in a namespace.
func ComponentLabel(pkg, namespace string) string {
	name := pkg + "." + namespace
	return "operators.coreos.com/" + strings.TrimRight(name[:min(len(name), maxName)], "._-")
}

// refersTo adds an owner reference without its uid.
func refersTo(body map[string]any, apiVersion, kind, name string) {
	meta := child(body, "metadata")
	meta["ownerReferences"] = append(preview.List(meta, "ownerReferences"), map[string]any{
		"apiVersion": apiVersion, "kind": kind, "name": name, "controller": false, "blockOwnerDeletion": false,
	})
}

// ownerOfManifest returns how OLM marks an object of the bundle (pkg/controller/operators/
// catalog/operator.go, ExecutePlan).
func ownerOfManifest(body map[string]any) owner {
	switch kind := preview.String(body, "kind"); {
	case kind == "Role", kind == "RoleBinding", kind == "ClusterRole", kind == "ClusterRoleBinding", kind == "ServiceAccount":
		return owner{}
	case preview.RefOf(body).Namespace != "":
		return owner{reference: true}
	}
	return owner{labels: true}
}

// stepFields are the fields of the kinds that OLM decodes into Go types by their name alone,
// of whatever API group they are, and the version that it writes them in.
func stepFields() map[string][]string {
	const core, rbac = "v1", rbacGroup + "/v1"
	return map[string][]string{
		"Role": {rbac, "rules"}, "ClusterRole": {rbac, "rules", "aggregationRule"}, "RoleBinding": {rbac, "subjects", "roleRef"},
		"ClusterRoleBinding": {rbac, "subjects", "roleRef"},
		"ServiceAccount":     {core, "secrets", "imagePullSecrets", "automountServiceAccountToken"},
		"Service":            {core, "spec"}, "ConfigMap": {core, "data", "binaryData", "immutable"},
		"Secret": {core, "data", "stringData", "type", "immutable"},
	}
}

// stepManifests returns the other objects of the bundle as OLM reads them.
func stepManifests(b *bundle, p params) ([]format.RenderedObject, error) {
	objects, err := additionalManifests(b, p)
	for i := range objects {
		fields, ok := stepFields()[preview.String(objects[i].Body, "kind")]
		if !ok {
			continue
		}
		body := map[string]any{"apiVersion": fields[0], "kind": objects[i].Body["kind"], "metadata": objects[i].Body["metadata"]}
		for _, field := range fields[1:] {
			if v, has := objects[i].Body[field]; has {
				body[field] = v
			}
		}
		objects[i].Body = body
	}
	return objects, err
}

// generator makes objects, and says how OLM marks one.
type generator struct {
	objects func(*bundle, params) ([]format.RenderedObject, error)
	owner   func(body map[string]any) owner
}

// generators returns what makes the objects, in the order of the steps.
func (b *bundle) generators(s *serving) []generator {
	always := func(by owner) func(map[string]any) owner { return func(map[string]any) owner { return by } }
	return []generator{
		{s.definitions, always(owner{})},
		{stepManifests, ownerOfManifest},
		{serviceAccounts, always(owner{reference: true})},
		{stepRoles, func(body map[string]any) owner {
			return owner{reference: preview.RefOf(body).Namespace != "", labels: true}
		}},
		{s.objects, func(body map[string]any) owner {
			switch ref := preview.RefOf(body); ref.Namespace {
			case "":
				return owner{labels: true}
			case kubeSystem:
				return owner{}
			}
			return owner{reference: true}
		}},
		{s.secrets, always(owner{reference: true})},
		{s.deployments, always(owner{reference: true, labels: true})},
		{s.configurations, always(owner{labels: true})},
	}
}

const kubeSystem = "kube-system"
