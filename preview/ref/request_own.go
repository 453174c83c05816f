package ref

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// KindRequest is the kind of this program's own request files.
const KindRequest = "Request"

// ownRequest reads a request of this program's own kind, which has all options of the
// command line, for the whole request or for each section.
func (r *reader) ownRequest(f *strictReader) {
	r.Release, r.Namespace = r.asked.Name, r.asked.Namespace
	spec := f.At("spec")
	if sections := spec.At("sections"); sections.Set() {
		r.sections(spec, sections)
	} else {
		r.ownContent(spec, "spec")
	}
	r.HealthChecks = probes(spec.At("progressionProbes"))
	if spec.At("paused").Flag() {
		r.Paused = "spec.paused"
	}
}

// ownContent reads what content a request or section asks for, and how it is rendered.
// path leads to spec in the document.
func (r *reader) ownContent(spec field, path ...any) {
	switch reference := spec.At("reference"); {
	case !reference.Set():
	case spec.At("sources").Set() || spec.At("package").Set():
		reference.Fail("there are sources or a package too; give one of them")
	default:
		r.ownReference(reference)
	}
	for _, item := range spec.At("sources").Items() {
		s := r.source(item.At("reference"), item.At("reference").Need())
		s.Destination = item.At("destination").Text()
		s.CA = item.At("certificateData").Text()
		verified(item.At("insecureSkipTLSVerify"))
		r.secret(s, item.At("auth.secretRef.name"), item.At("auth.secretRef.namespace"))
	}
	if pkg := spec.At("package"); pkg.Set() {
		r.packageOf(pkg, "name")
		r.Package.Catalogs = pkg.At("catalogs").Texts()
	}
	r.Format, r.Path = spec.At("format").Text(), spec.At("path").Text()
	r.InstallMode = spec.At("installMode").OneOf("AllNamespaces", "SingleNamespace", "OwnNamespace", "MultiNamespace")
	r.WatchNamespaces = spec.At("watchNamespaces").Texts()
	r.Certs = spec.At("certs").OneOf(preview.CertProviders()...)
	r.KubeVersion, r.APIVersions = spec.At("kubeVersion").Text(), spec.At("apiVersions").Texts()
	r.PinImages = spec.At("pinImages").Flag()
	r.Values = spec.At("values").Mapping()
	body, _ := spec.Value.(map[string]any)
	r.pin = func(p Pinned) []edit { return r.pinOwn(p, body, path) }
}

// ownReference reads a reference as the command line takes it.
func (r *reader) ownReference(v field) {
	reference, err := Parse(v.Need())
	if err != nil {
		v.Fail("%s", err)
		return
	}
	if reference.Kind == KindPackage {
		r.Package = &PackageRequest{Name: reference.Package, Version: reference.Version}
		return
	}
	r.Sources = []RequestSource{{Reference: reference}}
}

// packageOf reads the fields of a package that this program's requests and
// ClusterExtensions have in common. name is the key that has the package's name.
func (r *reader) packageOf(v field, name string) {
	r.Package = &PackageRequest{
		Name: v.At(name).Need(), Version: v.At("version").Text(), Channels: v.At("channels").Texts(),
		SelfCertified: v.At("upgradeConstraintPolicy").OneOf("CatalogProvided", "SelfCertified") == "SelfCertified",
	}
	if r.Package.Name != "" && !IsName(r.Package.Name) {
		v.At(name).Fail("%q is not the name of a package", clip(r.Package.Name))
	}
	if err := CheckRange(r.Package.Version); r.Package.Version != "" && err != nil {
		v.At("version").Fail("%s", err)
	}
	selector := v.At("selector")
	r.Package.Selector.MatchLabels = selector.At("matchLabels").TextMap()
	for _, item := range selector.At("matchExpressions").Items() {
		r.Package.Selector.MatchExpressions = append(r.Package.Selector.MatchExpressions, SelectorTerm{
			Key: item.At("key").Need(), Operator: item.At("operator").OneOf("In", "NotIn", "Exists", "DoesNotExist"),
			Values: item.At("values").Texts(),
		})
	}
}

// pinOwn returns the edits that pin what body, at a path of the request, asks for.
func (r *reader) pinOwn(p Pinned, body map[string]any, path []any) []edit {
	set := func(value string, below ...any) edit { return r.set(value, slices.Concat(path, below)...) }
	switch {
	case r.Package != nil && body["package"] != nil:
		return []edit{set(p.Version, "package", "version")}
	case r.Package != nil:
		return []edit{set(r.Package.Name+"@"+p.Version, "reference")}
	case body["reference"] != nil:
		return []edit{set(p.reference(0, r.Sources[0].Reference), "reference")}
	}
	var out []edit
	for i := range r.Sources {
		out = append(out, set(p.reference(i, r.Sources[i].Reference), "sources", i, "reference"))
	}
	return out
}
