package applier

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

//go:embed kapp_config.yaml
var kappDefaults []byte

const (
	kappConfigVersion = "kapp.k14s.io/v1alpha1"
	kappConfigLabel   = "kapp.k14s.io/config"
)

// kappConfig is the configuration of kapp that decides what is written: its default one and
// the Configs of the content, in order.
type kappConfig struct {
	rebase                    []kappRule
	appliedIgnored, ignored   []kappRule // what is removed before objects are compared
	owned, scoped, references []kappRule
	labels                    map[string]string
	templates                 bool // a rule is a program of ytt, which is not run
}

// kappRule is one rule for the objects that match, at one of paths.
type kappRule struct {
	matches func(body map[string]any) bool
	paths   [][]kappStep
	sources []string // that a field is copied from, the first that has it; none to remove it
	of      func(body map[string]any) bool
	nameKey string
}

// kappStep is a step of a path: a key, the keys that match, an item of a list, or all.
type kappStep struct {
	key   string
	keys  *regexp.Regexp
	index int
	all   bool
}

// isKey reports whether the step is into a mapping, by one key.
func (s kappStep) isKey() bool { return s.keys == nil && !s.all && s.index < 0 }

// add adds the rules of a configuration.
func (c *kappConfig) add(body map[string]any) error {
	for _, section := range []struct {
		field string
		rules *[]kappRule
	}{
		{"rebaseRules", &c.rebase}, {"diffAgainstLastAppliedFieldExclusionRules", &c.appliedIgnored},
		{"diffAgainstExistingFieldExclusionRules", &c.ignored}, {"ownershipLabelRules", &c.owned}, {"labelScopingRules", &c.scoped},
	} {
		for _, rule := range preview.Maps(body, section.field) {
			if rule["ytt"] != nil {
				c.templates = true
				continue
			}
			read, err := readKappRule(rule)
			if err != nil {
				return fmt.Errorf("%s: %w", section.field, err)
			}
			*section.rules = append(*section.rules, read)
		}
	}
	for _, rule := range preview.Maps(body, "templateRules") {
		of, err := kappAny(preview.Maps(rule, "resourceMatchers"))
		if err != nil {
			return fmt.Errorf("templateRules: %w", err)
		}
		for _, reference := range preview.Maps(rule, "affectedResources", "objectReferences") {
			read, err := readKappRule(reference)
			if err != nil {
				return fmt.Errorf("templateRules: %w", err)
			}
			read.of = of
			c.references = append(c.references, read)
		}
	}
	for key, v := range preview.Map(body, "additionalLabels") {
		c.labels[key] = fmt.Sprint(v)
	}
	return nil
}

func readKappRule(rule map[string]any) (kappRule, error) {
	out := kappRule{sources: preview.Texts(rule["sources"]), nameKey: preview.String(rule, "nameKey")}
	paths := preview.List(rule, "paths")
	if path := preview.List(rule, "path"); len(path) > 0 {
		paths = append(slices.Clone(paths), path)
	}
	for _, v := range paths {
		steps, _ := v.([]any)
		path := make([]kappStep, 0, len(steps))
		for _, step := range steps {
			read, err := readKappStep(step)
			if err != nil {
				return out, err
			}
			path = append(path, read)
		}
		out.paths = append(out.paths, path)
	}
	switch kind := preview.String(rule, "type"); {
	case kind == "copy" && len(out.sources) == 0, kind != "" && kind != "copy" && kind != "remove":
		return out, fmt.Errorf("%q is no type of a rule that is known", kind)
	case kind == "remove":
		out.sources = nil
	}
	var err error
	out.matches, err = kappAny(preview.Maps(rule, "resourceMatchers"))
	return out, err
}

func readKappStep(v any) (kappStep, error) {
	if key, ok := v.(string); ok {
		return kappStep{key: key, index: -1}, nil
	}
	step, _ := v.(map[string]any)
	if all, _ := step["allIndexes"].(bool); all {
		return kappStep{all: true, index: -1}, nil
	}
	if text := preview.String(step, "regex"); text != "" {
		keys, err := regexp.Compile(text)
		return kappStep{keys: keys, index: -1}, err
	}
	if index, err := strconv.Atoi(fmt.Sprint(step["index"])); err == nil && index >= 0 {
		return kappStep{index: index}, nil
	}
	return kappStep{}, fmt.Errorf("%v is no step of a path", v)
}

// kappAny returns what reports whether one of matchers matches an object.
func kappAny(matchers []map[string]any) (func(map[string]any) bool, error) {
	read, err := kappMatchers(matchers)
	return func(body map[string]any) bool {
		return slices.ContainsFunc(read, func(matches func(map[string]any) bool) bool { return matches(body) })
	}, err
}

func kappMatchers(matchers []map[string]any) ([]func(map[string]any) bool, error) {
	out := make([]func(map[string]any) bool, 0, len(matchers))
	for _, m := range matchers {
		read, err := kappMatcher(m)
		if err != nil {
			return nil, err
		}
		out = append(out, read)
	}
	return out, nil
}

// kappMatcher returns what reports whether a matcher matches an object.
func kappMatcher(m map[string]any) (func(map[string]any) bool, error) {
	if len(m) != 1 {
		return nil, fmt.Errorf("a matcher has %d kinds", len(m))
	}
	kind := slices.Collect(maps.Keys(m))[0]
	spec := preview.Map(m, kind)
	text := func(field string) string { return preview.String(spec, field) }
	switch kind {
	case "allMatcher":
		return func(map[string]any) bool { return true }, nil
	case "anyMatcher":
		return kappAny(preview.Maps(spec, "matchers"))
	case "andMatcher":
		all, err := kappMatchers(preview.Maps(spec, "matchers"))
		return func(body map[string]any) bool {
			return !slices.ContainsFunc(all, func(matches func(map[string]any) bool) bool { return !matches(body) })
		}, err
	case "notMatcher":
		matches, err := kappMatcher(preview.Map(spec, "matcher"))
		return func(body map[string]any) bool { return !matches(body) }, err
	case "apiVersionKindMatcher":
		return func(body map[string]any) bool {
			ref := preview.RefOf(body)
			return ref.APIVersion == text("apiVersion") && ref.Kind == text("kind")
		}, nil
	case "apiGroupKindMatcher":
		return func(body map[string]any) bool {
			ref := preview.RefOf(body)
			return ref.Group() == text("apiGroup") && ref.Kind == text("kind")
		}, nil
	case "kindNamespaceNameMatcher":
		return func(body map[string]any) bool {
			ref := preview.RefOf(body)
			return ref.Kind == text("kind") && ref.Namespace == text("namespace") && ref.Name == text("name")
		}, nil
	case "hasAnnotationMatcher":
		keys := preview.Texts(spec["keys"])
		return func(body map[string]any) bool {
			return !slices.ContainsFunc(keys, func(key string) bool { return !annotated(body, key) })
		}, nil
	case "hasNamespaceMatcher":
		names := preview.Texts(spec["names"])
		return func(body map[string]any) bool {
			namespace := preview.RefOf(body).Namespace
			return namespace != "" && (len(names) == 0 || slices.Contains(names, namespace))
		}, nil
	case "customResourceMatcher":
		return func(body map[string]any) bool { return !kappBuiltIn(preview.RefOf(body).Group()) }, nil
	case "emptyFieldMatcher":
		rule, err := readKappRule(map[string]any{"path": spec["path"], "resourceMatchers": []any{}})
		return func(body map[string]any) bool { return len(rule.paths) == 1 && kappEmpty(body, rule.paths[0]) }, err
	}
	return nil, fmt.Errorf("%q is no matcher that is known", kind)
}

// kappBuiltIn reports whether kapp takes the kinds of a group for built in.
func kappBuiltIn(group string) bool {
	name, isCore := strings.CutSuffix(group, ".k8s.io")
	return slices.Contains([]string{"", "apps", "autoscaling", "batch", "extensions", "policy"}, group) || isCore && slices.Contains([]string{
		"admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization", "certificates", "coordination", "discovery",
		"events", "flowcontrol.apiserver", "internal.apiserver", "metrics", "migration", "networking", "node", "rbac.authorization", "scheduling", "storage",
	}, name)
}

// annotated reports whether an object has an annotation, whatever its value.
func annotated(body map[string]any, key string) bool {
	_, has := preview.Map(body, "metadata", "annotations")[key]
	return has
}

// kappEmpty reports whether a value has nothing at a path.
func kappEmpty(v any, path []kappStep) bool {
	for i, step := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[step.key]
		case []any:
			if step.all {
				return !slices.ContainsFunc(in, func(item any) bool { return !kappEmpty(item, path[i+1:]) })
			}
			if step.index < 0 || step.index >= len(in) {
				return true
			}
			v = in[step.index]
		default:
			return v == nil
		}
	}
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// rebased returns the planned object with the fields that are copied from the live one, or
// removed.
func (c *kappConfig) rebased(planned, live map[string]any) map[string]any {
	out := preview.CloneBody(planned)
	sources := map[string]map[string]any{"new": planned, "existing": live}
	for _, rule := range c.rebase {
		if rule.matches(out) {
			rule.apply(out, sources)
		}
	}
	if preview.IsKind(out, preview.KindServiceAccount) {
		keepTokens(out, live)
	}
	return out
}

// without returns an object without the fields of rules.
func without(body map[string]any, rules []kappRule) map[string]any {
	out := preview.CloneBody(body)
	for _, rule := range rules {
		if rule.matches(out) {
			rule.sources = nil
			rule.apply(out, nil)
		}
	}
	return out
}

// apply copies or removes the fields of a rule.
func (r kappRule) apply(body map[string]any, sources map[string]map[string]any) {
	for _, path := range r.paths {
		if r.sources == nil {
			kappWalk(body, nil, path, nil, false, func(in map[string]any, key string, _ []kappStep) { delete(in, key) })
			continue
		}
		for _, name := range r.sources { // the parents are made as each source has them
			copied := false
			out := preview.CloneBody(body)
			kappWalk(out, sources[name], path, nil, true, func(in map[string]any, key string, at []kappStep) {
				for _, first := range r.sources {
					if v, has := kappValue(sources[first], at); has {
						in[key], copied = v, true
						return
					}
				}
			})
			if copied {
				maps.Copy(body, out)
			}
		}
	}
}

// kappWalk calls found for each field that a path matches. With making,
// mappings are made that source has; a path with an item of a list makes none.
func kappWalk(v, source any, path, at []kappStep, making bool, found func(in map[string]any, key string, at []kappStep)) {
	step, rest := path[0], path[1:]
	switch in := v.(type) {
	case map[string]any:
		from, _ := source.(map[string]any)
		for _, key := range step.of(in, from, making) {
			here := append(slices.Clone(at), kappStep{key: key, index: -1})
			switch {
			case len(rest) == 0:
				found(in, key, here)
				continue
			case making && from[key] == nil, in[key] == nil && (!making || slices.ContainsFunc(path, func(s kappStep) bool { return s.all || s.index >= 0 })):
				continue
			case in[key] == nil:
				in[key] = map[string]any{}
			}
			kappWalk(in[key], from[key], rest, here, making, found)
		}
	case []any:
		from, _ := source.([]any)
		for i := range in {
			if len(rest) == 0 || !step.all && step.index != i {
				continue
			}
			var other any
			if i < len(from) {
				other = from[i]
			}
			kappWalk(in[i], other, rest, append(slices.Clone(at), kappStep{index: i}), making, found)
		}
	}
}

// of returns the keys of a mapping that a step goes to.
func (s kappStep) of(in, from map[string]any, making bool) []string {
	switch {
	case s.isKey():
		return []string{s.key}
	case s.keys == nil:
		return nil
	case making:
		in = from
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(in)), func(key string) bool { return !s.keys.MatchString(key) })
}

// kappValue returns a copy of the value at a path without choices.
func kappValue(v any, path []kappStep) (any, bool) {
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			var has bool
			if v, has = in[step.key]; !has {
				return nil, false
			}
		case []any:
			if step.index < 0 || step.index >= len(in) {
				return nil, false
			}
			v = in[step.index]
		default:
			return nil, false
		}
	}
	return preview.CloneBody(map[string]any{"v": v})["v"], true
}

// label sets labels at the paths of rules that match.
func label(body map[string]any, rules []kappRule, labels map[string]string) {
	for _, rule := range rules {
		if !rule.matches(body) {
			continue
		}
		for _, path := range rule.paths {
			labelAt(body, path, labels)
		}
	}
}

func labelAt(v any, path []kappStep, labels map[string]string) {
	in, _ := v.(map[string]any)
	if len(path) == 0 {
		for key, value := range labels {
			in[key] = value
		}
		return
	}
	step := path[0]
	if list, ok := v.([]any); ok {
		for i := range list {
			if step.all || step.index == i {
				labelAt(list[i], path[1:], labels)
			}
		}
		return
	}
	if in == nil || !step.isKey() {
		return
	}
	if in[step.key] == nil {
		if slices.ContainsFunc(path, func(s kappStep) bool { return !s.isKey() }) {
			return
		}
		in[step.key] = map[string]any{}
	}
	labelAt(in[step.key], path[1:], labels)
}

// keepTokens keeps in a ServiceAccount what controllers add to it: the Secrets of its token.
func keepTokens(planned, live map[string]any) {
	name := preview.RefOf(planned).Name
	for field, infixes := range map[string][]string{"secrets": {"-token-", "-dockercfg-"}, "imagePullSecrets": {"-dockercfg-"}} {
		list := preview.List(planned, field)
		for _, infix := range infixes {
			for _, secret := range preview.Maps(live, field) {
				own := preview.String(secret, "name")
				has := func(v any) bool { item, _ := v.(map[string]any); return preview.String(item, "name") == own }
				if strings.HasPrefix(own, name+infix) && !slices.ContainsFunc(list, has) {
					list = append(slices.Clone(list), map[string]any{"name": own})
					planned[field] = list
				}
			}
		}
	}
}
