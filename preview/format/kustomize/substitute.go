package kustomize

import (
	"fmt"

	"github.com/fluxcd/pkg/envsubst"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"
)

// substituteKey is the label or annotation which, set to "disabled", keeps variables
// from being replaced in an object.
const substituteKey = "kustomize.toolkit.fluxcd.io/substitute"

// substitute replaces ${VAR} and similar in each object, as Flux does: in the
// object's whole YAML, so that a value may become a number. An unset variable
// without default becomes empty. Without any variables nothing is replaced. It
// runs in the sandboxed process, because nested patterns can grow without bound.
func substitute(made resmap.ResMap, variables map[string]string) error {
	if len(variables) == 0 {
		return nil
	}
	for _, r := range made.Resources() {
		if r.GetLabels()[substituteKey] == "disabled" || r.GetAnnotations()[substituteKey] == "disabled" {
			continue
		}
		if err := substituteIn(r, variables); err != nil {
			return fmt.Errorf("substituting variables in %s %s: %w", r.GetKind(), r.GetName(), err)
		}
	}
	return nil
}

func substituteIn(r *resource.Resource, variables map[string]string) error {
	text, err := r.AsYAML()
	if err != nil {
		return err
	}
	made, err := envsubst.Eval(string(text), func(name string) (string, bool) { return variables[name], true })
	if err != nil {
		return err
	}
	data, err := yaml.YAMLToJSON([]byte(made))
	if err != nil {
		return err
	}
	return r.UnmarshalJSON(data)
}
