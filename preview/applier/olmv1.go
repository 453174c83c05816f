package applier

import (
	"cmp"
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Names of OLM v1 (operator-controller v1.11.0).
const (
	OLMv1Group       = "olm.operatorframework.io"
	extensionKind    = "ClusterExtension"
	extensionManager = "operator-controller"
)

// OLMv1 applies a bundle as operator-controller does for a ClusterExtension: as Helm 3, with
// labels and an owner reference besides, and with its records in the namespace of the
// controller. Changes of others are undone whenever it reconciles, of CRDs too
// (internal/operator-controller/applier/helm.go).
type OLMv1 struct {
	*Helm
	name, uid string // of the ClusterExtension; no uid before it exists
}

// NewExtension returns a ClusterExtension that does not exist.
func NewExtension(release preview.Release) Controlled {
	ref := preview.Ref{APIVersion: OLMv1Group + "/v1", Kind: extensionKind, Name: release.Name}
	return Controlled{ref, map[string]any{"spec": map[string]any{"namespace": release.Namespace}}}
}

// FindOLMv1 returns OLM v1 for a bundle of a package. Asked is a ClusterExtension that need
// not exist in the cluster; without one, the cluster is searched for one to the package with
// the namespace of the release. It is nil if there is none.
func FindOLMv1(ctx context.Context, cluster Cluster, release preview.Release, asked Controlled, of Bundle) (*Found, error) {
	live, err := readExtension(ctx, cluster, release.Namespace, asked, of.Package)
	if asked.Body == nil {
		asked = Controlled{preview.RefOf(live), live}
	}
	if asked.Body == nil || unlessAnswered(err) != nil {
		return nil, unlessAnswered(err)
	}
	release = preview.Release{Name: asked.Ref.Name, Namespace: cmp.Or(preview.String(asked.Body, "spec", "namespace"), release.Namespace)}
	o := &OLMv1{name: asked.Ref.Name, uid: preview.UID(live), Helm: &Helm{release: release, about: preview.Applier{
		Tool: preview.ApplierOLMv1, Controller: extensionManager, Object: asked.Ref.ID(), Record: preview.UID(live),
		Method: preview.MethodThreeWay, Manager: extensionManager, Overwrites: true,
	}}}
	notRead(&o.about, asked.Ref, err)
	found := &Found{Tool: o, Values: preview.Map(asked.Body, "spec", "config", "inline")}
	installed := installedExtension(live, of.Package)
	if installed.Name != "" {
		o.exists, o.about.State = true, installed.Name
		found.Installed = []preview.InstalledPackage{{Name: of.Package, Version: installed.Version}}
	}
	return found, o.readRecords(ctx, cluster, found)
}

// readExtension reads the live ClusterExtension that is asked for, or else the one to a package
// with a namespace; nil if there is none.
func readExtension(ctx context.Context, cluster Cluster, namespace string, asked Controlled, pkg string) (map[string]any, error) {
	ref := preview.Ref{APIVersion: OLMv1Group + "/v1", Kind: extensionKind, Name: asked.Ref.Name}
	if ref.Name == "" {
		all, err := cluster.List(ctx, ref.APIVersion, ref.Kind, "", "", "spec")
		if err != nil {
			return nil, err
		}
		for _, body := range all {
			if preview.String(body, "spec", "namespace") == namespace && preview.String(body, "spec", "source", "catalog", "packageName") == pkg {
				ref.Name = preview.RefOf(body).Name
			}
		}
		if ref.Name == "" {
			return nil, nil
		}
	}
	r := cluster.Read(ctx, []preview.Ref{ref})[0]
	return r.Body, r.Err
}

// installedExtension returns the bundle that a ClusterExtension has installed.
func installedExtension(live map[string]any, pkg string) Bundle {
	bundle := preview.Map(live, "status", "install", "bundle")
	return Bundle{Package: pkg, Version: preview.String(bundle, "version"), Name: preview.String(bundle, "name")}
}

// readRecords reads what was applied last from the Secrets of operator-controller. What may
// not be read is a limit: then the content is compared with live objects alone.
func (o *OLMv1) readRecords(ctx context.Context, cluster Cluster, found *Found) error {
	var stores []helmStore
	for _, namespace := range []string{"olmv1-system", "openshift-operator-controller"} {
		stores = append(stores, helmStore{"Secret", namespace, extensionManager, helmChunks})
	}
	records, err := readHelmStores(ctx, cluster, o.release, stores...)
	switch {
	case err != nil && preview.Answered(err):
		addLimit(&o.about, recordsNotRead(stores[0].namespace, o.name))
		return nil
	case err != nil || records == nil:
		return err
	}
	o.exists, o.about.Revision, o.about.Record = true, records.Last.Revision, records.Last.UID
	o.about.State = cmp.Or(o.about.State, records.Last.State)
	found.Earlier, err = records.Current.Objects(ctx, cluster)
	return err
}

// Mark adds to an object what operator-controller and then Helm add.
func (o *OLMv1) Mark(body map[string]any) {
	preview.SetMetadata(body, "labels", OLMv1Group+"/owner-kind", extensionKind)
	preview.SetMetadata(body, "labels", OLMv1Group+"/owner-name", o.name)
	meta := preview.Map(body, "metadata")
	meta["ownerReferences"] = append(preview.List(meta, "ownerReferences"), map[string]any{
		"apiVersion": OLMv1Group + "/v1", "kind": extensionKind, "name": o.name, "uid": cmp.Or(o.uid, newUID),
		"controller": true, "blockOwnerDeletion": true,
	})
	o.Helm.Mark(body)
}

// Request returns the request that operator-controller sends for an object.
func (o *OLMv1) Request(obj *preview.Object, body map[string]any) (preview.DryRun, error) {
	item, err := o.Helm.Request(obj, body)
	if err != nil {
		return item, err
	}
	if item.ThreeWay != nil {
		if obj.Earlier == nil {
			item.ThreeWay.Earlier = item.Body
		}
		item.ThreeWay.CustomTwoWay = false // Helm 3 leaves what others changed in a CRD, and the next reconciliation does not
	}
	return item, nil
}
