package registryv1

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/big"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// OLMv0 renders bundles as OLM v0 installs them: the steps of an InstallPlan, and what its
// operator makes of the ClusterServiceVersion. That and its OperatorCondition are records of
// OLM, and left out (operator-lifecycle-manager v0.40.0). Owner references have no uids: the
// owner may not exist yet.
type OLMv0 struct {
	bundleFormat
	// Group is the name of the OperatorGroup.
	Group string
	// Properties are the bundle's properties in the catalog; nil to take them from the bundle.
	Properties []Property
}

// Property is a property of a bundle.
type Property struct {
	Type  string `json:"type"`
	Value any    `json:"value"`
}

// Kinds and annotations that OLM v0 makes.
const (
	csvAPI                  = "operators.coreos.com/v1alpha1"
	operatorGroupAnnotation = "olm.operatorGroup"
	propertiesAnnotation    = "operatorframework.io/properties"
	conditionVariable       = "OPERATOR_CONDITION_NAME"
	specHashLabel           = "olm.deployment-spec-hash"
	rulesHashLabel          = "olm.permissions.hash"
)

// Render returns the objects in the order of the steps.
func (f OLMv0) Render(ctx context.Context, in format.Input) (*format.Output, error) {
	b, err := loadBundle(ctx, in.Content)
	if err != nil {
		return nil, err
	}
	if err := validate(b); err != nil {
		return nil, err
	}
	in.Params.Certs = certsNone
	p, err := resolve(ctx, b, in)
	if err != nil {
		return nil, err
	}
	p.certs = ""
	if err := f.annotate(b, p); err != nil {
		return nil, err
	}
	out := &format.Output{
		Annotations: b.csv.annotations, Required: b.missingAPIs(), RelatedImages: b.csv.relatedImages,
		Resolved: preview.Parameters{InstallMode: p.mode, WatchNamespaces: []string{}},
	}
	if !p.allNamespaces() {
		out.Resolved.WatchNamespaces = slices.Clone(p.targets)
	}
	serving, err := readServing(ctx, b, p, in.Cluster, f.Group)
	if err != nil {
		return nil, err
	}
	for _, g := range b.generators(serving) {
		objects, err := g.objects(b, p)
		if err != nil {
			return nil, fmt.Errorf("rendering %s as OLM v0: %w", b.csv.name, err)
		}
		for _, o := range objects {
			b.mark(o.Body, p, g.owner(o.Body))
		}
		out.Objects = append(out.Objects, objects...)
	}
	for _, o := range b.rolesOfAPIs() {
		preview.SetMetadata(o.Body, "labels", managedLabel, "true")
		out.Objects = append(out.Objects, o)
	}
	return out, b.dropDuplicates(out)
}

// annotate adds to the annotations of the ClusterServiceVersion, which every pod template
// gets, those that OLM adds.
func (f OLMv0) annotate(b *bundle, p params) error {
	properties := f.Properties
	if properties == nil {
		properties = b.ownProperties()
	}
	text, err := json.Marshal(map[string]any{"properties": properties})
	if err != nil {
		return err
	}
	if b.csv.annotations == nil {
		b.csv.annotations = map[string]string{}
	}
	if own := preview.Map(b.csv.body, "metadata", "annotations"); own[keyProperties] == nil {
		delete(b.csv.annotations, keyProperties) // which is of metadata/properties.yaml, as OLM v1 has it
	} else {
		b.csv.annotations[keyProperties] = preview.String(own, keyProperties)
	}
	b.csv.annotations[propertiesAnnotation] = string(text)
	b.csv.annotations[operatorGroupAnnotation] = f.Group
	b.csv.annotations[operatorNamespaceAnnotation] = p.namespace
	b.csv.annotations[targetNamespacesAnnotation] = strings.Join(p.targets, ",")
	return nil
}

// ownProperties returns the properties that a catalog has of a bundle as opm renders it: its
// APIs and its package.
func (b *bundle) ownProperties() []Property {
	var out []Property
	for _, api := range b.csv.ownedAPIs() {
		out = append(out, Property{"olm.gvk", map[string]any{"group": api.Group(), "kind": api.Kind, "version": api.version()}})
	}
	return append(out, Property{"olm.package", map[string]any{"packageName": b.packageName, "version": b.csv.version}})
}

// ownedAPI is an entry of customresourcedefinitions.owned.
type ownedAPI struct{ preview.Ref }

func (a ownedAPI) version() string { return a.APIVersion[strings.LastIndex(a.APIVersion, "/")+1:] }

func (a ownedAPI) plural() string {
	plural, _, _ := strings.Cut(a.Name, ".")
	return plural
}

// hash returns the hash of an API in OLM's labels: of Kind.Version.Group.
func (a ownedAPI) hash() string {
	h := fnv.New64a()
	h.Write([]byte(strings.Join([]string{a.Kind, a.version(), a.Group()}, ".")))
	return fmt.Sprintf("%x", h.Sum64())
}

func (c *csv) ownedAPIs() []ownedAPI {
	var out []ownedAPI
	for _, m := range preview.Maps(preview.Map(c.body, "spec", "customresourcedefinitions"), "owned") {
		_, group, _ := strings.Cut(preview.String(m, "name"), ".")
		out = append(out, ownedAPI{preview.Ref{
			APIVersion: group + "/" + preview.String(m, "version"), Kind: preview.String(m, "kind"), Name: preview.String(m, "name"),
		}})
	}
	return out
}

// defaultTemplate sets the defaults of a pod template that the schema of ClusterServiceVersions
// has: OLM hashes what it reads back.
func defaultTemplate(spec map[string]any) {
	pod := preview.Map(spec, "template", "spec")
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, c := range preview.Maps(pod, list) {
			for _, port := range preview.Maps(c, "ports") {
				zero(port, map[string]any{"protocol": "TCP"})
			}
			for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
				if grpc := preview.Map(c, probe, "grpc"); grpc != nil {
					zero(grpc, map[string]any{"service": ""})
				}
			}
		}
	}
}

// typed returns a value as a Go type of the API writes it to JSON, which is what OLM hashes.
func typed[T any](v any) (map[string]any, []byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, nil, err
	}
	var of T
	if err := json.Unmarshal(data, &of); err != nil {
		return nil, nil, err
	}
	if data, err = json.Marshal(of); err != nil {
		return nil, nil, err
	}
	decoded, err := preview.DecodeJSON(data)
	body, _ := decoded.(map[string]any) // of a struct
	return body, data, err
}

// hash62 is the hash in OLM's names and labels: the SHA-224 in base 62.
func hash62(data []byte) string {
	sum := sha256.Sum224(data)
	return new(big.Int).SetBytes(sum[:]).Text(62)
}

// hashOf62 is [hash62] of a value's JSON, with the newline that Go's encoder writes.
func hashOf62(v any) (string, error) {
	data, err := json.Marshal(v)
	return hash62(append(data, '\n')), err
}

func zero(m, values map[string]any) {
	for key, v := range values {
		if m[key] == nil {
			m[key] = v
		}
	}
}

// stepRoles returns the role and the binding of each permission: in the namespace of the
// operator, and again for the other watched namespaces, where its operator copies them
// to.
func stepRoles(b *bundle, p params) ([]format.RenderedObject, error) {
	var out []format.RenderedObject
	for _, perm := range b.csv.permissions {
		name, err := stepName(b.csv.name+"-"+perm.ServiceAccountName, struct {
			Name       string     `json:"name,omitempty"`
			Permission permission `json:"permission"`
		}{b.csv.name, perm})
		if err != nil {
			return nil, err
		}
		labelled, err := labelsOf(perm, "Role", name, p.namespace)
		if err != nil {
			return nil, err
		}
		out = append(out, b.stepGrant(perm, p, p.namespace, name, labelled)...)
		for _, target := range p.targets {
			if target != p.namespace {
				given := perm
				if target == "" {
					given = promote(perm)
				}
				out = append(out, b.stepGrant(given, p, target, name, labelled)...)
			}
		}
	}
	for _, perm := range b.csv.clusterPermissions {
		name, err := stepName(b.csv.name, struct {
			Name       string     `json:"name,omitempty"`
			Namespace  string     `json:"namespace,omitempty"`
			Permission permission `json:"permission"`
		}{b.csv.name, p.namespace, perm})
		if err != nil {
			return nil, err
		}
		labelled, err := labelsOf(perm, "ClusterRole", name, p.namespace)
		if err != nil {
			return nil, err
		}
		out = append(out, b.stepGrant(perm, p, "", name, labelled)...)
	}
	return out, nil
}

// stepName is the name of the role of a permission.
func stepName(base string, of any) (string, error) {
	hash, err := hashOf62(of)
	if len(base)+len(hash) > maxName {
		base = base[:max(0, maxName-len(hash)-1)]
	}
	return base + "-" + hash, err
}

// hashLabels are those labels of a role and of its binding that have a hash of the content.
type hashLabels struct{ role, binding string }

func labelsOf(perm permission, roleKind, name, namespace string) (out hashLabels, err error) {
	rules, err := json.Marshal(perm.Rules)
	if err != nil {
		return out, err
	}
	content, err := json.Marshal(struct {
		RoleRef  rbacv1.RoleRef
		Subjects []rbacv1.Subject
	}{
		rbacv1.RoleRef{APIGroup: rbacGroup, Kind: roleKind, Name: name},
		[]rbacv1.Subject{{Kind: "ServiceAccount", Name: perm.ServiceAccountName, Namespace: namespace}},
	})
	return hashLabels{hash62(rules), hash62(content)}, err
}

// stepGrant returns a role with the rules of a permission and its binding, for a namespace,
// or for all of them if it is empty.
func (b *bundle) stepGrant(perm permission, p params, namespace, name string, labelled hashLabels) []format.RenderedObject {
	roleKind := "ClusterRole"
	if namespace != "" {
		roleKind = "Role"
	}
	role := newObject(rbacGroup+"/v1", roleKind, namespace, name)
	role["rules"] = []any{}
	for _, r := range perm.Rules {
		role["rules"] = append(role["rules"].([]any), r.body())
	}
	binding := newObject(rbacGroup+"/v1", roleKind+"Binding", namespace, name)
	binding["roleRef"] = map[string]any{"apiGroup": rbacGroup, "kind": roleKind, "name": name}
	binding["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "name": perm.ServiceAccountName, "namespace": p.namespace}}
	out := []format.RenderedObject{b.generated(role, perm.lines), b.generated(binding, perm.lines)}
	for i, hash := range []string{labelled.role, labelled.binding} {
		preview.SetMetadata(out[i].Body, "labels", rulesHashLabel, hash)
		if namespace != "" && namespace != p.namespace {
			preview.SetMetadata(out[i].Body, "labels", "olm.copiedFrom", p.namespace)
		}
	}
	return out
}

// stepDeployment returns a Deployment of the ClusterServiceVersion.
func (b *bundle) stepDeployment(d deployment, p params) (format.RenderedObject, error) {
	body := newObject("apps/v1", "Deployment", p.namespace, d.name)
	annotations := child(child(child(d.spec, "template"), "metadata"), "annotations")
	for key, value := range b.csv.annotations {
		annotations[key] = value
	}
	body["spec"] = d.spec
	defaultTemplate(d.spec)
	configure(body, p.config)
	for _, c := range mappings(preview.Map(d.spec, "template", "spec")["containers"]) {
		putNamed(c, "env", []any{map[string]any{"name": conditionVariable, "value": b.csv.name}})
	}
	d.spec["revisionHistoryLimit"] = int64(1)
	spec, data, err := typed[appsv1.DeploymentSpec](d.spec)
	if err != nil {
		return format.RenderedObject{}, fmt.Errorf("the spec of Deployment %s: %w", d.name, err)
	}
	body["spec"] = spec
	labels := child(child(body, "metadata"), "labels")
	for key, v := range d.labels {
		labels[key] = v
	}
	labels[specHashLabel] = hash62(append(data, '\n'))
	return b.generated(body, d.lines), nil
}

// rolesOfAPIs returns the ClusterRoles that give users of a namespace the custom resources:
// the API server aggregates them to admin, edit and view.
func (b *bundle) rolesOfAPIs() []format.RenderedObject {
	var out []format.RenderedObject
	for _, api := range b.csv.ownedAPIs() {
		for _, role := range []struct {
			name, suffix          string
			group, resource, only string
			verbs                 []any
		}{
			{"admin", "admin", api.Group(), api.plural(), "", []any{"*"}},
			{"edit", "edit", api.Group(), api.plural(), "", []any{"create", "update", "patch", "delete"}},
			{"view", "view", api.Group(), api.plural(), "", []any{"get", "list", "watch"}},
			{"crdview", "view", "apiextensions.k8s.io", "customresourcedefinitions", api.Name, []any{"get"}},
		} {
			body := newObject(rbacGroup+"/v1", "ClusterRole", "", api.Name+"-"+api.version()+"-"+role.name)
			preview.SetMetadata(body, "labels", "rbac.authorization.k8s.io/aggregate-to-"+role.suffix, "true")
			preview.SetMetadata(body, "labels", "olm.opgroup.permissions/aggregate-to-"+api.hash()+"-"+role.suffix, "true")
			rule := map[string]any{"apiGroups": []any{role.group}, "resources": []any{role.resource}, "verbs": role.verbs}
			if role.only != "" {
				rule["resourceNames"] = []any{role.only}
			}
			body["rules"] = []any{rule}
			refersTo(body, "apiextensions.k8s.io/v1", "customresourcedefinition", api.Name)
			out = append(out, b.generated(body, preview.LineIndex{}))
		}
	}
	return out
}
