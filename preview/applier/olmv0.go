package applier

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Names of OLM v0 (operator-lifecycle-manager v0.40.0).
const (
	OLMv0Group      = "operators.coreos.com"
	subscriptionAPI = OLMv0Group + "/v1alpha1"
	csvKind         = "ClusterServiceVersion"
	catalogOperator = "catalog-operator"
	alongside       = "operatorframework.io/installed-alongside-"
	specHash        = "olm.deployment-spec-hash"
	// newUID stands for the uid of an owner that does not exist yet.
	newUID = "00000000-0000-0000-0000-000000000000"
)

// OLMv0 applies a bundle as OLM v0 does for a Subscription: catalog-operator creates or
// replaces the steps of an InstallPlan, olm-operator makes the rest of the
// ClusterServiceVersion, and what only the replaced one owned is collected. What is installed
// is not applied again, but for Deployments.
type OLMv0 struct {
	about preview.Applier
	// group is the OperatorGroup of the namespace, nil for none, and installed the
	// ClusterServiceVersion, nil for none.
	group, installed map[string]any
	bundle           string // name of the ClusterServiceVersion that is planned
	namespace        string
	// live are the owners that references name and the CRDs, without their spec, by kind and
	// name.
	live map[string]map[string]any
}

// Bundle is a bundle of OLM: its package and version, and the name of its
// ClusterServiceVersion.
type Bundle struct{ Package, Version, Name string }

// NewSubscription returns a Subscription that does not exist.
func NewSubscription(release preview.Release, of Bundle) Controlled {
	ref := preview.Ref{APIVersion: subscriptionAPI, Kind: "Subscription", Namespace: release.Namespace, Name: release.Name}
	return Controlled{ref, map[string]any{"spec": map[string]any{"name": of.Package}}}
}

// FindOLMv0 returns OLM v0 for a bundle of a package. Asked is a Subscription that need not
// exist in the cluster; without one, the namespace is searched for one to the package. It is nil if
// there is none.
func FindOLMv0(ctx context.Context, cluster Cluster, release preview.Release, asked Controlled, of Bundle) (*Found, error) {
	live, err := subscriptionTo(ctx, cluster, release.Namespace, of.Package)
	if asked.Body == nil {
		asked = Controlled{preview.RefOf(live), live}
	}
	if asked.Body == nil || unlessAnswered(err) != nil {
		return nil, unlessAnswered(err)
	}
	asked.Ref.Namespace = cmp.Or(asked.Ref.Namespace, release.Namespace)
	o := &OLMv0{live: map[string]map[string]any{}, bundle: of.Name, namespace: release.Namespace, about: preview.Applier{
		Tool: preview.ApplierOLMv0, Controller: catalogOperator, Object: asked.Ref.ID(),
		Method: preview.MethodUpdate, Manager: "catalog", Overwrites: true, Record: preview.UID(live),
	}}
	notRead(&o.about, asked.Ref, err)
	found := &Found{Tool: o}
	if config := preview.Map(asked.Body, "spec", "config"); len(config) > 0 {
		found.Values = map[string]any{"deploymentConfig": config}
	}
	if err := o.readGroup(ctx, cluster); err != nil {
		return nil, err
	}
	if preview.String(asked.Body, "spec", "installPlanApproval") == "Manual" {
		addLimit(&o.about, preview.ApplierLimit{What: preview.LimitManual})
	}
	name := preview.String(live, "status", "installedCSV")
	if name == "" {
		return found, o.findUnfollowed(ctx, cluster, of.Package, preview.String(live, "status", "currentCSV"))
	}
	r := cluster.Read(ctx, []preview.Ref{o.csvRef(name)})[0]
	if r.Body == nil {
		return found, unlessAnswered(r.Err)
	}
	o.installed, o.about.State = r.Body, name
	o.about.Revision = max(1, wholeNumber(preview.Map(live, "status")["installPlanGeneration"]))
	found.Installed = []preview.InstalledPackage{{Name: of.Package, Version: preview.String(r.Body, "spec", "version")}}
	found.Earlier, err = o.owned(ctx, cluster, of.Package)
	return found, err
}

// notRead adds as a limit that an object may not be read.
func notRead(about *preview.Applier, ref preview.Ref, err error) {
	if preview.ReasonOf(err) == preview.ReasonForbidden {
		addLimit(about, preview.ApplierLimit{What: preview.LimitNotRead, Object: ref.ID()})
	}
}

// subscriptionTo returns the Subscription of a namespace to a package, nil if there is none.
func subscriptionTo(ctx context.Context, cluster Cluster, namespace, pkg string) (map[string]any, error) {
	all, err := cluster.List(ctx, subscriptionAPI, "Subscription", namespace, "", "spec.name", "status")
	for _, body := range all {
		if preview.String(body, "spec", "name") == pkg {
			ref := preview.Ref{APIVersion: subscriptionAPI, Kind: "Subscription", Namespace: namespace, Name: preview.RefOf(body).Name}
			r := cluster.Read(ctx, []preview.Ref{ref})[0]
			return r.Body, r.Err
		}
	}
	return nil, err
}

// findUnfollowed records that OLM fails because a ClusterServiceVersion of the package is in the
// namespace, and no Subscription has installed it: its resolver may not replace it
// (pkg/controller/registry/resolver/variable_types.go). That under way is the one in status.
func (o *OLMv0) findUnfollowed(ctx context.Context, cluster Cluster, pkg, underWay string) error {
	all, err := cluster.List(ctx, subscriptionAPI, csvKind, o.namespace, "!olm.copiedFrom", "metadata")
	for _, body := range all {
		var has struct {
			Properties []struct {
				Type  string
				Value any
			}
		}
		text := preview.String(body, "metadata", "annotations", "operatorframework.io/properties")
		name := preview.RefOf(body).Name
		if name == underWay || json.Unmarshal([]byte(text), &has) != nil {
			continue
		}
		for _, property := range has.Properties {
			value, _ := property.Value.(map[string]any)
			if property.Type == "olm.package" && value["packageName"] == pkg {
				o.about.Fails, o.about.FailsOn = preview.FailsUnfollowed, o.csvRef(name).ID()
			}
		}
	}
	return unlessAnswered(err)
}

func (o *OLMv0) csvRef(name string) preview.Ref {
	return preview.Ref{APIVersion: subscriptionAPI, Kind: csvKind, Namespace: o.namespace, Name: name}
}

// readGroup reads the OperatorGroup of the namespace, without which OLM installs nothing.
func (o *OLMv0) readGroup(ctx context.Context, cluster Cluster) error {
	all, err := cluster.List(ctx, OLMv0Group+"/v1", "OperatorGroup", o.namespace, "", "metadata", "spec", "status")
	group := preview.Ref{APIVersion: OLMv0Group + "/v1", Kind: "OperatorGroup", Namespace: o.namespace, Name: "*"}
	notRead(&o.about, group, err)
	switch {
	case err == nil && len(all) == 1:
		o.group = all[0]
	case err == nil:
		addLimit(&o.about, preview.ApplierLimit{What: preview.LimitWaits, Object: group.ID()})
	}
	return unlessAnswered(err)
}

// owned returns what the installed ClusterServiceVersion owns, by the labels of OLM, which
// keeps no bodies.
func (o *OLMv0) owned(ctx context.Context, cluster Cluster, pkg string) ([]Earlier, error) {
	name := preview.RefOf(o.installed).Name
	component := "operators.coreos.com/" + pkg + "." + o.namespace
	o.live[csvKind+"/"+name] = o.installed
	var out []Earlier
	for key := range preview.Map(o.installed, "metadata", "labels") {
		if strings.HasPrefix(key, "operators.coreos.com/") {
			component = key
		}
	}
	for _, kind := range []struct{ apiVersion, kind, selector string }{
		{"v1", "ServiceAccount", component}, {"v1", "Service", component}, {"v1", "ConfigMap", component},
		{"apps/v1", "Deployment", component}, {rbacAPI, "Role", component}, {rbacAPI, "RoleBinding", component},
		{rbacAPI, "ClusterRole", component}, {rbacAPI, "ClusterRoleBinding", component},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", component}, {"v1", "Secret", component},
		{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "olm.owner=" + name},
		{"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "olm.owner=" + name},
	} {
		namespace := o.namespace
		if strings.HasPrefix(kind.kind, "Cluster") || strings.HasPrefix(kind.apiVersion, "a") && kind.kind != "Deployment" {
			namespace = ""
		}
		all, err := cluster.List(ctx, kind.apiVersion, kind.kind, namespace, kind.selector, "metadata")
		if unlessAnswered(err) != nil {
			return nil, err
		}
		notRead(&o.about, preview.Ref{APIVersion: kind.apiVersion, Kind: kind.kind, Namespace: namespace, Name: "*"}, err)
		for _, body := range all {
			ref := preview.RefOf(body)
			ref.APIVersion, ref.Kind = kind.apiVersion, kind.kind
			o.live[kind.kind+"/"+ref.Name] = body
			out = append(out, Earlier{Ref: ref})
		}
	}
	return out, nil
}

const rbacAPI = "rbac.authorization.k8s.io/v1"

// wholeNumber returns a number of decoded JSON, 0 if it is none.
func wholeNumber(v any) int {
	n, _ := v.(int64)
	return int(n)
}

// Describe returns what a plan records about OLM.
func (o *OLMv0) Describe() *preview.Applier { return &o.about }

// Installed is the name of the installed ClusterServiceVersion, empty for none.
func (o *OLMv0) Installed() string { return preview.RefOf(o.installed).Name }

// Group is the name of the OperatorGroup, empty if there is none.
func (o *OLMv0) Group() string { return preview.RefOf(o.group).Name }

// Watches returns the install mode and the namespaces that the OperatorGroup makes an operator
// watch.
func (o *OLMv0) Watches() (mode string, namespaces []string, known bool) {
	namespaces = preview.Texts(preview.List(o.group, "status", "namespaces"))
	slices.Sort(namespaces)
	switch {
	case len(namespaces) == 0:
		return "", nil, false
	case len(namespaces) > 1:
		return "MultiNamespace", namespaces, true
	case namespaces[0] == "":
		return "AllNamespaces", nil, true
	case namespaces[0] == o.namespace:
		return "OwnNamespace", nil, true
	}
	return "SingleNamespace", namespaces, true
}

// InstalledByOLM returns the bundle that OLM has installed for a request, the zero value for
// none.
func InstalledByOLM(ctx context.Context, cluster Cluster, asked Controlled, pkg string) (Bundle, error) {
	if asked.Ref.Group() == OLMv1Group {
		live, err := readExtension(ctx, cluster, "", asked, pkg)
		return installedExtension(live, pkg), unlessAnswered(err)
	}
	live, err := subscriptionTo(ctx, cluster, asked.Ref.Namespace, pkg)
	name := preview.String(live, "status", "installedCSV")
	if name == "" || err != nil {
		return Bundle{}, unlessAnswered(err)
	}
	r := cluster.Read(ctx, []preview.Ref{{APIVersion: subscriptionAPI, Kind: csvKind, Namespace: asked.Ref.Namespace, Name: name}})[0]
	if r.Body == nil {
		return Bundle{}, unlessAnswered(r.Err)
	}
	return Bundle{Package: pkg, Version: preview.String(r.Body, "spec", "version"), Name: name}, nil
}

// Mark adds to an object, whose marks are rendered, what depends on the cluster: the uids of
// its owners, and for a CRD the ClusterServiceVersions that it was installed with.
func (o *OLMv0) Mark(body map[string]any) {
	for _, owner := range preview.Maps(body, "metadata", "ownerReferences") {
		kind := preview.String(owner, "kind")
		if kind == "customresourcedefinition" { // as OLM writes it
			kind = "CustomResourceDefinition"
		}
		owner["uid"] = cmp.Or(preview.UID(o.live[kind+"/"+preview.String(owner, "name")]), newUID)
	}
	if preview.IsKind(body, preview.KindCustomResourceDefinition) {
		o.markAlongside(body)
	}
}

// Decide returns what OLM does with an object. It takes over any that exists.
func (o *OLMv0) Decide(obj *preview.Object) (action preview.Action, own bool) {
	own = obj.LiveBody != nil && o.owns(obj.LiveBody)
	if isCertificate(obj.Planned) && !o.inSync() { // OLM makes it anew where it was collected with the replaced version
		addLimit(&o.about, preview.ApplierLimit{What: preview.LimitNotRead, Object: obj.ID})
	}
	switch {
	case obj.Planned == nil && obj.Kind == "CustomResourceDefinition":
		addLimit(&o.about, preview.ApplierLimit{What: preview.LimitNotPruned, Object: obj.ID})
		return preview.ActionKeep, own
	case obj.Planned == nil && (!own || o.inSync()):
		return preview.ActionKeep, own
	case obj.Planned == nil:
		return preview.ActionDelete, own
	case obj.LiveBody == nil && o.inSync() && !o.repairs(obj):
		return preview.ActionSkip, false
	case obj.LiveBody == nil:
		return preview.ActionCreate, false
	}
	return preview.ActionUpdate, own
}

// inSync reports whether the bundle is installed already.
func (o *OLMv0) inSync() bool { return o.installed != nil && o.Installed() == o.bundle }

// owns reports whether OLM marked an object as one of the installed ClusterServiceVersion.
func (o *OLMv0) owns(live map[string]any) bool {
	if o.installed == nil {
		return false
	}
	ref := preview.RefOf(live)
	for _, owner := range preview.Maps(live, "metadata", "ownerReferences") {
		kind := preview.String(owner, "kind")
		if name := preview.String(owner, "name"); name == o.Installed() && kind == csvKind || kind == "customresourcedefinition" {
			return true
		}
	}
	return ref.Kind == "CustomResourceDefinition" && preview.String(live, "metadata", "labels", "olm.managed") == "true" ||
		preview.String(live, "metadata", "labels", "olm.owner") == o.Installed() &&
			preview.String(live, "metadata", "labels", "olm.owner.namespace") == o.namespace
}

// repairs reports whether OLM makes an object of an installed bundle again that is gone or
// changed.
func (o *OLMv0) repairs(obj *preview.Object) bool {
	switch ref := obj.Ref(); ref.Kind {
	case "Deployment":
		return obj.LiveBody == nil || !deploymentStays(obj.Planned, obj.LiveBody)
	case "ClusterRole":
		return ref.Group() == "rbac.authorization.k8s.io" && len(preview.Maps(obj.Planned, "metadata", "ownerReferences")) > 0
	}
	return false
}

// deploymentStays reports whether olm-operator leaves a Deployment as it is: it compares the
// hash that a label has and the annotations of pods, and no other field
// (pkg/controller/install/deployment.go, checkForDeployments).
func deploymentStays(planned, live map[string]any) bool {
	if preview.String(planned, "metadata", "labels", specHash) != preview.String(live, "metadata", "labels", specHash) {
		return false
	}
	have := preview.Map(live, "spec", "template", "metadata", "annotations")
	for key, value := range preview.Map(planned, "spec", "template", "metadata", "annotations") {
		if have[key] != value {
			return false
		}
	}
	return true
}

// Request returns the request that OLM sends for an object.
func (o *OLMv0) Request(obj *preview.Object, body map[string]any) (preview.DryRun, error) {
	body = preview.CloneBody(body)
	setUIDs(obj.LiveBody, body, newUID)
	switch {
	case obj.Kind == "ServiceAccount" && obj.LiveBody != nil:
		keepOfAccount(obj.LiveBody, body, o.Installed())
	case isCertificate(body) && obj.LiveBody != nil: // what stands for the values that are not known
		body["data"] = obj.LiveBody["data"]
		preview.Map(body, "metadata")["annotations"] = preview.Map(obj.LiveBody, "metadata", "annotations")
	case obj.APIVersion == rbacAPI && obj.Namespace == "" && obj.LiveBody != nil && preview.Map(body, "metadata")["ownerReferences"] == nil:
		preview.SetMetadata(body, "labels", "olm.owner", o.bundle) // also of one that the bundle brings (step_ensurer.go, EnsureClusterRole)
	}
	switch {
	case obj.LiveBody == nil:
		return create(body), nil
	case o.inSync() && !o.repairs(obj):
		return preview.DryRun{Body: obj.LiveBody, Method: preview.MethodNone}, nil
	}
	return preview.DryRun{Body: body, Method: preview.MethodUpdate}, nil
}

// isCertificate reports whether an object is the Secret of OLM with the certificate of
// webhooks.
func isCertificate(body map[string]any) bool {
	_, has := preview.Map(body, "data")["olmCAKey"]
	return has && preview.IsKind(body, preview.KindSecret)
}

// setUIDs sets the uids of owner references that have none: as the live object has them, else
// otherwise.
func setUIDs(live, body map[string]any, otherwise string) {
	for _, owner := range preview.Maps(body, "metadata", "ownerReferences") {
		if uid := preview.String(owner, "uid"); uid != "" && uid != newUID {
			continue
		}
		owner["uid"] = otherwise
		for _, have := range preview.Maps(live, "metadata", "ownerReferences") {
			if preview.String(have, "kind") == preview.String(owner, "kind") && preview.String(have, "name") == preview.String(owner, "name") {
				owner["uid"] = preview.String(have, "uid")
			}
		}
	}
}

// markAlongside adds the annotations that say with which ClusterServiceVersions a CRD was
// installed: those that are there, and the planned one.
func (o *OLMv0) markAlongside(body map[string]any) {
	names := []string{o.namespace + "/" + o.bundle}
	for _, source := range []map[string]any{body, o.live["CustomResourceDefinition/"+preview.RefOf(body).Name]} {
		for key, value := range preview.Map(source, "metadata", "annotations") {
			name, _ := value.(string)
			namespace, _, _ := strings.Cut(name, "/")
			if strings.HasPrefix(key, alongside) && (namespace != o.namespace || name == o.namespace+"/"+o.Installed()) {
				names = append(names, name)
			}
		}
	}
	annotations := preview.Map(body, "metadata", "annotations")
	maps.DeleteFunc(annotations, func(key string, _ any) bool { return strings.HasPrefix(key, alongside) })
	for _, name := range names {
		h := fnv.New64a()
		h.Write([]byte(name))
		preview.SetMetadata(body, "annotations", fmt.Sprintf("%s%x", alongside, h.Sum64()), name)
	}
}

// keepOfAccount adds to a planned ServiceAccount what OLM carries over from the live one. The
// reference to the ClusterServiceVersion that is replaced goes with that.
func keepOfAccount(live, body map[string]any, replaced string) {
	if secrets := live["secrets"]; secrets != nil {
		body["secrets"] = secrets
	}
	for key, value := range preview.Map(live, "metadata", "annotations") {
		if _, planned := preview.Map(body, "metadata", "annotations")[key]; !planned {
			preview.SetMetadata(body, "annotations", key, cmp.Or(fmt.Sprint(value), ""))
		}
	}
	meta := preview.Map(body, "metadata")
	for _, owner := range preview.Maps(live, "metadata", "ownerReferences") {
		there := slices.ContainsFunc(preview.Maps(meta, "ownerReferences"), func(other map[string]any) bool {
			return preview.String(other, "name") == preview.String(owner, "name") && preview.String(other, "kind") == preview.String(owner, "kind")
		})
		if !there && (preview.String(owner, "kind") != csvKind || preview.String(owner, "name") != replaced) {
			meta["ownerReferences"] = append(preview.List(meta, "ownerReferences"), any(owner))
		}
	}
}
