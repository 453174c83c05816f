// Package catalog reads file-based catalogs (operator-registry, "File-based
// Catalogs"): which packages there are, and which bundle image a package,
// version and channel lead to.
//
// A catalog is read once, into an index by package: that only separates the
// documents, and refuses the catalog where that is not possible. A package
// is decoded and judged when it is asked for. So one that breaks the rules never
// stands in the way of another, and resolving one name takes as long in a
// catalog of a hundred thousand bundles as in one of ten.
//
// [Catalog] resolves a [Query] as OLM v1 does: the highest version in the range among
// the channels asked for, and for an installed bundle only versions that an upgrade
// edge leads to (replaces, skips, skipRange). The order never depends on the order of
// files. Text of a catalog is not trusted: it decides which image is read, and nothing
// about the content, which is verified against the choice when it was fetched.
package catalog

import (
	"fmt"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Origin is where a catalog came from (its reference as typed, and its digest), with
// its priority and signature.
type Origin struct {
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
	// Priority decides between catalogs that have the same package; the higher
	// wins.
	Priority int `json:"priority,omitempty"`
	// Verification is the outcome for the catalog's signatures, nil where
	// it was not looked for. A plan carries it on.
	Verification *preview.Verification `json:"-"`
}

// Catalog is an open catalog. It is safe for concurrent use.
type Catalog struct {
	origin   Origin
	store    Store // nil of a catalog in memory
	identity string
	// again makes the index anew, where it turns out to be damaged.
	again func() (*index, error)

	mu    sync.Mutex
	index *index

	tabling sync.Mutex
	tabled  *table // nil until it is asked for
}

// documents are the documents of one package by schema, not yet decoded.
type documents struct {
	pkg, channels, bundles, deprecations []document
}

// document is one document of a catalog: its bytes, and the fields schema, package and
// name.
type document struct {
	schema, pkg, name string
	file              string
	raw               []byte
}

// The schemas of file-based catalogs that are read; others are ignored.
const (
	schemaPackage      = "olm.package"
	schemaChannel      = "olm.channel"
	schemaBundle       = "olm.bundle"
	schemaDeprecations = "olm.deprecations"
)

// add appends a document to the list of its schema. Other schemas are ignored.
func (docs *documents) add(d document) {
	switch d.schema {
	case schemaPackage:
		docs.pkg = append(docs.pkg, d)
	case schemaChannel:
		docs.channels = append(docs.channels, d)
	case schemaBundle:
		docs.bundles = append(docs.bundles, d)
	case schemaDeprecations:
		docs.deprecations = append(docs.deprecations, d)
	}
}

// Origin returns where the catalog came from.
func (c *Catalog) Origin() Origin { return c.origin }

// Names returns the names of the packages, sorted. Every name is a DNS-1123 subdomain.
func (c *Catalog) Names() []string {
	x := c.current()
	names := make([]string, len(x.entries))
	for i, e := range x.entries {
		names[i] = e.name
	}
	return names
}

// Has reports whether the catalog has documents of a package with this name, which may
// break the rules of catalogs.
func (c *Catalog) Has(name string) bool {
	_, ok := c.current().find(name)
	return ok
}

// Package decodes one package. A missing package, and one that breaks the rules of
// file-based catalogs, is an error.
func (c *Catalog) Package(name string) (*Package, error) {
	docs, err := c.documents(name)
	if err != nil {
		return nil, err
	}
	p, err := decodePackage(name, docs)
	if err != nil {
		return nil, fmt.Errorf("package %q in catalog %s: %w", name, c.origin.Reference, err)
	}
	return p, nil
}

func (c *Catalog) current() *index {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.index
}

// documents reads the documents of a package from the index. A damaged index is made
// anew from the catalog's files.
func (c *Catalog) documents(name string) (*documents, error) {
	x := c.current()
	entry, ok := x.find(name)
	if !ok {
		return nil, notFound([]*Catalog{c}, name)
	}
	docs, err := x.documents(entry)
	if err == nil {
		return docs, nil
	}
	if x, err = c.mend(x, err); err == nil {
		if entry, ok = x.find(name); !ok {
			return nil, notFound([]*Catalog{c}, name)
		}
		docs, err = x.documents(entry)
	}
	if err != nil {
		return nil, fmt.Errorf("package %q in catalog %s: %w", name, c.origin.Reference, err)
	}
	return docs, nil
}

// mend replaces a damaged index by a new one, unless another caller did so already.
// because is the error about the damage; it is returned if no index can be made.
func (c *Catalog) mend(damaged *index, because error) (*index, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index != damaged { // another user did
		return c.index, nil
	}
	if c.again == nil {
		return nil, because
	}
	x, err := c.again()
	if err == nil {
		c.index = x
	}
	return x, err
}

func references(cats []*Catalog) string {
	var out []string
	for _, c := range cats {
		out = append(out, c.origin.Reference)
	}
	return strings.Join(out, " and ")
}
