// Package neighbors judges objects that affect other users of the cluster once they
// exist: storage, Services, routes and network policies, namespaces, certificates,
// devices, and the priority of requests.
package neighbors

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Object is one object of a plan, with functions that say whose a namespace is.
type Object struct {
	preview.Ref
	Body map[string]any
	// Own reports whether a namespace is the release's own, Control whether it is one of
	// the control plane.
	Own, Control func(namespace string) bool
}

// Row is a rule with the kinds of objects that it judges.
type Row struct {
	Rule  rules.Rule
	Kinds []preview.GroupKind
	// Judge returns the level and what it saw, nothing if the object does not
	// match.
	Judge func(o Object) (rules.Level, []preview.Seen)
}

// Table returns the rows of all rules in the package.
func Table() []Row {
	return slices.Concat(storageRows(), networkRows(), gatewayRows(), clusterRows(), certificateRows())
}

func kinds(list ...preview.GroupKind) []preview.GroupKind { return list }

// foreign reports whether a namespace is not empty and not the release's own.
func (o Object) foreign(namespace string) bool { return namespace != "" && !o.Own(namespace) }

// annotation returns the value of an annotation of the object, empty if there is none.
func (o Object) annotation(key string) string {
	return preview.String(o.Body, "metadata", "annotations", key)
}

// verdict collects what was seen and the highest level of it.
type verdict struct {
	level rules.Level
	lines []preview.Seen
}

func (v *verdict) add(level rules.Level, fact preview.Seen) {
	v.level = max(v.level, level)
	v.lines = append(v.lines, fact)
}

// addIf adds a fact if holds is true.
func (v *verdict) addIf(holds bool, level rules.Level, fact preview.Seen) {
	if holds {
		v.add(level, fact)
	}
}

func (v *verdict) result() (rules.Level, []preview.Seen) { return v.level, v.lines }

// secretLevel returns the level of access to a Secret in a namespace that is not the
// release's own: Critical in one of the control plane, else High.
func (o Object) secretLevel(namespace string) rules.Level {
	if o.Control(namespace) {
		return rules.Critical
	}
	return rules.High
}

// texts returns the strings of a list; a single string counts as a list of one.
func texts(v any) []string {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	return preview.Texts(v)
}

// number returns a whole number, which YAML and JSON decode into several types; ok is
// false for other values.
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
