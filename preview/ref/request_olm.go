package ref

import (
	"maps"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// olmGroup is the API group of OLM v0.
const olmGroup = "operators.coreos.com"

func ignoredInClusterExtension() []ignoredField {
	return []ignoredField{
		{"spec.serviceAccount", "deprecated and without effect; here the user's own rights count"},
		{"spec.progressDeadlineMinutes", "how long the controller waits"},
	}
}

// clusterExtension reads OLM v1's ClusterExtension.
func (r *reader) clusterExtension(f *strictReader) {
	r.Release, r.Namespace = r.asked.Name, f.At("spec.namespace").Need()
	f.At("spec.source.sourceType").OneOf("Catalog")
	r.packageOf(f.At("spec.source.catalog"), "packageName")
	r.Package.EveryChannel = true
	r.clusterCatalogs()
	if config := f.At("spec.config"); config.Set() {
		config.At("configType").OneOf("Inline")
		r.Values = preview.FileNumbers(config.At("inline").Mapping())
	}
	if f.At("spec.install.preflight.crdUpgradeSafety.enforcement").OneOf("Strict", "None") == "None" {
		r.note(rules.PreflightDisabled, "spec.install.preflight.crdUpgradeSafety.enforcement is None", "OLM")
	}
	r.pin = func(p Pinned) []edit {
		return []edit{r.set(p.Version, "spec", "source", "catalog", "version")}
	}
}

// clusterCatalogs sets the catalogs of the package to the ClusterCatalogs of the file
// that its selector matches, if there are any: a ClusterCatalog in the same file is
// meant for the ClusterExtension.
func (r *reader) clusterCatalogs() {
	for i := range r.objects {
		d := &r.objects[i]
		if d.Kind != "ClusterCatalog" || d.Group() != "olm.operatorframework.io" {
			continue
		}
		labels := maps.Clone(preview.Map(d.body, "metadata", "labels"))
		if labels == nil {
			labels = map[string]any{}
		}
		labels["olm.operatorframework.io/metadata.name"] = d.Name // as OLM adds it
		if image := catalogImage(d); image != "" && r.Package.Selector.matches(labels) {
			d.used = true
			r.Package.Catalogs = append(r.Package.Catalogs, image)
		}
	}
	if len(r.Package.Catalogs) > 0 {
		r.Package.Selector = Selector{}
	}
}

// matches reports whether an object with these labels is selected.
func (s Selector) matches(labels map[string]any) bool {
	for key, value := range s.MatchLabels {
		if labels[key] != value {
			return false
		}
	}
	for _, term := range s.MatchExpressions {
		value, has := labels[term.Key].(string)
		ok := has && slices.Contains(term.Values, value)
		switch term.Operator {
		case "NotIn":
			ok = !has || !ok
		case "Exists":
			ok = has
		case "DoesNotExist":
			ok = !has
		}
		if !ok {
			return false
		}
	}
	return true
}

// catalogImage returns the reference of the image of a ClusterCatalog or CatalogSource;
// empty for other objects, and for a catalog that is not in an image.
func catalogImage(d *document) string {
	image := ""
	switch d.Kind {
	case "ClusterCatalog":
		image = preview.String(d.body, "spec", "source", "image", "ref")
	case "CatalogSource":
		image = preview.String(d.body, "spec", "image")
	}
	if reference, err := Parse(imageText(image)); err == nil && reference.Kind == KindImage {
		return reference.Text
	}
	return ""
}

func ignoredInSubscription() []ignoredField {
	return []ignoredField{
		{"spec.installPlanApproval", "who approves in the cluster; here the user does"},
	}
}

// subscription reads OLM v0's Subscription, with the OperatorGroup and CatalogSource
// that belong to it if the same file has them.
func (r *reader) subscription(f *strictReader) {
	r.Release, r.Namespace = r.asked.Name, r.asked.Namespace
	name := f.At("spec.name")
	r.Package = &PackageRequest{Name: name.Need(), Bundle: f.At("spec.startingCSV").Text()}
	if r.Package.Name != "" && !IsName(r.Package.Name) {
		name.Fail("%q is not the name of a package", clip(r.Package.Name))
	}
	if r.Namespace == "" {
		f.At("metadata.namespace").Fail("it is missing")
	}
	if channel := f.At("spec.channel").Text(); channel != "" {
		r.Package.Channels = []string{channel}
	}
	source, namespace := f.At("spec.source"), f.At("spec.sourceNamespace")
	r.catalogSource(source.Need(), namespace.Need())
	if config := f.At("spec.config").Mapping(); len(config) > 0 {
		r.Values = map[string]any{"deploymentConfig": preview.CloneBody(config)}
	}
	r.operatorGroup()
	r.pin = func(p Pinned) []edit {
		out := []edit{r.set(p.Bundle, "spec", "startingCSV"), r.set("Manual", "spec", "installPlanApproval")}
		if p.Channel != "" && len(r.Package.Channels) == 0 {
			out = append(out, r.set(p.Channel, "spec", "channel"))
		}
		return out
	}
}

// catalogSource sets the catalog of the package: the image of the CatalogSource in the
// file, else the CatalogSource of that name in the cluster.
func (r *reader) catalogSource(name, namespace string) {
	for i := range r.objects {
		d := &r.objects[i]
		if d.Kind != "CatalogSource" || d.Group() != olmGroup || d.Name != name || d.Namespace != namespace {
			continue
		}
		d.used = true
		c := newStrictReader(d.String(), d.body, []ignoredField{
			{"spec.displayName", "text for people"}, {"spec.publisher", "text for people"}, {"spec.description", "text for people"}, {"spec.icon", "a picture"},
			{"spec.updateStrategy", "when the cluster looks again"}, {"spec.grpcPodConfig", "how the cluster runs the catalog"}, {"spec.priority", "there is no other catalog to compare with"},
		})
		c.At("spec.sourceType").OneOf("grpc")
		image := c.At("spec.image")
		if reference, err := Parse(imageText(image.Need())); err != nil {
			image.Fail("%s", err)
		} else {
			r.Package.Catalogs = []string{reference.Text}
		}
		if err := c.err(); err != nil && r.err == nil {
			r.err = err
		}
		return
	}
	r.Package.CatalogSource = namespace + "/" + name
}

// operatorGroup sets install mode and watched namespaces from the OperatorGroup in the
// request's namespace, if the file contains one.
func (r *reader) operatorGroup() {
	for i := range r.objects {
		d := &r.objects[i]
		if d.Kind != "OperatorGroup" || d.Group() != olmGroup || d.Namespace != r.asked.Namespace {
			continue
		}
		d.used = true
		g := newStrictReader(d.String(), d.body, []ignoredField{
			{"spec.upgradeStrategy", "what OLM does about failed upgrades"}, {"spec.staticProvidedAPIs", "which APIs OLM lists"},
		})
		targets := g.At("spec.targetNamespaces").Texts()
		if err := g.err(); err != nil && r.err == nil {
			r.err = err
		}
		switch {
		case len(targets) == 0:
			r.InstallMode = "AllNamespaces"
		case slices.Equal(targets, []string{r.asked.Namespace}):
			r.InstallMode = "OwnNamespace"
		case len(targets) == 1:
			r.InstallMode, r.WatchNamespaces = "SingleNamespace", targets
		default:
			r.InstallMode, r.WatchNamespaces = "MultiNamespace", targets
		}
	}
}
