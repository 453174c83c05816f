// Package wellknown knows the objects that control something of a cluster by
// their identity alone: group, kind, namespace and name.
package wellknown

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

//go:embed objects.tsv
var objectData string

// Object is a row of the table.
type Object struct {
	Kind, Namespace, Name string // with "*" where anything stands
	Level                 rules.Level
	Controls              string // what the object controls, such as "which IAM users …"
}

// Objects returns the table by kind. Callers must not modify it.
var Objects = sync.OnceValue(func() map[string][]Object {
	out := map[string][]Object{}
	for line := range strings.Lines(objectData) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 5 {
			continue // a test holds the table to its form
		}
		out[f[0]] = append(out[f[0]], Object{f[0], strings.TrimPrefix(f[1], "-"), f[2], levels[f[3]], f[4]})
	}
	return out
})

var levels = map[string]rules.Level{"medium": rules.Medium, "high": rules.High, "critical": rules.Critical}

// Find returns the row of an object that says most, and whether there is one.
func Find(ref preview.Ref) (found Object, ok bool) {
	for _, kind := range []string{string(ref.GroupKind()), ref.Group() + "/*"} {
		for _, row := range Objects()[kind] {
			if fits(row.Namespace, ref.Namespace) && fits(row.Name, ref.Name) && row.Level > found.Level {
				found, ok = row, true
			}
		}
	}
	return found, ok
}

// fits compares a name with a pattern that has a star at one end, or is one.
func fits(pattern, name string) bool {
	switch {
	case pattern == "*":
		return true
	case strings.HasPrefix(pattern, "*"):
		return strings.HasSuffix(name, pattern[1:])
	case strings.HasSuffix(pattern, "*"):
		return strings.HasPrefix(name, strings.TrimSuffix(pattern, "*"))
	}
	return pattern == name
}
