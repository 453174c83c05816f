// Package catalog reads file-based catalogs (operator-registry, "File-based
// Catalogs"): which packages there are, and which bundle image a package,
// version and channel lead to.
//
// Loading only tells the documents apart; a package is decoded and judged when
// it is asked for. So one broken package never stands in the way of another,
// and resolving one name in a catalog of thousands of bundles stays fast.
package catalog

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Limits on one catalog. The largest public indexes have about 300 MB and some
// ten thousand bundles.
const (
	maxFiles     = 100_000
	maxBytes     = 512 << 20
	maxDocuments = 1_000_000
)

// Origin is where a catalog came from: the reference as typed and its pin.
type Origin struct {
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
	// Verification is the outcome for the catalog's signatures, nil where
	// nobody looked. A plan carries it on.
	Verification *preview.Verification `json:"-"`
}

// Catalog is a loaded catalog. It is safe for concurrent use.
type Catalog struct {
	origin   Origin
	packages map[string]*documents
	broken   []brokenFile // in the order of the walk
}

// documents are the undecoded documents of one package, in the order read.
type documents struct {
	pkg, channels, bundles, deprecations []document
}

// document is one meta of a catalog: its three look-up keys, and the bytes.
type document struct {
	schema, pkg, name string
	file              string
	raw               []byte
}

// brokenFile is a file of which some documents could not be told apart.
type brokenFile struct {
	path string
	err  error
}

// The schemas of file-based catalogs that are read; others are ignored.
const (
	schemaPackage      = "olm.package"
	schemaChannel      = "olm.channel"
	schemaBundle       = "olm.bundle"
	schemaDeprecations = "olm.deprecations"
)

// Load reads every document of a catalog. Only a tree that cannot be walked or
// breaks a cap is an error here; broken documents are one only for who asks
// for their package.
func Load(fsys fs.FS, origin Origin) (*Catalog, error) {
	c := &Catalog{origin: origin, packages: map[string]*documents{}}
	if err := c.load(fsys); err != nil {
		return nil, fmt.Errorf("reading catalog %s: %w", origin.Reference, err)
	}
	if len(c.packages) == 0 {
		return nil, fmt.Errorf("reading catalog %s: it holds no packages%s", origin.Reference, c.brokenNote())
	}
	return c, nil
}

func (c *Catalog) load(fsys fs.FS) error {
	ignored, err := readIgnores(fsys)
	if err != nil {
		return err
	}
	files, bytes, count := 0, int64(0), 0
	return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && ignored.match(name, entry.IsDir()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir() || entry.Name() == ignoreFile:
			return nil
		}
		if files++; files > maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if bytes += int64(len(data)); bytes > maxBytes {
			return fmt.Errorf("more than %d MiB", maxBytes>>20)
		}
		docs, err := splitDocuments(name, data)
		if count += len(docs); count > maxDocuments {
			return fmt.Errorf("more than %d documents", maxDocuments)
		}
		for _, d := range docs {
			c.add(d)
		}
		if err != nil {
			c.broken = append(c.broken, brokenFile{name, err})
		}
		return nil
	})
}

// add files a document under its package. Documents of unknown schemas, and of
// packages that no reference could name, are left out.
func (c *Catalog) add(d document) {
	owner := d.pkg
	if d.schema == schemaPackage {
		owner = d.name
	}
	if !ref.IsName(owner) {
		return
	}
	docs := c.packages[owner]
	if docs == nil {
		docs = &documents{}
	}
	switch d.schema {
	case schemaPackage:
		docs.pkg = append(docs.pkg, d)
	case schemaChannel:
		docs.channels = append(docs.channels, d)
	case schemaBundle:
		docs.bundles = append(docs.bundles, d)
	case schemaDeprecations:
		docs.deprecations = append(docs.deprecations, d)
	default:
		return
	}
	c.packages[owner] = docs
}

// Origin returns where the catalog came from.
func (c *Catalog) Origin() Origin { return c.origin }

// Names returns the packages in order. All are DNS-1123 subdomains.
func (c *Catalog) Names() []string { return slices.Sorted(maps.Keys(c.packages)) }

// Package decodes one package. A package that breaks the rules of file-based
// catalogs, or is not there, is an error that says how.
func (c *Catalog) Package(name string) (*Package, error) {
	docs, ok := c.packages[name]
	if !ok {
		return nil, notFound([]*Catalog{c}, name)
	}
	p, err := decodePackage(name, docs)
	if err == nil {
		err = c.brokenFor(docs)
	}
	if err != nil {
		return nil, fmt.Errorf("package %q in catalog %s: %w", name, c.origin.Reference, err)
	}
	return p, nil
}

// brokenFor returns an error when a file that holds documents of a package
// could not be read to its end: what is missing may be the package's.
func (c *Catalog) brokenFor(docs *documents) error {
	for _, broken := range c.broken {
		for _, list := range [][]document{docs.pkg, docs.channels, docs.bundles, docs.deprecations} {
			for _, d := range list {
				if d.file == broken.path {
					return fmt.Errorf("%s: %w", broken.path, broken.err)
				}
			}
		}
	}
	return nil
}

// brokenNote ends a sentence about something that was not found.
func (c *Catalog) brokenNote() string {
	if len(c.broken) == 0 {
		return ""
	}
	first := c.broken[0]
	text := fmt.Sprintf("; %s could not be read: %v", first.path, first.err)
	if more := len(c.broken) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

func references(cats []*Catalog) string {
	var out []string
	for _, c := range cats {
		out = append(out, c.origin.Reference)
	}
	return strings.Join(out, " and ")
}
