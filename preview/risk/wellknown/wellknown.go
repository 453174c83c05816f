// Package wellknown has a table of objects that control something in a cluster by their
// group, kind, namespace and name alone, such as ConfigMap kube-system/aws-auth.
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

// Object is a row of the table of such objects.
type Object struct {
	Kind, Namespace, Name string // "*" for any, also at an end of a name
	Level                 rules.Level
	Controls              string // what depends on the object, such as "which IAM users …"
}

// Objects returns the rows by kind. Callers must not modify them.
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

// Find returns the row with the highest level for an object; ok is false if there is
// none.
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

// fits reports whether a name matches a pattern, which is "*", or has a "*" at one end.
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
