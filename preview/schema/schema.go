// Package schema validates custom resources against the CRDs in the same plan, which no
// dry run can do before they are in the cluster, and checks whether stored objects are
// valid under the new schema of a CRD.
package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	maxProblems = 50
	maxProblem  = 500 // bytes of one problem's text
)

// Index finds CRDs by the kind that they define, and parses the schema of each version
// once. It is not safe for concurrent use.
type Index struct {
	definitions map[kindIndex]map[string]any
	checks      map[check]*validator
}

type kindIndex struct{ group, kind string }

// check is a kind in one API version.
type check struct{ apiVersion, kind string }

// NewIndex returns an index of the CRDs among objects. Of several for one kind, the
// first counts.
func NewIndex(objects iter.Seq[map[string]any]) *Index {
	x := &Index{definitions: map[kindIndex]map[string]any{}, checks: map[check]*validator{}}
	for body := range objects {
		if !preview.IsKind(body, preview.KindCustomResourceDefinition) {
			continue
		}
		key := kindIndex{preview.String(body, "spec", "group"), preview.String(body, "spec", "names", "kind")}
		if _, known := x.definitions[key]; !known {
			x.definitions[key] = body
		}
	}
	return x
}

// Definition returns the CRD of a kind; nil if none of the objects defines it.
func (x *Index) Definition(ref preview.Ref) map[string]any {
	return x.definitions[kindIndex{ref.Group(), ref.Kind}]
}

// Problems returns why the API server would refuse a custom resource under its CRD in
// the index, one sentence each; nil if it would not, or the index has no CRD of the
// kind. It errs if the CRD cannot be used.
func (x *Index) Problems(resource map[string]any) ([]string, error) {
	v := x.validator(preview.RefOf(resource))
	if v == nil {
		return nil, nil
	}
	return v.validate(resource)
}

// Defaulted returns a custom resource with the defaults of its CRD in the index, as the
// API server stores it; nil if the index has no CRD of the kind, or one that cannot be
// used.
func (x *Index) Defaulted(resource map[string]any) map[string]any {
	v := x.validator(preview.RefOf(resource))
	if v == nil || v.err != nil {
		return nil
	}
	body := preview.CloneBody(resource)
	setDefaults(body, v.version.schema)
	return body
}

// validator returns what validates a kind in one version; nil if the index has no CRD of
// the kind.
func (x *Index) validator(ref preview.Ref) *validator {
	definition := x.Definition(ref)
	if definition == nil {
		return nil
	}
	at := check{ref.APIVersion, ref.Kind}
	if x.checks[at] == nil {
		x.checks[at] = newValidator(definition, ref.APIVersion)
	}
	return x.checks[at]
}

// validator validates custom resources of one version of a CRD.
type validator struct {
	name    string // of the CRD
	version *compiledVersion
	err     error // why the CRD cannot be used
}

func newValidator(definition map[string]any, apiVersion string) (v *validator) {
	v = &validator{name: preview.RefOf(definition).Name}
	defer v.recoverPanic(&v.err)
	root, err := structuralOf(definition, apiVersion)
	if err != nil {
		v.err = fmt.Errorf("reading the schema of %s: %w", v.name, err)
		return v
	}
	v.version = compile(root)
	return v
}

// recoverPanic is deferred and turns a panic into an error, because the validators of
// kube-openapi panic on schemas that an API server would have refused, such as one with
// an invalid pattern.
func (v *validator) recoverPanic(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("reading the schema of %s: it cannot be evaluated: %v", v.name, cause)
	}
}

// validate returns why the API server would refuse a custom resource under its CRD
// (apiextensions.k8s.io/v1), one sentence with a path each, sorted: unknown fields,
// which server-side apply refuses, invalid values, duplicate keys of lists, and CEL
// rules that do not hold. It errs if the CRD itself cannot be used.
//
// The sentences have field names, patterns and allowed values from the package and must
// be escaped by textsafe. They have no string values of the resource.
func (v *validator) validate(resource map[string]any) (problems []string, err error) {
	if v.err != nil {
		return nil, v.err
	}
	defer func() {
		if err != nil {
			problems = nil
		}
	}()
	defer v.recoverPanic(&err)
	problems, unknown, err := v.version.judge(context.Background(), resource, preview.String(resource, "apiVersion"))
	if err != nil {
		return nil, fmt.Errorf("evaluating the rules of %s: %w", v.name, err)
	}
	for _, path := range unknown {
		problems = append(problems, path+": field not declared in schema")
	}
	return boundProblems(problems), nil
}

// boundProblems returns problems sorted, each once, at most maxProblems of at most
// maxProblem bytes.
func boundProblems(problems []string) []string {
	slices.Sort(problems)
	problems = slices.Compact(problems)
	for i, problem := range problems {
		if len(problem) > maxProblem {
			problems[i] = strings.ToValidUTF8(problem[:maxProblem], "") + "…"
		}
	}
	return problems[:min(len(problems), maxProblems)]
}

// structuralOf returns the structural schema (apiextensions.k8s.io/v1) of the CRD's
// version with this apiVersion. It errs if the version is not served.
func structuralOf(definition map[string]any, apiVersion string) (*structural.Structural, error) {
	data, err := preview.Canonical(definition)
	if err != nil {
		return nil, err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(data, &crd); err != nil {
		return nil, err
	}
	for _, version := range crd.Spec.Versions {
		if crd.Spec.Group+"/"+version.Name != apiVersion {
			continue
		}
		if !version.Served {
			return nil, fmt.Errorf("version %s is not served", version.Name)
		}
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			return nil, fmt.Errorf("version %s has no schema", version.Name)
		}
		var internal apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
			return nil, err
		}
		return structural.NewStructural(&internal)
	}
	return nil, errors.New("it does not define " + apiVersion)
}

// setDefaults sets the defaults of a schema, as the API server does before it
// validates. (The function of apiextensions-apiserver cannot copy a uint64, and its
// package links all of CEL.)
func setDefaults(v any, s *structural.Structural) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for key, property := range s.Properties {
			current, set := v[key]
			if property.Default.Object != nil && (!set || current == nil && !property.Nullable) {
				v[key] = preview.Clone(property.Default.Object)
			}
		}
		for key, item := range v {
			if property, ok := s.Properties[key]; ok {
				setDefaults(item, &property)
			} else if s.AdditionalProperties != nil {
				setDefaults(item, s.AdditionalProperties.Structural)
			}
		}
	case []any:
		for _, item := range v {
			setDefaults(item, s.Items)
		}
	}
}

// sentence returns an error of kube-openapi, such as "spec.count in body must be of
// type integer: "string"", as "PATH: REASON".
func sentence(problem error) string {
	path, reason, ok := strings.Cut(problem.Error(), " in body ")
	if !ok {
		return problem.Error()
	}
	return strings.TrimPrefix(path, ".") + ": " + reason
}
