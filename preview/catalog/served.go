package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// The kinds of objects that are catalogs of a cluster.
const (
	ClusterCatalogAPI  = "olm.operatorframework.io/v1"
	ClusterCatalogKind = "ClusterCatalog"
	CatalogSourceAPI   = "operators.coreos.com/v1alpha1"
	CatalogSourceKind  = "CatalogSource"
)

// How a catalog of a cluster is named where a reference of a catalog is wanted.
const (
	clusterCatalogPrefix = "clustercatalog:" // and NAME
	catalogSourcePrefix  = "catalogsource:"  // and NAMESPACE/NAME
)

// Served is a catalog that a ClusterCatalog (OLM v1) or a CatalogSource (OLM v0) in the
// cluster describes.
type Served struct {
	Kind, Namespace, Name string
	Priority              int
	// Endpoint holds the Service of catalogd; nil when the status has none.
	Endpoint *Endpoint
	// Image holds the same, empty when there is none.
	Image string
	// Problem says why the catalog cannot be used, empty when it can.
	Problem string

	uid, unpacked string
}

// Endpoint is the Service and path where catalogd serves one catalog.
type Endpoint struct {
	Namespace, Service, Port string
	Path                     string // begins with "/"
}

// Reference returns the catalog as --catalog takes it, such as "clustercatalog:NAME".
func (s Served) Reference() string { return s.ref().Text() }

func (s Served) ref() ServedRef {
	return ServedRef{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}
}

// ServedRef names a ClusterCatalog or CatalogSource of the cluster.
type ServedRef struct {
	Kind, Namespace, Name string
}

// ServedCatalogSource returns the reference of a CatalogSource; path is NAMESPACE/NAME.
func ServedCatalogSource(path string) string { return catalogSourcePrefix + path }

// Text returns the reference in the form that [ParseServed] reads.
func (r ServedRef) Text() string {
	if r.Kind == ClusterCatalogKind {
		return clusterCatalogPrefix + r.Name
	}
	return catalogSourcePrefix + r.Namespace + "/" + r.Name
}

// ParseServed parses "clustercatalog:NAME" or "catalogsource:NAMESPACE/NAME". ok is
// false for a text without one of these prefixes; an invalid name after a prefix is an
// error.
func ParseServed(text string) (r ServedRef, ok bool, err error) {
	if name, found := strings.CutPrefix(text, clusterCatalogPrefix); found {
		if !ref.IsName(name) {
			return r, true, fmt.Errorf("catalog %q: want %sNAME", text, clusterCatalogPrefix)
		}
		return ServedRef{Kind: ClusterCatalogKind, Name: name}, true, nil
	}
	if path, found := strings.CutPrefix(text, catalogSourcePrefix); found {
		namespace, name, _ := strings.Cut(path, "/")
		if !ref.IsName(namespace) || !ref.IsName(name) {
			return r, true, fmt.Errorf("catalog %q: want %sNAMESPACE/NAME", text, catalogSourcePrefix)
		}
		return ServedRef{Kind: CatalogSourceKind, Namespace: namespace, Name: name}, true, nil
	}
	return r, false, nil
}

// ReadServed reads a ClusterCatalog or CatalogSource. The object is not trusted:
// references must be valid, and an endpoint must be a Service; else Problem says what
// is wrong.
func ReadServed(body map[string]any) Served {
	s := Served{
		Kind:      preview.String(body, "kind"),
		Namespace: preview.String(body, "metadata", "namespace"),
		Name:      preview.String(body, "metadata", "name"),
		uid:       preview.String(body, "metadata", "uid"),
		unpacked:  preview.String(body, "status", "lastUnpacked"),
	}
	s.Priority = priorityOf(preview.Value(body, "spec", "priority"))
	if s.Kind == ClusterCatalogKind {
		s.readClusterCatalog(body)
	} else {
		s.readCatalogSource(body)
	}
	return s
}

func (s *Served) readClusterCatalog(body map[string]any) {
	if preview.String(body, "spec", "availabilityMode") == "Unavailable" {
		s.Problem = "its availabilityMode is Unavailable"
		return
	}
	var problems []string
	if base := preview.String(body, "status", "urls", "base"); base != "" {
		endpoint, err := parseEndpoint(base)
		if err != nil {
			problems = append(problems, err.Error())
		}
		s.Endpoint = endpoint
	}
	if image := preview.String(body, "status", "resolvedSource", "image", "ref"); image != "" {
		if parsed, err := ref.Parse("oci://" + image); err != nil || !strings.Contains(parsed.Image, "@") {
			problems = append(problems, fmt.Sprintf("its resolved image %q names no digest", image))
		} else {
			s.Image = image
		}
	}
	if s.Endpoint == nil && s.Image == "" {
		s.Problem = cmp.Or(strings.Join(problems, "; "), "it is not unpacked yet: its status names neither a URL nor an image")
	}
}

func (s *Served) readCatalogSource(body map[string]any) {
	image := preview.String(body, "spec", "image")
	switch {
	case image != "":
		if _, err := ref.Parse("oci://" + image); err != nil {
			s.Problem = fmt.Sprintf("its image %q: %v", image, err)
			return
		}
		s.Image = image
	case preview.String(body, "spec", "address") != "":
		s.Problem = "it has only the address of a gRPC server, which cannot be asked from here"
	case preview.String(body, "spec", "configMap") != "":
		s.Problem = "it is made from a ConfigMap of old package manifests"
	default:
		s.Problem = "it names no image"
	}
}

// priorityOf returns the priority of a catalog, 0 if value is not an int32.
func priorityOf(value any) int {
	if n, ok := value.(int64); ok && n == int64(int32(n)) {
		return int(n)
	}
	return 0
}

var errNoService = errors.New("its URL is not https://SERVICE.NAMESPACE.svc/catalogs/NAME")

// parseEndpoint parses catalogd's URL of a catalog inside the cluster. Its host must be
// a Service, which is then read through the API server with the user's permissions.
func parseEndpoint(base string) (*Endpoint, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errNoService
	}
	parts := strings.Split(u.Hostname(), ".")
	if len(parts) < 3 || parts[2] != "svc" || !ref.IsName(parts[0]) || !ref.IsName(parts[1]) {
		return nil, errNoService
	}
	port := cmp.Or(u.Port(), "443")
	if u.Path != u.EscapedPath() || slices.ContainsFunc(strings.Split(strings.TrimPrefix(u.Path, "/"), "/"), func(segment string) bool { return !ref.IsName(segment) }) {
		return nil, errNoService
	}
	return &Endpoint{Namespace: parts[1], Service: parts[0], Port: port, Path: u.Path}, nil
}
