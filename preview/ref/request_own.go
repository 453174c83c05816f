package ref

import (
	"slices"
)

// KindRequest is our own kind of request.
const KindRequest = "Request"

// ownRequest reads our own kind, which can say all that a command line can, or
// that section by section.
func (r *reader) ownRequest(f *fields) {
	r.Release, r.Namespace = r.asked.Name, r.asked.Namespace
	spec := f.at("spec")
	if sections := spec.at("sections"); sections.set() {
		r.sections(spec, sections)
	} else {
		r.ownContent(spec, "spec")
	}
	r.HealthChecks = probes(spec.at("progressionProbes"))
	if spec.at("paused").flag() {
		r.Paused = "spec.paused"
	}
}

// ownContent reads content, and how it is rendered, at a path of the request.
func (r *reader) ownContent(spec field, path ...any) {
	switch reference := spec.at("reference"); {
	case !reference.set():
	case spec.at("sources").set() || spec.at("package").set():
		reference.fail("there are sources or a package besides; give one of them")
	default:
		r.ownReference(reference)
	}
	for _, item := range spec.at("sources").items() {
		s := r.source(item.at("reference"), item.at("reference").need())
		s.Destination = item.at("destination").text()
		s.CA = item.at("certificateData").text()
		verified(item.at("insecureSkipTLSVerify"))
		r.secret(s, item.at("auth.secretRef.name"), item.at("auth.secretRef.namespace"))
	}
	if pkg := spec.at("package"); pkg.set() {
		r.packageOf(pkg, "name")
		r.Package.Catalogs = pkg.at("catalogs").texts()
	}
	r.Format, r.Path = spec.at("format").text(), spec.at("path").text()
	r.InstallMode = spec.at("installMode").oneOf("AllNamespaces", "SingleNamespace", "OwnNamespace", "MultiNamespace")
	r.WatchNamespaces = spec.at("watchNamespaces").texts()
	r.Certs = spec.at("certs").oneOf("cert-manager", "service-ca", "none")
	r.KubeVersion, r.APIVersions = spec.at("kubeVersion").text(), spec.at("apiVersions").texts()
	r.PinImages = spec.at("pinImages").flag()
	r.Values = spec.at("values").mapping()
	body, _ := spec.value.(map[string]any)
	r.pin = func(p Pinned) []edit { return r.pinOwn(p, body, path) }
}

// ownReference reads what a command line would take.
func (r *reader) ownReference(v field) {
	reference, err := Parse(v.need())
	if err != nil {
		v.fail("%s", err)
		return
	}
	if reference.Kind == KindPackage {
		r.Package = &PackageRequest{Name: reference.Package, Version: reference.Version}
		return
	}
	r.Sources = []RequestSource{{Reference: reference}}
}

// packageOf reads what our own requests and ClusterExtensions say alike.
func (r *reader) packageOf(v field, name string) {
	r.Package = &PackageRequest{
		Name: v.at(name).need(), Version: v.at("version").text(), Channels: v.at("channels").texts(),
		SelfCertified: v.at("upgradeConstraintPolicy").oneOf("CatalogProvided", "SelfCertified") == "SelfCertified",
	}
	if r.Package.Name != "" && !IsName(r.Package.Name) {
		v.at(name).fail("%q is not the name of a package", clip(r.Package.Name))
	}
	if err := CheckRange(r.Package.Version); r.Package.Version != "" && err != nil {
		v.at("version").fail("%s", err)
	}
	selector := v.at("selector")
	r.Package.Selector.MatchLabels = selector.at("matchLabels").stringMap()
	for _, item := range selector.at("matchExpressions").items() {
		r.Package.Selector.MatchExpressions = append(r.Package.Selector.MatchExpressions, SelectorTerm{
			Key: item.at("key").need(), Operator: item.at("operator").oneOf("In", "NotIn", "Exists", "DoesNotExist"),
			Values: item.at("values").texts(),
		})
	}
}

// pinOwn edits content that was read from body, at a path of the request.
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
