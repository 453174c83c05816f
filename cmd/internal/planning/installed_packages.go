package planning

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/deps"
)

// present packages are those that others installed in the cluster, as far as
// the user may see them.
type presentPackages struct {
	packages []deps.Installed
	releases map[string]bool // installed releases, by name
}

// installedPackages looks for packages of other releases, of OLM v1 and of OLM
// v0. What may not be listed is not known; objects of another owner are
// refused later all the same.
func installedPackages(ctx context.Context, cluster Cluster, release preview.Release) (presentPackages, error) {
	out := presentPackages{releases: map[string]bool{}}
	records, err := history.List(ctx, cluster, "")
	if preview.ReasonOf(err) == preview.ReasonForbidden {
		err = nil
	}
	if err != nil {
		return out, err
	}
	for i := range records {
		out.releases[records[i].Release.Name] = true
		if records[i].Release == release {
			continue
		}
		for _, pkg := range records[i].Packages {
			out.add(deps.Installed{Package: contentName(&pkg), Version: pkg.Version, By: "release " + records[i].Release.Name})
		}
	}
	for _, kind := range []struct {
		apiVersion, kind string
		read             func(body map[string]any) deps.Installed
	}{
		{"olm.operatorframework.io/v1", "ClusterExtension", fromExtension},
		{"operators.coreos.com/v1alpha1", "ClusterServiceVersion", fromCSV},
	} {
		bodies, err := cluster.List(ctx, kind.apiVersion, kind.kind, "", "")
		switch preview.ReasonOf(err) {
		case preview.ReasonForbidden, preview.ReasonNotServed:
			continue
		}
		if err != nil {
			return out, fmt.Errorf("listing the %ss of the cluster: %w", kind.kind, err)
		}
		for _, body := range bodies {
			out.add(kind.read(body))
		}
	}
	return out, nil
}

// contentName is what the content of a package calls itself.
func contentName(pkg *preview.Package) string {
	if s := pkg.Parameters.Section; s != nil {
		return s.Package
	}
	return pkg.Name
}

// add keeps what names a package and a version that can be compared.
func (p *presentPackages) add(in deps.Installed) {
	if _, err := catalog.ParseVersion(in.Version); err == nil && in.Package != "" {
		p.packages = append(p.packages, in)
	}
}

func fromExtension(body map[string]any) deps.Installed {
	return deps.Installed{
		Package: preview.String(body, "spec", "source", "catalog", "packageName"),
		Version: preview.String(body, "status", "install", "bundle", "version"),
		By:      "ClusterExtension " + preview.RefOf(body).Name,
	}
}

// fromCSV reads what OLM v0 notes of a bundle on its CSV. Copies that OLM makes
// for other namespaces are not installs of their own.
func fromCSV(body map[string]any) deps.Installed {
	if preview.String(body, "metadata", "labels", "olm.copiedFrom") != "" {
		return deps.Installed{}
	}
	in := deps.Installed{By: "ClusterServiceVersion " + preview.RefOf(body).Namespace + "/" + preview.RefOf(body).Name}
	noted, err := preview.DecodeJSON([]byte(preview.String(body, "metadata", "annotations", "operatorframework.io/properties")))
	if err != nil {
		return in
	}
	fields, _ := noted.(map[string]any)
	for _, item := range preview.Maps(fields, "properties") {
		property := catalog.Property{Type: preview.String(item, "type"), Value: item["value"]}
		in.Properties = append(in.Properties, property)
		if property.Type == "olm.package" {
			in.Package, in.Version = preview.String(item, "value", "packageName"), preview.String(item, "value", "version")
		}
	}
	return in
}

// servedAPIs knows which APIs the cluster serves besides those of a release.
type servedAPIs struct {
	cluster Cluster
	release preview.Release
	others  presentPackages
}

// Serves implements [deps.Cluster].
func (s servedAPIs) Serves(ctx context.Context, api deps.API) (by string, served bool, err error) {
	apiVersion := api.APIVersion()
	_, err = s.cluster.Kind(ctx, apiVersion, api.Kind)
	if preview.ReasonOf(err) == preview.ReasonNotServed {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	definition, err := s.cluster.Definition(ctx, apiVersion, api.Kind)
	switch {
	case preview.ReasonOf(err) == preview.ReasonForbidden:
		return "", true, nil
	case err != nil:
		return "", false, err
	case definition == nil:
		return "", true, nil
	case preview.Ours(definition, s.release):
		return "", false, nil
	}
	owner, owned := preview.ForeignOwner(definition, s.release)
	if !owned {
		return "", true, nil
	}
	if owner.Tool == preview.ToolRelease && !s.others.releases[owner.Name] {
		return "", false, nil // kept when its release went
	}
	return owner.String(), true, nil
}
