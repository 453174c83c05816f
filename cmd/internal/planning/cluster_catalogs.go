package planning

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// catalogServer is a cluster as far as catalogs are read from it.
type catalogServer interface {
	// Select lists the objects that a label selector matches.
	Select(ctx context.Context, apiVersion, kind, labelSelector string) ([]map[string]any, error)
	// ServiceGet copies what a Service answers to a GET.
	ServiceGet(ctx context.Context, namespace, service, port, path string, w io.Writer) error
}

// Select implements [catalogServer].
func (t targetCluster) Select(ctx context.Context, apiVersion, kind, labelSelector string) ([]map[string]any, error) {
	client, err := t.planner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.List(ctx, apiVersion, kind, "", labelSelector)
}

// ServiceGet implements [catalogServer].
func (t targetCluster) ServiceGet(ctx context.Context, namespace, service, port, path string, w io.Writer) error {
	client, err := t.planner.Connect(ctx)
	if err != nil {
		return err
	}
	return client.ServiceGet(ctx, namespace, service, port, path, w)
}

// errNoCatalog is the error for a package name without any catalog. It names
// two public catalogs, because first-time users do not know one.
var errNoCatalog = noCatalog("none is configured, and the cluster has none")

func noCatalog(why string) error {
	commands := []string{
		commandline.Operator("catalog", "add", "operatorhub", "quay.io/operatorhubio/catalog:latest"),
		commandline.Operator("catalog", "add", "openshift", "registry.redhat.io/redhat/community-operator-index:v4.20"),
		commandline.Operator("install", "./bundle"),
	}
	return &commandline.Advised{
		Err: Usagef("no catalog can be read: %s; add a public one, name one with --catalog, or install content as it is:\n  %s\n  %s   # after docker login registry.redhat.io\n  %s",
			why, commands[0], commands[1], commands[2]),
		Commands: commands, Scope: commandline.All,
	}
}

// WithoutCatalog returns the error for a reference that is the name of a package while
// neither the options nor the configuration name a catalog; nil otherwise. The cluster,
// which is not asked, may have one.
func (p *Planner) WithoutCatalog(reference string) error {
	parsed, err := ref.Parse(reference)
	if err != nil || parsed.Kind != ref.KindPackage {
		return nil
	}
	if named, err := p.env.catalogRefs(p.Selection.Catalogs); err != nil || len(named) > 0 {
		return err
	}
	return noCatalog("none is configured, and the cluster was not asked for its own")
}

// ServedKind is a kind of objects that name catalogs in a cluster:
// ClusterCatalog (OLM v1) or CatalogSource (OLM v0).
type ServedKind struct{ apiVersion, kind string }

// ServedKinds returns the kinds of catalog objects, in the order in which they
// are tried.
func ServedKinds() []ServedKind {
	return []ServedKind{
		{catalog.ClusterCatalogAPI, catalog.ClusterCatalogKind},
		{catalog.CatalogSourceAPI, catalog.CatalogSourceKind},
	}
}

// server returns the cluster from which catalogs are read; an error when offline.
func (r *Resolver) server() (catalogServer, error) {
	server, ok := r.cluster.(catalogServer)
	if !ok {
		return nil, noCatalog("none is configured, and no cluster is asked offline")
	}
	return server, nil
}

// servedCatalogs lists the catalog objects of one kind in the cluster, sorted by
// name; none if the cluster does not serve the kind.
func servedCatalogs(ctx context.Context, server catalogServer, of ServedKind, selector string) ([]catalog.Served, error) {
	bodies, err := server.Select(ctx, of.apiVersion, of.kind, selector)
	if preview.ReasonOf(err) == preview.ReasonNotServed {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the %ss of the cluster: %w", of.kind, err)
	}
	var out []catalog.Served
	for _, body := range bodies {
		out = append(out, catalog.ReadServed(body))
	}
	slices.SortFunc(out, func(a, b catalog.Served) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

// ServedCatalogs lists the catalog objects of one kind in the cluster, sorted by
// name.
func (p *Planner) ServedCatalogs(ctx context.Context, kind ServedKind) ([]catalog.Served, error) {
	return servedCatalogs(ctx, targetCluster{p}, kind, "")
}

// clusterCatalogs opens the enabled ClusterCatalogs of the cluster. If there are
// none, it opens CatalogSources.
func (r *Resolver) clusterCatalogs(ctx context.Context) ([]*catalog.Catalog, error) {
	server, err := r.server()
	if err != nil {
		return nil, err
	}
	var unusable []string
	for _, kind := range ServedKinds() {
		found, err := servedCatalogs(ctx, server, kind, "")
		if err != nil {
			if preview.ReasonOf(err) != preview.ReasonForbidden {
				return nil, fmt.Errorf("%w; or name a catalog with --catalog", err)
			}
			unusable = append(unusable, err.Error())
			continue
		}
		opened, skipped, err := r.openServed(ctx, server, found)
		if err != nil {
			return nil, err
		}
		if unusable = append(unusable, skipped...); len(opened) > 0 {
			return opened, nil
		}
	}
	if len(unusable) == 0 {
		return nil, errNoCatalog
	}
	return nil, noCatalog("none is configured, and those of the cluster cannot be used: " + strings.Join(unusable, "; "))
}

// selectedCatalogs opens the ClusterCatalogs that a label selector matches, as
// a ClusterExtension selects them.
func (r *Resolver) selectedCatalogs(ctx context.Context, selector string) ([]*catalog.Catalog, error) {
	server, err := r.server()
	if err != nil {
		return nil, Usagef("the catalogs are chosen by the labels %q of ClusterCatalogs, which only a cluster knows; offline, name one with --catalog", selector)
	}
	found, err := servedCatalogs(ctx, server, ServedKind{catalog.ClusterCatalogAPI, catalog.ClusterCatalogKind}, selector)
	if err != nil {
		return nil, err
	}
	opened, unusable, err := r.openServed(ctx, server, found)
	if err != nil || len(opened) > 0 {
		return opened, err
	}
	if len(unusable) > 0 {
		return nil, fmt.Errorf("no ClusterCatalog with the labels %q can be used: %s", selector, strings.Join(unusable, "; "))
	}
	return nil, fmt.Errorf("the cluster has no ClusterCatalog with the labels %q", selector)
}

// selectorText returns a label selector in the syntax of the API server, which
// refuses invalid ones (Kubernetes, "Labels and Selectors").
func selectorText(s ref.Selector) string {
	var terms []string
	for key, value := range s.MatchLabels {
		terms = append(terms, key+"="+value)
	}
	for _, e := range s.MatchExpressions {
		switch e.Operator {
		case "In", "NotIn":
			terms = append(terms, e.Key+" "+strings.ToLower(e.Operator)+" ("+strings.Join(e.Values, ",")+")")
		case "Exists":
			terms = append(terms, e.Key)
		case "DoesNotExist":
			terms = append(terms, "!"+e.Key)
		}
	}
	slices.Sort(terms)
	return strings.Join(terms, ",")
}

// namedInCluster opens the catalog of one catalog object, by its kind and name.
func (r *Resolver) namedInCluster(ctx context.Context, name catalog.ServedRef) (*catalog.Catalog, error) {
	server, err := r.server()
	if err != nil {
		return nil, Usagef("catalog %s is in the cluster, which is not asked offline", name.Text())
	}
	apiVersion := catalog.ClusterCatalogAPI
	if name.Kind == catalog.CatalogSourceKind {
		apiVersion = catalog.CatalogSourceAPI
	}
	body, err := r.cluster.Get(ctx, preview.Ref{APIVersion: apiVersion, Kind: name.Kind, Namespace: name.Namespace, Name: name.Name})
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", name.Text(), err)
	}
	if body == nil {
		return nil, fmt.Errorf("catalog %s: the cluster has no such %s; --catalog names another", name.Text(), name.Kind)
	}
	served := catalog.ReadServed(body)
	if served.Problem != "" {
		return nil, fmt.Errorf("catalog %s: %s", name.Text(), served.Problem)
	}
	return r.openOneServed(ctx, server, served)
}

// openServed opens the catalogs of catalog objects. Those that state a problem,
// such as being disabled, are returned as unusable; any other that cannot be
// read is an error, as in OLM.
func (r *Resolver) openServed(ctx context.Context, server catalogServer, list []catalog.Served) (opened []*catalog.Catalog, unusable []string, err error) {
	for _, s := range list {
		if s.Problem != "" {
			unusable = append(unusable, s.Reference()+": "+s.Problem)
			r.progress("leaving out " + s.Reference() + ": " + s.Problem)
			continue
		}
		c, err := r.openOneServed(ctx, server, s)
		if err != nil {
			return nil, nil, err
		}
		opened = append(opened, c)
	}
	return opened, unusable, nil
}

// openOneServed opens a catalog of the cluster from catalogd, or from its image if
// catalogd does not answer.
func (r *Resolver) openOneServed(ctx context.Context, server catalogServer, s catalog.Served) (*catalog.Catalog, error) {
	origin := catalog.Origin{Reference: s.Reference(), Priority: s.Priority}
	if s.Endpoint != nil {
		c, err := r.fromCatalogd(ctx, server, s, origin)
		if err == nil || s.Image == "" || ctx.Err() != nil {
			return c, err
		}
		r.progress(fmt.Sprintf("%s; reading the image %s instead", err, s.Image))
	}
	reference, err := ref.Parse("oci://" + s.Image)
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", s.Reference(), err)
	}
	c, err := r.openCatalog(ctx, origin, reference)
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", s.Reference(), err)
	}
	return c, nil
}

// maxServed is the most bytes that are downloaded from catalogd, into a temporary file.
const maxServed = 4 << 30

// fromCatalogd opens a catalog that catalogd serves. Its digest is the hash of the
// downloaded content. A catalog that has not changed since is taken from the cache.
func (r *Resolver) fromCatalogd(ctx context.Context, server catalogServer, s catalog.Served, origin catalog.Origin) (*catalog.Catalog, error) {
	store := r.fetcher.Store()
	var ready *download // not read yet
	walk := func(visit func(string, io.Reader) error) error {
		file := ready
		if ready = nil; file == nil {
			var err error
			if file, err = fetchServed(ctx, server, *s.Endpoint); err != nil {
				return err
			}
		}
		defer file.remove()
		if file.digest != origin.Digest {
			return errors.New("catalogd serves another catalog than a moment ago")
		}
		return visit("catalog.jsonl", file)
	}
	known := false
	if origin.Digest, known = catalog.Recall(store, s); known {
		if c, err := catalog.Open(store, "catalogd "+origin.Digest, origin, walk); err == nil {
			return c, nil
		}
	}
	r.progress("reading " + s.Reference() + " from catalogd")
	file, err := fetchServed(ctx, server, *s.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("catalog %s: catalogd does not serve it to you: %w", origin.Reference, err)
	}
	ready, origin.Digest = file, file.digest
	c, err := catalog.Open(store, "catalogd "+origin.Digest, origin, walk)
	if ready != nil { // its index was there
		ready.remove()
		ready = nil
	}
	if err == nil {
		catalog.Remember(store, s, origin.Digest)
	}
	return c, err
}

// download is a temporary file with the content that catalogd served, and its digest.
type download struct {
	*os.File
	digest string
}

func (d *download) remove() { _ = errors.Join(d.Close(), os.Remove(d.Name())) }

// fetchServed downloads a catalog through the API server.
func fetchServed(ctx context.Context, server catalogServer, e catalog.Endpoint) (*download, error) {
	file, err := os.CreateTemp("", "kubectl-operator-catalog-")
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	err = server.ServiceGet(ctx, e.Namespace, e.Service, e.Port, e.Path+"/api/v1/all", &cappedWriter{io.MultiWriter(file, sum), maxServed})
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	got := &download{file, "sha256:" + hex.EncodeToString(sum.Sum(nil))}
	if err != nil {
		got.remove()
		return nil, err
	}
	return got, nil
}

// cappedWriter is a writer that fails after a number of bytes.
type cappedWriter struct {
	to   io.Writer
	left int64
}

// Write implements [io.Writer].
func (c *cappedWriter) Write(p []byte) (int, error) {
	if c.left -= int64(len(p)); c.left < 0 {
		return 0, fmt.Errorf("more than %d MiB", maxServed>>20)
	}
	return c.to.Write(p)
}
