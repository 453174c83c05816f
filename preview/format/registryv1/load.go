package registryv1

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// The layout of a bundle and the annotations read from it (registry+v1,
// operator-registry docs/design/operator-bundle.md).
const (
	manifestsDir    = "manifests"
	annotationsFile = "metadata/annotations.yaml"
	propertiesFile  = "metadata/properties.yaml"

	keyPackage            = "operators.operatorframework.io.bundle.package.v1"
	keyMediaType          = "operators.operatorframework.io.bundle.mediatype.v1"
	keySuggestedNamespace = "operatorframework.io/suggested-namespace"
	keyProperties         = "olm.properties"
)

// Limits on one bundle; the largest of the community catalogs has 70 files
// and 4 MB.
const (
	maxFiles           = 2000
	maxBundleBytes     = 64 << 20
	maxEntries         = 10000   // of one list in the CSV
	maxDeployments     = 200     // each takes a copy of the CSV's annotations
	maxAnnotationBytes = 1 << 20 // the API server allows 256 KiB
)

var errNoPackage = fmt.Errorf("%s names no package: set %s", annotationsFile, keyPackage)

// bundle is the decoded content of a bundle directory. Every rendering decodes it anew,
// because the generators modify it.
type bundle struct {
	packageName string
	csv         csv
	crds        []object
	others      []object
}

type object struct {
	body   map[string]any
	origin preview.Origin
	lines  preview.LineIndex
}

func (o object) name() string { return preview.String(o.body, "metadata", "name") }

// manifest is one file of manifests/.
type manifest struct {
	path string
	data []byte
}

const csvKind = "ClusterServiceVersion"

// mentionsCSV reports whether a file may contain the CSV, without decoding it. A file
// that writes the kind with escapes is missed here, but refused when it is rendered, so
// that Detect and Render agree.
func (m *manifest) mentionsCSV() bool { return bytes.Contains(m.data, []byte(csvKind)) }

func loadBundle(ctx context.Context, content fs.FS) (*bundle, error) {
	meta, found, err := readAnnotations(content)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("reading the bundle: missing %s", annotationsFile)
	}
	files, err := readManifests(content)
	if err != nil {
		return nil, err
	}
	b, err := load(ctx, files)
	if err != nil {
		return nil, err
	}
	b.packageName = meta.packageName
	if err := mergeProperties(b.csv.annotations, content); err != nil {
		return nil, err
	}
	return b, nil
}

// bundleMeta has the values of metadata/annotations.yaml that are used. Others are
// ignored, whatever their type.
type bundleMeta struct {
	packageName string
	mediaType   string
}

// readAnnotations reads metadata/annotations.yaml; found is false if it is
// missing.
func readAnnotations(content fs.FS) (meta bundleMeta, found bool, err error) {
	doc, err := readMetadata(content, annotationsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return bundleMeta{}, false, nil
	}
	if err != nil {
		return bundleMeta{}, false, err
	}
	r := &reader{at: annotationsFile}
	m := r.mapping(doc, "annotations", "annotations")
	meta.packageName = r.str(m, keyPackage, keyPackage)
	meta.mediaType = r.str(m, keyMediaType, keyMediaType)
	return meta, true, r.err()
}

// readMetadata decodes a file below metadata/, which must have one document with a map.
func readMetadata(content fs.FS, name string) (map[string]any, error) {
	data, err := readFile(content, name, 1<<20)
	if err != nil {
		return nil, err
	}
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(docs) == 0 {
		return map[string]any{}, nil
	}
	doc, ok := docs[0].(map[string]any)
	if !ok || len(docs) > 1 {
		return nil, fmt.Errorf("%s: want one mapping", name)
	}
	return doc, nil
}

// readManifests reads the files of manifests/ in the order of their names.
func readManifests(content fs.FS) ([]*manifest, error) {
	entries, err := fs.ReadDir(content, manifestsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the bundle: missing directory %s", manifestsDir)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %w", err)
	}
	if len(entries) > maxFiles {
		return nil, fmt.Errorf("reading the bundle: %d files in %s are more than %d", len(entries), manifestsDir, maxFiles)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	var files []*manifest
	left := int64(maxBundleBytes)
	for _, entry := range entries {
		name := path.Join(manifestsDir, entry.Name())
		if entry.IsDir() {
			return nil, fmt.Errorf("reading the bundle: %s is a directory; %s must be flat", name, manifestsDir)
		}
		data, err := readFile(content, name, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(data))
		files = append(files, &manifest{path: name, data: data})
	}
	return files, nil
}

// readFile reads at most limit bytes; a longer file is an error.
func readFile(content fs.FS, name string, limit int64) ([]byte, error) {
	f, err := content.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading the bundle: %s is not a regular file", name)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("reading the bundle: %s exceeds the size a bundle may have", name)
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+1))
	if _, err := io.Copy(data, io.LimitReader(f, limit+1)); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if int64(data.Len()) > limit {
		return nil, fmt.Errorf("reading the bundle: %s exceeds the size a bundle may have", name)
	}
	return data.Bytes(), nil
}

// load decodes files and sorts their objects into CSV, CRDs and others. As in OLM v1,
// the API group is ignored and the last of several CSVs counts.
func load(ctx context.Context, files []*manifest) (*bundle, error) {
	decoded, err := decodeAll(ctx, files)
	if err != nil {
		return nil, err
	}
	b := &bundle{}
	var last *object
	count := 0
	for i, objects := range decoded {
		if count += len(objects); count > preview.MaxObjects {
			return nil, fmt.Errorf("reading the bundle: more than %d objects", preview.MaxObjects)
		}
		for _, o := range objects {
			switch preview.String(o.body, "kind") {
			case csvKind:
				if !files[i].mentionsCSV() {
					return nil, fmt.Errorf("%s: write the kind %s without escapes", o.origin.File, csvKind)
				}
				last = &o
			case "CustomResourceDefinition":
				b.crds = append(b.crds, o)
			default:
				b.others = append(b.others, o)
			}
		}
	}
	if last == nil {
		return nil, fmt.Errorf("reading the bundle: no %s in %s", csvKind, manifestsDir)
	}
	b.csv, err = readCSV(*last)
	return b, err
}

// decodeAll decodes files in parallel, the largest first. The result is in the
// order of the files.
func decodeAll(ctx context.Context, files []*manifest) ([][]object, error) {
	order := make([]int, len(files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(files[b].data), len(files[a].data)) })
	decoded, failed := make([][]object, len(files)), make([]error, len(files))
	err := tasks.Each(len(order), len(order), func(n int) error {
		if i := order[n]; ctx.Err() == nil {
			decoded[i], failed[i] = decode(files[i]) // every error is in failed, in file order
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %w", err)
	}
	p := &problems{}
	for _, err := range failed {
		if err != nil {
			p.add("%v", err)
		}
	}
	return decoded, p.err()
}

func decode(f *manifest) ([]object, error) {
	docs, err := preview.DecodeDocuments(f.data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	var out []object
	for i, doc := range docs {
		objects, err := doc.Objects()
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", f.path, i+1, err)
		}
		for _, o := range objects {
			out = append(out, object{o.Body, preview.Origin{File: f.path, Document: i + 1, Line: o.Lines.At()}, o.Lines})
		}
	}
	return out, nil
}
