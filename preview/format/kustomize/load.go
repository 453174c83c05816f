package kustomize

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// maxKustomization is the largest size in bytes of a kustomization file (1 MiB).
const maxKustomization = 1 << 20

// kustomization is one decoded kustomization file.
type kustomization struct {
	file, dir string
	repo      *repository // that has it; nil for the content
	fields    map[string]any
	// typed is the same, read by kustomize's own decoder and brought up to date.
	typed types.Kustomization
}

func (k *kustomization) component() bool { return k.typed.Kind == types.ComponentKind }

// load reads the kustomization in a directory, nil if there is none.
func load(content fs.FS, dir string) (*kustomization, error) {
	file, err := find(content, dir)
	if err != nil || file == "" {
		return nil, err
	}
	data, err := format.ReadFile(content, file, maxKustomization)
	if err != nil {
		return nil, err
	}
	return parse(file, data)
}

// find returns the path of a directory's kustomization file, empty if there is none.
// Two are an error.
func find(content fs.FS, dir string) (string, error) {
	found := ""
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		file := path.Join(dir, name)
		info, err := fs.Stat(content, file)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
			continue
		}
		if err != nil {
			return "", err
		}
		if found != "" {
			return "", &twoFilesError{[2]string{found, file}}
		}
		found = file
	}
	return found, nil
}

// parse decodes a kustomization. kustomize later gets the decoded fields instead of the
// file, so that it cannot interpret the file differently.
func parse(file string, data []byte) (*kustomization, error) {
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%s: it has %d documents; a kustomization is one", file, len(docs))
	}
	k := &kustomization{file: file, dir: path.Dir(file)}
	var ok bool
	if k.fields, ok = docs[0].(map[string]any); !ok {
		return nil, fmt.Errorf("%s: not a mapping", file)
	}
	for _, name := range slices.Sorted(maps.Keys(k.fields)) {
		if why, refused := refusedFields[name]; refused {
			return nil, fmt.Errorf("%s: %s: %w", file, name, why)
		}
		if !slices.Contains(allowedFields, name) {
			return nil, fmt.Errorf("%s: %s is not a field of a kustomization", file, name)
		}
	}
	text, err := json.Marshal(k.fields)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := k.typed.Unmarshal(text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, sentence(err))
	}
	k.typed.FixKustomization()
	if problems := k.typed.EnforceFields(); len(problems) > 0 {
		return nil, fmt.Errorf("%s: %s", file, problems[0])
	}
	return k, nil
}

// allowedFields are the fields of a kustomization that refer to no files, or to files
// that [plan] finds.
var allowedFields = []string{
	"apiVersion", "kind", "metadata", "namePrefix", "nameSuffix", "namespace", "commonLabels", "labels", "commonAnnotations",
	"images", "imageTags", "replicas", "vars", "sortOptions", "generatorOptions", "buildMetadata",
	"resources", "components", "bases", "crds", "configurations", "configMapGenerator", "secretGenerator",
	"patches", "patchesJson6902", "patchesStrategicMerge", "replacements", "openapi", "generators", "transformers", "validators",
	"helmCharts", "helmGlobals",
}

// refusedFields are fields of kustomize that are not supported, each with the reason.
var refusedFields = map[string]error{
	"helmChartInflationGenerator": unbuiltError{errors.New(noCharts), byKubectlHelm},
}

const noCharts = "it runs helm, which downloads and executes; name a chart of the content in helmCharts, or keep what it renders as a resource"
