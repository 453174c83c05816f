package planning

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// choose resolves a package name in the selected catalogs and returns the
// reference of the chosen content. installed is the version that the release has:
// only its upgrade edges are followed. With nil, any version may be chosen.
func (r *Resolver) choose(ctx context.Context, out *Resolution, among Selection, reference ref.Reference, installed *catalog.Installed) (ref.Reference, error) {
	query, err := among.Query(reference)
	if err != nil {
		return ref.Reference{}, err
	}
	query.Installed = installed
	catalogs, err := r.CatalogsFor(ctx, among)
	if err != nil {
		return ref.Reference{}, err
	}
	if among.bundle != "" {
		if query.Version, err = versionOf(catalogs, reference.Package, among.bundle); err != nil {
			return ref.Reference{}, err
		}
	}
	choice, err := catalog.Resolve(catalogs, query)
	if err != nil {
		return ref.Reference{}, err
	}
	r.progress(choice.Package + " " + choice.Version + ": " + choice.Why)
	out.choice, out.catalogs = choice, catalogs
	out.request.Version, out.request.Channel = query.Version, choice.Channel
	out.noteChoice(installed, query.Policy)
	out.via = []preview.ResolutionStep{choice.Via()}
	return bundleReference(choice)
}

// Query returns the catalog query for a reference: the package and version that
// it names, with the selection's version, channels and policy.
func (s *Selection) Query(reference ref.Reference) (catalog.Query, error) {
	q := catalog.Query{Package: reference.Package, Version: reference.Version, Channels: s.channels, Policy: s.policy}
	if s.Version != "" {
		if q.Version != "" && q.Version != s.Version {
			return q, Usagef("%s and --version %s ask for two versions", reference.Text, s.Version)
		}
		q.Version = s.Version
	}
	if s.Channel != "" {
		q.Channels = []string{s.Channel}
	}
	return q, nil
}

// noteChoice adds notes for the reviewer about the version that was chosen and
// why. Notes are part of the content digest, so they contain only what follows
// from the chosen catalog, without its name: other machines may have other
// catalogs. Reasons about other catalogs are recorded outside the digest.
func (out *Resolution) noteChoice(installed *catalog.Installed, policy catalog.Policy) {
	choice := out.choice
	if len(choice.Deprecated) > 0 {
		out.note(rules.Deprecated, strings.Join(choice.Deprecated, "; "))
	}
	for _, other := range catalog.LookAlikes(out.catalogs, choice) {
		if other.Elsewhere != "" {
			choice.Why += "; " + other.String()
			continue
		}
		out.note(rules.PackageNameLookAlike, other.String())
	}
	if installed == nil {
		return
	}
	if path := choice.Path(installed.Version); path != "" {
		out.note(rules.UpgradePath, path)
	}
	if policy == catalog.SelfCertified && !choice.Current {
		out.noteNoEdges(installed.Version, choice.Version)
	}
	out.noteDowngrade(installed.Version, choice.Version)
}

func (out *Resolution) noteNoEdges(from, to string) {
	out.note(rules.NoUpgradeEdges, "the upgrade path from "+from+" to "+to+" was not checked")
}

func (out *Resolution) noteDowngrade(from, to string) {
	if order, ok := catalog.CompareVersions(to, from); ok && order < 0 {
		out.note(rules.Downgrade, rules.Downgrade.NoteText(from, to))
	}
}

// withoutEdges notes that the version was chosen without following a catalog's
// upgrade edges. An older version than the installed one is an error unless the
// user named it: the head of a channel may have moved back.
func (out *Resolution) withoutEdges(stored *record.Record) error {
	if stored == nil || !stored.Installed() {
		return nil
	}
	return out.withoutEdgesFrom(stored.Version())
}

func (out *Resolution) withoutEdgesFrom(from string) error {
	to := out.info.Version
	if from == to {
		return nil
	}
	order, ok := catalog.CompareVersions(to, from)
	if ok && order < 0 && out.choice != nil && out.request.Version == "" {
		return &catalog.DowngradeError{From: from, To: to, Where: "channel " + out.choice.Channel}
	}
	out.noteNoEdges(from, to)
	out.noteDowngrade(from, to)
	return nil
}

// CatalogRef is one catalog to search, as --catalog or the configuration names it.
type CatalogRef struct {
	Reference string // as --catalog takes it, but for names of the configuration
	Priority  int
}

// catalogRefs returns the catalogs that --catalog names, each by a reference or
// by the name of a configured catalog; without --catalog, all configured ones.
func (e Environment) catalogRefs(given []string) ([]CatalogRef, error) {
	configured, err := e.Config()
	if err != nil {
		return nil, err
	}
	var out []CatalogRef
	for _, c := range configured.Catalogs {
		if len(given) == 0 {
			out = append(out, CatalogRef{c.Reference, c.Priority})
		}
	}
	for _, text := range given {
		found := CatalogRef{Reference: text}
		for _, c := range configured.Catalogs {
			if text == c.Name || text == c.Reference {
				found = CatalogRef{c.Reference, c.Priority}
				break
			}
		}
		out = append(out, found)
	}
	return out, nil
}

// upgradeCatalog returns the catalog that a release came from, if upgrades may
// use it without --catalog: it must be in the configuration or, if that has
// none, be a ClusterCatalog, which only administrators create. Other catalogs
// named in a release's record are not trusted, because everyone who can write
// Secrets there can change the record.
func (e Environment) upgradeCatalog(stored *record.Record) ([]string, error) {
	reference := stored.Catalog()
	configured, err := e.Config()
	if err != nil {
		return nil, err
	}
	for _, c := range configured.Catalogs {
		if c.Reference == reference {
			return []string{reference}, nil
		}
	}
	if served, ok, err := catalog.ParseServed(reference); ok && err == nil && served.Kind == catalog.ClusterCatalogKind && len(configured.Catalogs) == 0 {
		return []string{reference}, nil
	}
	name, namespace := stored.Release.Name, stored.Release.Namespace
	command := commandline.Operator("upgrade", name, "-n", namespace, "--catalog", reference)
	return nil, repeating(Usagef("release %s came from catalog %s, as its record says; the configuration does not have that catalog, and a record alone is not trusted to name a catalog: %s", name, reference, command), command)
}

// Catalogs opens the catalogs that --catalog names; without any, all configured
// ones; without those, the catalogs of the cluster.
func (r *Resolver) Catalogs(ctx context.Context, names []string) ([]*catalog.Catalog, error) {
	return r.CatalogsFor(ctx, Selection{Catalogs: names})
}

// CatalogsFor opens the catalogs of a selection, once for a whole command:
// choosing a package and resolving its dependencies must see the same content,
// even if a tag moves in between.
func (r *Resolver) CatalogsFor(ctx context.Context, among Selection) ([]*catalog.Catalog, error) {
	names := among.Catalogs
	if len(names) == 0 && among.CatalogSource != "" {
		names = []string{catalog.ServedCatalogSource(among.CatalogSource)}
	}
	selector := selectorText(among.Selector)
	asked := strings.Join(append(slices.Clone(names), selector), "\n")
	if opened, ok := r.opened[asked]; ok {
		return opened, nil
	}
	opened, err := r.openAll(ctx, names, selector)
	if err == nil {
		r.opened[asked] = opened
	}
	return opened, err
}

// openAll opens the named catalogs; without names, the ClusterCatalogs that the label
// selector matches; without a selector, all configured ones, else those of the cluster.
func (r *Resolver) openAll(ctx context.Context, names []string, selector string) ([]*catalog.Catalog, error) {
	if len(names) == 0 && selector != "" {
		return r.selectedCatalogs(ctx, selector)
	}
	refs, err := r.env.catalogRefs(names)
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		return r.clusterCatalogs(ctx)
	}
	var out []*catalog.Catalog
	for _, c := range refs {
		loaded, err := r.OpenNamed(ctx, c)
		if err != nil {
			return nil, err
		}
		out = append(out, loaded)
	}
	return out, nil
}

// versionOf returns the version of a package's bundle, given the bundle's name,
// from the first catalog that has the bundle.
func versionOf(catalogs []*catalog.Catalog, pkg, bundle string) (string, error) {
	for _, c := range catalogs {
		if !c.Has(pkg) {
			continue
		}
		p, err := c.Package(pkg)
		if err != nil {
			return "", err
		}
		if b := p.Bundle(bundle); b != nil {
			return b.Version.String(), nil
		}
	}
	return "", fmt.Errorf("no catalog has a bundle %s of package %s", bundle, pkg)
}

// OpenNamed opens one catalog: in the cluster, in a registry, or in a file.
func (r *Resolver) OpenNamed(ctx context.Context, c CatalogRef) (*catalog.Catalog, error) {
	if served, ok, err := catalog.ParseServed(c.Reference); ok {
		if err != nil {
			return nil, Usagef("--catalog: %s", err)
		}
		return r.namedInCluster(ctx, served)
	}
	reference, err := ref.Parse(c.Reference)
	if err != nil || reference.Kind == ref.KindPackage {
		return nil, Usagef("--catalog %s: want a directory (./DIR), an image (HOST/REPO:TAG), clustercatalog:NAME, catalogsource:NAMESPACE/NAME or a name from the configuration", c.Reference)
	}
	return r.openCatalog(ctx, catalog.Origin{Reference: c.Reference, Priority: c.Priority}, reference)
}

// bundleReference returns the reference of the chosen bundle as its catalog
// states it. A reference into the file system is an error.
func bundleReference(choice *catalog.Choice) (ref.Reference, error) {
	reference, err := ref.Parse("oci://" + choice.Image)
	if err != nil || reference.Kind != ref.KindImage {
		return ref.Reference{}, fmt.Errorf("bundle %s of catalog %s names no usable image: %q", choice.Bundle, choice.Catalog.Reference, choice.Image)
	}
	return reference, nil
}

// openCatalog opens a catalog so that its packages are read one by one, by an index.
func (r *Resolver) openCatalog(ctx context.Context, origin catalog.Origin, reference ref.Reference) (*catalog.Catalog, error) {
	return cacheFirst(r, func(from *source.Fetcher) (*catalog.Catalog, error) {
		return r.catalogFrom(ctx, from, origin, reference)
	})
}

// catalogFrom resolves a catalog to a digest, verifies its signature, and then
// reads it.
func (r *Resolver) catalogFrom(ctx context.Context, from *source.Fetcher, origin catalog.Origin, reference ref.Reference) (*catalog.Catalog, error) {
	r.progress("resolving " + reference.Text)
	pin, err := from.PinCatalog(ctx, reference)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	r.sayRemembered(pin)
	// A catalog in a directory is the user's own; what it leads to is checked.
	if reference.Kind != ref.KindDirectory {
		made, err := r.checker.check(ctx, from, pin)
		if err != nil {
			return nil, fmt.Errorf("catalog: %w", err)
		}
		if made.looked {
			origin.Verification = &made.verification
		}
	}
	r.progress("reading " + pin.Source.Digest)
	origin.Digest = pin.Source.Digest
	opened, err := catalog.Open(from.Store(), from.Identity(pin), origin, func(visit func(string, io.Reader) error) error {
		return from.WalkCatalog(ctx, pin, visit)
	})
	if err != nil {
		return nil, err
	}
	return opened, from.Remember(pin)
}

// sayRemembered reports as progress that a reference was resolved from the
// cache, and of which day that is.
func (r *Resolver) sayRemembered(pin source.Pin) {
	if !pin.Remembered.IsZero() {
		r.progress("from the cache, as resolved on " + pin.Remembered.UTC().Format("2006-01-02 15:04 UTC"))
	}
}
