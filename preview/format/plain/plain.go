// Package plain takes Kubernetes manifests as they are: plain+v0 bundles
// (rukpak docs/bundles/plain.md) and any directory of YAML or JSON files.
//
// The files: in manifests/, if there is such a directory, which must then be flat; else
// at the root; else, when the root has none, below it. Files count by their ends .yaml,
// .yml and .json; names that begin with a dot do not count.
package plain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/locate"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Name is the format's name in plans.
const Name = "plain+v0"

const (
	manifestsDir    = "manifests"
	annotationsFile = "metadata/annotations.yaml"
	keyPackage      = "operators.operatorframework.io.bundle.package.v1"
)

// New returns the format.
func New() format.Format { return plainFormat{} }

type plainFormat struct{}

// Detect recognises content with at least one manifest file. The package name, if
// any, comes from metadata/annotations.yaml.
func (plainFormat) Detect(content fs.FS) (*format.Info, error) {
	found, err := find(content)
	if err != nil || len(found.files) == 0 {
		return nil, err
	}
	name, err := packageName(content)
	if err != nil {
		return nil, err
	}
	return &format.Info{Format: Name, Package: name}, nil
}

// Render decodes every file, in the order of their names. Each document must
// be an object; the error names the file and the document that is not.
func (plainFormat) Render(_ context.Context, in format.Input) (*format.Output, error) {
	if err := in.Params.None("a set of manifests"); err != nil {
		return nil, err
	}
	found, err := find(in.Content)
	if err != nil {
		return nil, err
	}
	if found.spread {
		if err := oneKind(found.files, in); err != nil {
			return nil, err
		}
	}
	objects, err := decode(in.Content, found.files)
	if err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, errors.New("its manifests hold no object")
	}
	if err := refuseDuplicates(objects); err != nil {
		return nil, err
	}
	for i := range objects {
		objects[i].Origin.File = path.Join(in.Path, objects[i].Origin.File)
	}
	out := &format.Output{Objects: objects, Resolved: preview.Parameters{WatchNamespaces: []string{}}}
	if found.unread > 0 {
		out.Notes = append(out.Notes, rules.FilesNotRead.Note("package/"+in.Info.Package, fmt.Sprintf("the %d manifests at the top are read, and %d in directories below are not", len(found.files), found.unread)))
	}
	return out, nil
}

// decode reads the objects in files. An object of kind List becomes its items.
func decode(content fs.FS, files []string) ([]format.RenderedObject, error) {
	var out []format.RenderedObject
	left := int64(maxBytes)
	for _, name := range files {
		data, err := format.ReadFile(content, name, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(data))
		if err := preview.CheckManifests(data); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := refuseTemplate(name, data); err != nil {
			return nil, err
		}
		docs, err := preview.DecodeDocuments(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for i, doc := range docs {
			if schema := preview.String(asMap(doc.Value), "schema"); strings.HasPrefix(schema, "olm.") {
				return nil, fmt.Errorf("%s document %d: it belongs to a catalog (%s); resolve a package in it with --catalog", name, i+1, schema)
			}
			objects, err := doc.Objects()
			if err != nil {
				return nil, fmt.Errorf("%s document %d: %w; every document of every manifest is to be an object", name, i+1, err)
			}
			for _, o := range objects {
				out = append(out, format.RenderedObject{Body: o.Body, Origin: preview.Origin{File: name, Document: i + 1, Line: o.Lines.At()}, Items: locate.Items(o.Body, o.Lines)})
			}
			if len(out) > preview.MaxObjects {
				return nil, fmt.Errorf("%s: more than %d objects", name, preview.MaxObjects)
			}
		}
	}
	return out, nil
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// refuseDuplicates returns an error for two different objects with the same id.
func refuseDuplicates(objects []format.RenderedObject) error {
	seen := map[string]format.RenderedObject{}
	for _, o := range objects {
		ref := preview.RefOf(o.Body)
		first, twice := seen[ref.ID()]
		if !twice {
			seen[ref.ID()] = o
			continue
		}
		same, err := equal(first.Body, o.Body)
		if err != nil {
			return fmt.Errorf("%s document %d: %w", o.Origin.File, o.Origin.Document, err)
		}
		if !same {
			return fmt.Errorf("%s document %d and %s document %d are two different objects with the id %s; put what belongs together into a directory and name it with --path",
				first.Origin.File, first.Origin.Document, o.Origin.File, o.Origin.Document, ref.ID())
		}
	}
	return nil
}

func equal(a, b map[string]any) (bool, error) {
	x, err := preview.Canonical(a)
	if err != nil {
		return false, err
	}
	y, err := preview.Canonical(b)
	return string(x) == string(y), err
}
