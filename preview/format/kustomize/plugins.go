package kustomize

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// builtins are the plugins that are part of kustomize and neither execute nor download
// anything (api/internal/plugins/builtinhelpers).
var builtins = []string{
	"AnnotationsTransformer", "ConfigMapGenerator", "HashTransformer", "IAMPolicyGenerator", "ImageTagTransformer", "LabelTransformer",
	"NamespaceTransformer", "PatchJson6902Transformer", "PatchStrategicMergeTransformer", "PatchTransformer", "PrefixSuffixTransformer",
	"PrefixTransformer", "ReplacementTransformer", "ReplicaCountTransformer", "SecretGenerator", "SuffixTransformer", "ValueAddTransformer",
}

// functionKeys are the annotations that make kustomize run a program or container for
// an object.
var functionKeys = []string{"config.kubernetes.io/function", "config.k8s.io/function"}

// plugins checks the files of generators, transformers and validators: only plugins
// that are built in are allowed.
func (p *planner) plugins(k *kustomization) error {
	for _, step := range []struct {
		field string
		names []string
	}{{"generators", k.typed.Generators}, {"transformers", k.typed.Transformers}, {"validators", k.typed.Validators}} {
		for i, text := range step.names {
			at := fieldLocation{k, step.field}.index(i, "")
			data := []byte(text)
			if !inline(text) {
				var err error
				if data, err = p.load(at, text); err != nil {
					return err
				}
			}
			if err := p.plugin(at, data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *planner) plugin(at fieldLocation, data []byte) error {
	docs, err := preview.Decode(data)
	if err != nil {
		return at.errorf("%v", err)
	}
	for _, doc := range docs {
		bodies, err := preview.Flatten(doc)
		if err != nil {
			return at.errorf("%v", err)
		}
		for _, body := range bodies {
			if err := p.builtin(at, body); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *planner) builtin(at fieldLocation, body map[string]any) error {
	ref := preview.RefOf(body)
	for _, key := range functionKeys {
		if _, is := preview.Map(body, "metadata", "annotations")[key]; is {
			return unbuiltError{at.errorf("%s %q is a function, a program or container that would be run; only kustomize's own plugins are used", ref.Kind, ref.Name), byKustomizeRun}
		}
	}
	if ref.APIVersion == "builtin" && ref.Kind == "HelmChartInflationGenerator" {
		return unbuiltError{at.errorf("%s %q: %s", ref.Kind, ref.Name, noCharts), byKubectlHelm}
	}
	if ref.APIVersion != "builtin" || !slices.Contains(builtins, ref.Kind) {
		return unbuiltError{at.errorf("%s %q of %s is a plugin, a program that would be run; only kustomize's own plugins are used", ref.Kind, ref.Name, ref.APIVersion), byKustomizeRun}
	}
	for _, key := range slices.Sorted(maps.Keys(body)) {
		if err := p.pluginFiles(fieldLocation{at.k, at.field + "." + key}, strings.ToLower(key), body[key]); err != nil {
			return err
		}
	}
	return nil
}

// pluginFiles follows the references to files in a field of a plugin. Kustomize matches
// the names of such fields in any letter case.
func (p *planner) pluginFiles(at fieldLocation, key string, v any) error {
	if key == "replacements" {
		for i, r := range list(v) {
			m, _ := r.(map[string]any)
			for name, file := range m {
				if strings.EqualFold(name, "path") {
					if err := p.pluginFiles(at.index(i, ".path"), "path", file); err != nil {
						return err
					}
				}
			}
		}
	}
	if !slices.Contains([]string{"path", "paths", "files", "envs", "env"}, key) {
		return nil
	}
	for _, item := range append(list(v), v) {
		name, ok := item.(string)
		if !ok || name == "" {
			continue
		}
		if key == "files" {
			if before, file, keyed := strings.Cut(name, "="); keyed && !remote(before) {
				name = file
			}
		}
		if err := p.fileOrInline(at, name); err != nil {
			return err
		}
	}
	return nil
}
