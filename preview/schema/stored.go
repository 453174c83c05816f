package schema

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Checker checks stored objects of a CRD against the CRD's new schema. It is not safe
// for concurrent use.
type Checker struct {
	// Group and Kind identify the objects' kind; ReadAs lists the versions for reading them,
	// the best first.
	Group, Kind string
	ReadAs      []string
	// Unchecked lists the versions of the new CRD that cannot be checked, each with the
	// reason, sorted.
	Unchecked []string

	before, after map[string]*compiledVersion // by version
	names         []string                    // of after, sorted
}

// NewChecker returns a checker for a change of a CRD, nil if both serve the same
// versions with equal schemas, apart from descriptions. CEL rules that compare with the
// object's earlier value are not evaluated.
func NewChecker(before, after map[string]any) *Checker {
	c := &Checker{
		Group: preview.String(before, "spec", "group"), Kind: preview.String(before, "spec", "names", "kind"),
		before: map[string]*compiledVersion{}, after: map[string]*compiledVersion{},
	}
	olds, news := versionsOf(before), versionsOf(after)
	c.ReadAs = readAs(olds, news)
	webhook := strategy(before) == "Webhook" || strategy(after) == "Webhook"
	gone := false
	for name, was := range olds {
		gone = gone || served(was) && !served(news[name])
	}
	differ := false
	for _, name := range slices.Sorted(maps.Keys(news)) {
		if !served(news[name]) {
			continue
		}
		was := olds[name]
		// An object written through a removed version must fit another version now, even an
		// unchanged one.
		if !gone && served(was) && equal(schemaOf(was), schemaOf(news[name])) {
			continue
		}
		differ = true
		if webhook && !slices.Contains(c.ReadAs[:min(1, len(c.ReadAs))], name) {
			c.Unchecked = append(c.Unchecked, "version "+name+": the conversion webhook decides what objects look like in it")
			continue
		}
		j, err := newCompiledVersion(after, name)
		if err != nil {
			c.Unchecked = append(c.Unchecked, "version "+name+": "+err.Error())
			continue
		}
		c.after[name] = j
		c.names = append(c.names, name)
	}
	if !differ {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(olds)) {
		if j, err := newCompiledVersion(before, name); err == nil {
			c.before[name] = j
		}
	}
	return c
}

// readAs returns the versions for reading stored objects, the best first: the storage
// version, other served versions of the old CRD, then served versions of the new one.
func readAs(olds, news map[string]map[string]any) []string {
	var first, rest []string
	for _, name := range slices.Sorted(maps.Keys(olds)) {
		switch {
		case !served(olds[name]):
		case olds[name]["storage"] == true:
			first = append(first, name)
		default:
			rest = append(rest, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(news)) {
		if served(news[name]) && olds[name] == nil {
			rest = append(rest, name)
		}
	}
	return append(first, rest...)
}

// Verdict says why the API server would refuse an object under the new CRD, and which
// fields it would drop: sentences and paths without values, sorted, and limited in
// number and length.
type Verdict struct {
	Refused, Dropped []string
}

// Check returns the verdict on an object that was read in one of the versions of
// ReadAs. Problems that the object has under the old CRD too are left out. It errs if
// the CRD cannot be evaluated.
func (c *Checker) Check(ctx context.Context, object map[string]any) (v Verdict, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			v, err = Verdict{}, fmt.Errorf("the schema of %s cannot be evaluated: %v", c.Kind, cause)
		}
	}()
	_, readIn, _ := strings.Cut(preview.String(object, "apiVersion"), "/")
	var known map[string]bool
	for _, name := range c.names {
		refused, dropped, err := c.after[name].judge(ctx, object, c.Group+"/"+name)
		if err != nil {
			return Verdict{}, fmt.Errorf("version %s: %w", name, err)
		}
		if len(refused) > 0 && known == nil {
			known = c.knownProblems(ctx, object, readIn)
		}
		prefix := ""
		if len(c.names) > 1 || readIn != name {
			prefix = "as " + name + ": "
		}
		for _, problem := range refused {
			if !known[problem] {
				v.Refused = append(v.Refused, prefix+problem)
			}
		}
		for _, path := range dropped {
			v.Dropped = append(v.Dropped, prefix+path)
		}
	}
	v.Refused, v.Dropped = boundProblems(v.Refused), boundProblems(v.Dropped)
	return v, nil
}

func (c *Checker) knownProblems(ctx context.Context, object map[string]any, version string) map[string]bool {
	known := map[string]bool{}
	if old := c.before[version]; old != nil {
		problems, _, _ := old.judge(ctx, object, preview.String(object, "apiVersion")) // what it cannot judge is not known
		for _, problem := range problems {
			known[problem] = true
		}
	}
	return known
}

// compiledVersion is the compiled schema of one version of a CRD.
type compiledVersion struct {
	schema *structural.Structural
	values *validate.SchemaValidator
	rules  *cel.Validator // CEL rules; nil if the schema has none
}

func newCompiledVersion(definition map[string]any, version string) (j *compiledVersion, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			j, err = nil, fmt.Errorf("its schema cannot be evaluated: %v", cause)
		}
	}()
	root, err := structuralAny(definition, version)
	if err != nil {
		return nil, err
	}
	return compile(root), nil
}

// compile compiles a schema. It panics on some schemas that an API server refuses.
func compile(root *structural.Structural) *compiledVersion {
	plainMessages(root)
	return &compiledVersion{
		schema: root,
		values: validate.NewSchemaValidator(root.ToKubeOpenAPI(), nil, "", strfmt.Default),
		rules:  cel.NewValidator(root, true, celconfig.PerCallLimit),
	}
}

// structuralAny returns the structural schema of a version, whether or not it is
// served. A version without schema accepts anything.
func structuralAny(definition map[string]any, version string) (*structural.Structural, error) {
	body := preview.CloneBody(definition)
	for _, v := range preview.Maps(preview.Map(body, "spec"), "versions") {
		v["served"] = true
	}
	return structuralOf(body, preview.String(definition, "spec", "group")+"/"+version)
}

// plainMessages removes the messageExpressions of CEL rules, because their messages may
// have values, which no review shows.
func plainMessages(s *structural.Structural) {
	plain := func(rules apiextensionsv1.ValidationRules) bool {
		for i := range rules {
			rules[i].MessageExpression = ""
		}
		return len(rules) > 0
	}
	visitor := structural.Visitor{
		Structural:            func(s *structural.Structural) bool { return plain(s.XValidations) },
		NestedValueValidation: func(v *structural.NestedValueValidation) bool { return plain(v.ValidationExtensions.XValidations) },
	}
	visitor.Visit(s)
}

// judge does what the API server does before it stores an object: it prunes unknown
// fields, sets defaults and validates. It errs if a CEL rule cannot be evaluated.
func (j *compiledVersion) judge(ctx context.Context, object map[string]any, apiVersion string) (refused, dropped []string, err error) {
	body := preview.CloneBody(object)
	body["apiVersion"] = apiVersion
	dropped = pruning.PruneWithOptions(body, j.schema, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	setDefaults(body, j.schema)
	for _, problem := range j.values.Validate(body).Errors {
		refused = append(refused, sentence(problem))
	}
	for _, problem := range listtype.ValidateListSetsAndMaps(nil, j.schema, body) {
		refused = append(refused, problem.Field+": "+string(problem.Type))
	}
	if j.rules == nil || len(refused) > 0 {
		return refused, dropped, nil // the API server evaluates rules on what fits only
	}
	problems, _ := j.rules.Validate(ctx, nil, j.schema, body, nil, celconfig.RuntimeCELCostBudget)
	for _, problem := range problems {
		if strings.HasPrefix(problem.Detail, "rule compile") {
			return nil, nil, errors.New(problem.Field + ": " + problem.Detail)
		}
		refused = append(refused, strings.TrimPrefix(problem.Field+": "+problem.Detail, "<nil>: "))
	}
	return refused, dropped, ctx.Err()
}

// equal reports whether two schemas are equal apart from descriptions.
func equal(before, after map[string]any) bool {
	return same(dropDescriptions(before, 0), dropDescriptions(after, 0))
}

func dropDescriptions(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			// A property may have the name description; then it is a schema.
			if _, isText := item.(string); isText && key == "description" {
				continue
			}
			if depth < maxDepth*3 {
				item = dropDescriptions(item, depth+1)
			}
			out[key] = item
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = dropDescriptions(item, depth+1)
		}
		return out
	}
	return v
}
