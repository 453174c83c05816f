// Package neighbors judges objects that take over what belongs to others by being
// there: storage, names and addresses of the network, namespaces, certificates,
// devices, and the order in which requests are served.
package neighbors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Object is one object of a plan with what is known of namespaces.
type Object struct {
	preview.Ref
	Body map[string]any
	// Own reports whether a namespace is the release's own, Control whether it is
	// one of the control plane.
	Own, Control func(namespace string) bool
}

// Row is a rule with the kinds that it looks at.
type Row struct {
	Rule  rules.Rule
	Kinds []preview.GroupKind
	// Judge returns the level and the evidence, none when the rule does not hold.
	Judge func(o Object) (rules.Level, []string)
}

// Table returns every rule of the package.
func Table() []Row {
	return slices.Concat(storageRows(), networkRows(), gatewayRows(), clusterRows(), certificateRows())
}

func kinds(list ...preview.GroupKind) []preview.GroupKind { return list }

// foreign reports whether a namespace is named and not the release's own.
func (o Object) foreign(namespace string) bool { return namespace != "" && !o.Own(namespace) }

// annotation returns an annotation of the object.
func (o Object) annotation(key string) string {
	return preview.String(o.Body, "metadata", "annotations", key)
}

// verdict collects evidence and the highest level of it.
type verdict struct {
	level rules.Level
	lines []string
}

func (v *verdict) add(level rules.Level, format string, args ...any) {
	v.level = max(v.level, level)
	v.lines = append(v.lines, fmt.Sprintf(format, args...))
}

// addIf adds evidence where a condition holds.
func (v *verdict) addIf(holds bool, level rules.Level, format string, args ...any) {
	if holds {
		v.add(level, format, args...)
	}
}

func (v *verdict) result() (rules.Level, []string) {
	slices.Sort(v.lines)
	return v.level, slices.Compact(v.lines)
}

// secretLevel is the level of reaching a Secret of another namespace.
func (o Object) secretLevel(namespace string) rules.Level {
	if o.Control(namespace) {
		return rules.Critical
	}
	return rules.High
}

// texts returns a list of texts, or the one text that stands for it.
func texts(v any) []string {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	return preview.Texts(v)
}

// number returns a whole number in any of the types that decoders give, and
// whether there is one.
func number(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(min(v, 1<<62)), true
	case int:
		return int64(v), true
	case float64:
		return int64(v), true
	}
	return 0, false
}

// hasPrefix reports whether a text begins with any of the prefixes.
func hasPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}
