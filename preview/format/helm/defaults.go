package helm

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// valuesFile is the file of a chart with its values and their defaults.
const valuesFile = "values.yaml"

// Defaults returns the values of values.yaml. As known count the values that the file
// has, all below one that is empty or no mapping there, and all for subcharts. Without
// the file every value counts as known.
func (chartFormat) Defaults(in format.Input) (format.Defaults, error) {
	root, err := chartRoot(in.Content)
	if err != nil || root == "" {
		return format.Defaults{}, err
	}
	values, err := readMapping(in.Content, path.Join(root, valuesFile))
	if err != nil {
		return format.Defaults{}, err
	}
	others, err := subcharts(in.Content, root)
	if err != nil {
		return format.Defaults{}, err
	}
	known := func(keys []string) bool {
		if len(values) == 0 || keys[0] == "global" || slices.Contains(others, keys[0]) {
			return true
		}
		return takes(values, keys)
	}
	return format.Defaults{Params: format.Params{Values: values}, Known: known}, nil
}

// takes reports whether the defaults of a chart have a value at a path of keys, or
// anything below it is allowed.
func takes(defaults map[string]any, keys []string) bool {
	value, known := defaults[keys[0]]
	if !known || len(keys) == 1 {
		return known
	}
	below, isMap := value.(map[string]any)
	return !isMap || len(below) == 0 || takes(below, keys[1:])
}

// subcharts returns the keys of a chart's values for its subcharts.
func subcharts(content fs.FS, root string) ([]string, error) {
	meta, err := readMapping(content, path.Join(root, chartFile))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, item := range preview.List(meta, "dependencies") {
		dependency, _ := item.(map[string]any)
		names = append(names, preview.String(dependency, "name"), preview.String(dependency, "alias"))
	}
	entries, err := fs.ReadDir(content, path.Join(root, "charts"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}

// readMapping reads a YAML file of a chart that has one map; nil if it is missing or
// has another form.
func readMapping(content fs.FS, name string) (map[string]any, error) {
	data, err := readFile(content, name, maxMetadataBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	docs, err := preview.Decode(data)
	if err != nil || len(docs) != 1 {
		return nil, err
	}
	out, _ := docs[0].(map[string]any)
	return out, nil
}
