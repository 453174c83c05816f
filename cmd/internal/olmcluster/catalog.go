package olmcluster

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// CatalogFlags are the flags of the commands that add and remove catalogs of the cluster.
type CatalogFlags struct {
	// In is V0 or V1; empty for the catalogs of the configuration.
	In                     string
	DisplayName, Publisher string
	Consent

	given func(name string) bool
}

// Add adds the flags of both commands.
func (f *CatalogFlags) Add(flags *pflag.FlagSet) {
	f.given = flags.Changed
	flags.StringVar(&f.In, "in-cluster", "", "of the cluster and not of the configuration: olmv0, a CatalogSource, or olmv1, a ClusterCatalog")
	f.Consent.Add(flags)
}

// AddTexts adds the flags with texts of a CatalogSource.
func (f *CatalogFlags) AddTexts(flags *pflag.FlagSet) {
	flags.StringVarP(&f.DisplayName, "display-name", "d", "", "with --in-cluster olmv0: name of the CatalogSource for people")
	flags.StringVarP(&f.Publisher, "publisher", "p", "", "with --in-cluster olmv0: who publishes the catalog")
}

// Check returns an error for wrong flags; configured says, by flag, what does that for a
// catalog of the configuration.
func (f *CatalogFlags) Check(configured func(flag string) string) error {
	switch {
	case f.In != "" && f.In != V0 && f.In != V1, f.In == "" && f.given("in-cluster"):
		return planning.Usagef("--in-cluster %s: want olmv0, for a CatalogSource, or olmv1, for a ClusterCatalog", f.In)
	case f.In == "" && (f.Yes || f.Preview):
		return planning.Usagef("--yes and --preview are about an object of the cluster; add --in-cluster, or leave them out")
	}
	for _, flag := range []string{"display-name", "publisher"} {
		if f.In != V0 && f.given(flag) {
			if hint := configured(flag); f.In == "" && hint != "" {
				return planning.Usagef("--%s is about a CatalogSource, of --in-cluster olmv0: %s", flag, hint)
			}
			return planning.Usagef("--%s is about a CatalogSource; leave it out, or choose --in-cluster olmv0", flag)
		}
	}
	return nil
}

// Catalog is a catalog image that OLM is to serve.
type Catalog struct {
	Name     string
	Image    string // HOST/REPO@sha256:HEX
	Priority int
}

// PinnedImage returns the image that a reference stands for, by the digest that it was
// resolved to. Anything else than an image cannot be read by OLM.
func PinnedImage(text, digest string) (string, error) {
	reference, err := ref.Parse(text)
	if err != nil {
		return "", planning.Usagef("%s", err)
	}
	if reference.Kind != ref.KindImage {
		return "", planning.Usagef("catalog %s: OLM reads catalogs from images; build one and push it, or leave out --in-cluster", text)
	}
	return reference.Repository() + "@" + digest, nil
}

// Ref returns the reference to the object of a catalog.
func (f *CatalogFlags) ref(name, namespace string) preview.Ref {
	if f.In == V1 {
		return preview.Ref{APIVersion: catalog.ClusterCatalogAPI, Kind: catalog.ClusterCatalogKind, Name: name}
	}
	return preview.Ref{APIVersion: catalog.CatalogSourceAPI, Kind: catalog.CatalogSourceKind, Namespace: namespace, Name: name}
}

// locate returns the reference to the object of a catalog in the chosen namespace.
func (f *CatalogFlags) locate(s Session, name string) (preview.Ref, error) {
	if !ref.IsName(name) {
		return preview.Ref{}, planning.Usagef("catalog name %q: want lower-case letters, digits, \"-\" and \".\"", name)
	}
	if f.In == V0 && s.Namespace == "" {
		return preview.Ref{}, planning.Usagef("a CatalogSource has a namespace; choose one with -n: Subscriptions there find it, and all Subscriptions where it is the namespace of OLM's own catalogs, such as olm or openshift-marketplace")
	}
	return f.ref(name, s.Namespace), nil
}

// object returns the object that makes OLM serve the catalog.
func (f *CatalogFlags) object(c Catalog, at preview.Ref) map[string]any {
	meta := map[string]any{"name": at.Name}
	spec := map[string]any{}
	if f.In == V1 {
		spec["source"] = map[string]any{"type": "Image", "image": map[string]any{"ref": c.Image}}
	} else {
		meta["namespace"] = at.Namespace
		spec["sourceType"], spec["image"] = "grpc", c.Image
		for field, text := range map[string]string{"displayName": f.DisplayName, "publisher": f.Publisher} {
			if text != "" {
				spec[field] = text
			}
		}
	}
	if c.Priority != 0 {
		spec["priority"] = int64(c.Priority)
	}
	return map[string]any{"apiVersion": at.APIVersion, "kind": at.Kind, "metadata": meta, "spec": spec}
}

// AddCatalog creates the object of a catalog once that is allowed, and returns it as it
// was shown. With --preview nothing is created.
func (f *CatalogFlags) AddCatalog(ctx context.Context, s Session, c Catalog) (object map[string]any, created bool, err error) {
	if err := f.Consent.check(s); err != nil {
		return nil, false, err
	}
	at, err := f.locate(s, c.Name)
	if err != nil {
		return nil, false, err
	}
	cluster, err := s.Reader(ctx)
	if err != nil {
		return nil, false, err
	}
	have, err := cluster.Get(ctx, at)
	if err != nil {
		return nil, false, notServed(err, at, f.In)
	}
	if have != nil {
		command := f.command("remove", at)
		return nil, false, &commandline.Advised{Err: planning.Refuse(fmt.Sprintf("%s is there already, with image %s", at.ID(), imageOf(have)),
			"choose another name, or remove it first: "+command), Commands: []string{command}, Scope: commandline.Connection}
	}
	object = f.object(c, at)
	if err := cluster.DryRun(ctx, []preview.DryRun{{Body: object}})[0].Err; err != nil {
		return nil, false, fmt.Errorf("the API server would refuse %s: %w", at.ID(), err)
	}
	if yes, err := f.allowed(ctx, s, "This object would be created:", object, "Create it?"); err != nil || !yes {
		return object, false, err
	}
	writer, err := s.Writer(ctx)
	if err != nil {
		return nil, false, err
	}
	if _, err := writer.Apply(ctx, preview.DryRun{Body: object}); err != nil {
		return nil, false, fmt.Errorf("creating %s: %w", at.ID(), err)
	}
	return object, true, nil
}

// RemoveCatalog deletes the object of a catalog, at the version that was shown, once that
// is allowed.
func (f *CatalogFlags) RemoveCatalog(ctx context.Context, s Session, name string) (object map[string]any, deleted bool, err error) {
	if err := f.Consent.check(s); err != nil {
		return nil, false, err
	}
	at, err := f.locate(s, name)
	if err != nil {
		return nil, false, err
	}
	cluster, err := s.Reader(ctx)
	if err != nil {
		return nil, false, err
	}
	object, err = cluster.Get(ctx, at)
	if err != nil {
		return nil, false, notServed(err, at, f.In)
	}
	if object == nil {
		command := commandline.Operator("catalog", "list")
		return nil, false, &commandline.Advised{Err: fmt.Errorf("%s does not exist; \"%s\" lists the cluster's catalogs", at.ID(), command),
			Commands: []string{command}, Scope: commandline.Connection}
	}
	users, err := f.users(ctx, cluster, at)
	if err != nil {
		return nil, false, err
	}
	title := "This object would be deleted:"
	if users > 0 {
		title = fmt.Sprintf("This object would be deleted, and %s would find no upgrades any more:", preview.Plural(users, "Subscription"))
	}
	if yes, err := f.allowed(ctx, s, title, shownLive(object), "Delete it?"); err != nil || !yes {
		return object, false, err
	}
	writer, err := s.Writer(ctx)
	if err != nil {
		return nil, false, err
	}
	if _, err := writer.Delete(ctx, at, preview.UID(object), preview.ResourceVersion(object), preview.Background); err != nil {
		return nil, false, fmt.Errorf("deleting %s: %w", at.ID(), err)
	}
	return object, true, nil
}

// users counts the Subscriptions to a CatalogSource.
func (f *CatalogFlags) users(ctx context.Context, cluster Reader, at preview.Ref) (int, error) {
	if f.In == V1 {
		return 0, nil // a ClusterExtension names no catalog
	}
	all, err := cluster.List(ctx, owners.OLMAPI, owners.SubscriptionKind, "", "")
	if err != nil && preview.ReasonOf(err) != preview.ReasonForbidden && preview.ReasonOf(err) != preview.ReasonNotServed {
		return 0, fmt.Errorf("listing the Subscriptions to %s: %w", at.ID(), err)
	}
	n := 0
	for _, subscription := range all {
		if preview.String(subscription, "spec", "source") == at.Name && preview.String(subscription, "spec", "sourceNamespace") == at.Namespace {
			n++
		}
	}
	return n, nil
}

func (f *CatalogFlags) command(verb string, at preview.Ref) string {
	words := []string{"catalog", verb, at.Name, "--in-cluster", f.In}
	if at.Namespace != "" {
		words = append(words, "-n", at.Namespace)
	}
	return commandline.Operator(words...)
}

// imageOf returns the image of the object of a catalog.
func imageOf(object map[string]any) string {
	if image := preview.String(object, "spec", "image"); image != "" {
		return image
	}
	return preview.String(object, "spec", "source", "image", "ref")
}

// shownLive returns a live object without what only the API server says of it.
func shownLive(object map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": object["apiVersion"], "kind": object["kind"], "spec": object["spec"],
		"metadata": map[string]any{"name": preview.String(object, "metadata", "name"), "namespace": preview.String(object, "metadata", "namespace")},
	}
}
