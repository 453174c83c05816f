package deps

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// Limits on what is read of a bundle directory.
const (
	maxManifests     = 2000
	maxManifestBytes = 64 << 20 // of all manifests
	maxMetadataBytes = 1 << 20
)

const (
	csvKind          = "ClusterServiceVersion"
	dependenciesFile = "metadata/dependencies.yaml"
	propertiesFile   = "metadata/properties.yaml"
	keyProperties    = "olm.properties" // annotation of the CSV, a JSON list
)

// FromContent returns the properties that opm would publish in a catalog for a
// registry+v1 bundle directory, as far as dependency resolution uses them: the APIs that
// the CSV owns and requires, and the files below metadata (operator-registry,
// pkg/registry, "operator-bundle.md"). Content without a CSV has none.
func FromContent(content fs.FS) ([]catalog.Property, error) {
	csv, err := readCSV(content)
	if err != nil || csv == nil {
		return nil, err
	}
	out, err := csvProperties(csv)
	if err != nil {
		return nil, fmt.Errorf("the %s: %w", csvKind, err)
	}
	for _, file := range []struct {
		name, key string
		convert   func(catalog.Property) (catalog.Property, error)
	}{
		{propertiesFile, "properties", func(p catalog.Property) (catalog.Property, error) { return p, nil }},
		{dependenciesFile, "dependencies", dependency},
	} {
		list, err := readList(content, file.name, file.key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.name, err)
		}
		for i, p := range list {
			if p, err = file.convert(p); err != nil {
				return nil, fmt.Errorf("%s: entry %d: %w", file.name, i+1, err)
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// dependency converts an entry of dependencies.yaml into the property that opm makes of
// it.
func dependency(p catalog.Property) (catalog.Property, error) {
	fields, ok := p.Value.(map[string]any)
	if !ok {
		return p, errors.New("its value is no mapping")
	}
	var wanted []string
	switch p.Type {
	case typePackage:
		p.Type, wanted = typePackageRequired, []string{"packageName", "version"}
		p.Value = map[string]any{"packageName": fields["packageName"], "versionRange": fields["version"]}
	case typeGVK:
		p.Type, wanted = typeGVKRequired, []string{"group", "version", "kind"}
	case typeLabel:
		p.Type, wanted = typeLabelRequired, []string{"label"}
	case typeConstraint:
	default:
		return p, fmt.Errorf("type %q is not one of %s, %s, %s, %s", shorten(p.Type), typePackage, typeGVK, typeLabel, typeConstraint)
	}
	for _, key := range wanted {
		if _, err := wantedText(fields, key); err != nil {
			return p, fmt.Errorf("%s: %w", p.Type, err)
		}
	}
	return p, nil
}

// readList reads the list of {type, value} below a key of a YAML file. A missing file
// is an empty list.
func readList(content fs.FS, name, key string) ([]catalog.Property, error) {
	data, err := readFile(content, name, maxMetadataBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	docs, err := preview.Decode(data)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	doc, ok := docs[0].(map[string]any)
	if !ok || len(docs) > 1 {
		return nil, errors.New("want one mapping")
	}
	return propertyList(doc[key])
}

func propertyList(value any) ([]catalog.Property, error) {
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, errors.New("want a list of {type, value}")
	}
	if len(list) > maxProperties {
		return nil, fmt.Errorf("%d entries are more than %d", len(list), maxProperties)
	}
	var out []catalog.Property
	for i, item := range list {
		fields, _ := item.(map[string]any)
		typ, err := wantedText(fields, "type")
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		out = append(out, catalog.Property{Type: typ, Value: fields["value"]})
	}
	return out, nil
}

// readCSV returns the bundle's ClusterServiceVersion, the last one if there are
// several, as in OLM; nil if there is none.
func readCSV(content fs.FS) (map[string]any, error) {
	entries, err := fs.ReadDir(content, "manifests")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(entries) > maxManifests {
		return nil, fmt.Errorf("%d files in manifests are more than %d", len(entries), maxManifests)
	}
	var csv map[string]any
	left := int64(maxManifestBytes)
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		name := path.Join("manifests", entry.Name())
		data, err := readFile(content, name, left)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if left -= int64(len(data)); !bytes.Contains(data, []byte(csvKind)) {
			continue
		}
		docs, err := preview.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, doc := range docs {
			if m, ok := doc.(map[string]any); ok && preview.String(m, "kind") == csvKind {
				csv = m
			}
		}
	}
	return csv, nil
}

// csvProperties returns properties for the APIs that a CSV owns and requires, and those
// in its annotation olm.properties.
func csvProperties(csv map[string]any) ([]catalog.Property, error) {
	var out []catalog.Property
	for _, group := range []struct{ list, typ string }{{"owned", typeGVK}, {"required", typeGVKRequired}} {
		for _, item := range preview.List(csv, "spec", "customresourcedefinitions", group.list) {
			m, _ := item.(map[string]any)
			_, of, _ := strings.Cut(preview.String(m, "name"), ".")
			out = append(out, gvk(group.typ, of, m))
		}
		for _, item := range preview.List(csv, "spec", "apiservicedefinitions", group.list) {
			m, _ := item.(map[string]any)
			out = append(out, gvk(group.typ, preview.String(m, "group"), m))
		}
	}
	if len(out) > maxProperties {
		return nil, fmt.Errorf("%d APIs are more than %d", len(out), maxProperties)
	}
	text := preview.String(csv, "metadata", "annotations", keyProperties)
	if text == "" {
		return out, nil
	}
	value, err := preview.DecodeJSON([]byte(text))
	if err == nil {
		var more []catalog.Property
		more, err = propertyList(value)
		out = append(out, more...)
	}
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", keyProperties, err)
	}
	return out, nil
}

func gvk(typ, group string, m map[string]any) catalog.Property {
	return catalog.Property{Type: typ, Value: map[string]any{
		"group": group, "version": preview.String(m, "version"), "kind": preview.String(m, "kind"),
	}}
}

// readFile reads a regular file. More than limit bytes are an error.
func readFile(content fs.FS, name string, limit int64) ([]byte, error) {
	f, err := content.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errors.New("exceeds the size it may have")
	}
	return data, err
}
