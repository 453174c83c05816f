package catalog

import (
	"errors"
	"fmt"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Bundle is one version of a package.
type Bundle struct {
	Name       string
	Version    Version
	Image      string
	Deprecated string

	doc  document
	once sync.Once
	more bundleDetails // read through details
}

// Property is one property of a bundle: its type and its decoded value, which comes
// from the catalog and is not trusted. Callers must not change the value.
type Property struct {
	Type  string
	Value any
}

// The types of properties that are read here.
const (
	propertyPackage     = "olm.package"
	propertyCSVMetadata = "olm.csv.metadata"
)

// bundleDetails has the parts of a bundle that are decoded when they are first asked
// for.
type bundleDetails struct {
	properties    []Property
	relatedImages []string
	err           error
}

func decodeBundle(d document) (*Bundle, error) {
	fields, err := decodeDocument(d)
	if err != nil {
		return nil, err
	}
	return newBundle(d, fields)
}

func newBundle(d document, fields map[string]any) (*Bundle, error) {
	if d.name == "" {
		return nil, errors.New("it has no name")
	}
	image, err := text(fields, "image")
	if err != nil {
		return nil, err
	}
	values := properties(fields, propertyPackage)
	if len(values) != 1 {
		return nil, fmt.Errorf("it has %d olm.package properties instead of one", len(values))
	}
	value, ok := values[0].(map[string]any)
	if !ok {
		return nil, errors.New("its olm.package property is no mapping")
	}
	if owner := preview.String(value, "packageName"); owner != d.pkg {
		return nil, fmt.Errorf("its olm.package property names package %q", owner)
	}
	version, err := ParseVersion(preview.String(value, "version"))
	if err != nil {
		return nil, err
	}
	return &Bundle{Name: d.name, Version: version, Image: image, doc: d}, nil
}

// Properties returns the properties of the bundle in the order of the catalog. The
// first call decodes them.
func (b *Bundle) Properties() ([]Property, error) {
	d := b.details()
	return d.properties, d.err
}

// RelatedImages returns the images that the bundle lists in relatedImages.
func (b *Bundle) RelatedImages() ([]string, error) {
	d := b.details()
	return d.relatedImages, d.err
}

func (b *Bundle) details() *bundleDetails {
	b.once.Do(func() { b.more = decodeDetails(b.doc) })
	return &b.more
}

func decodeDetails(d document) bundleDetails {
	fields, err := decodeDocument(d)
	if err != nil {
		return bundleDetails{err: fmt.Errorf("bundle %q: %w", d.name, err)}
	}
	var out bundleDetails
	list, _ := fields["properties"].([]any)
	for _, item := range list {
		property, _ := item.(map[string]any)
		typ, _ := property["type"].(string)
		if typ == "" {
			return bundleDetails{err: fmt.Errorf("bundle %q: a property without a type", d.name)}
		}
		out.properties = append(out.properties, Property{Type: typ, Value: property["value"]})
	}
	images, _ := fields["relatedImages"].([]any)
	for _, item := range images {
		related, _ := item.(map[string]any)
		if image := preview.String(related, "image"); image != "" {
			out.relatedImages = append(out.relatedImages, image)
		}
	}
	return out
}

// properties returns the values of a bundle's properties of one type.
func properties(fields map[string]any, typ string) []any {
	list, _ := fields["properties"].([]any)
	var out []any
	for _, item := range list {
		if property, ok := item.(map[string]any); ok && property["type"] == typ {
			out = append(out, property["value"])
		}
	}
	return out
}

// checkImage returns an error unless the bundle has a valid image reference.
func (b *Bundle) checkImage() error {
	if b.Image == "" {
		return fmt.Errorf("bundle %q names no image", b.Name)
	}
	if _, err := ref.Parse("oci://" + b.Image); err != nil {
		return fmt.Errorf("bundle %q: %w", b.Name, err)
	}
	return nil
}
