// Package wellknown has a table of objects that control something in a cluster by their
// group, kind, namespace and name alone, such as ConfigMap kube-system/aws-auth, and one
// of ServiceAccounts of widely used systems that amount to control of the cluster.
package wellknown

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/tsv"
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
	for _, f := range tsv.Rows(objectData, 5) {
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

//go:embed accounts.tsv
var accountData string

// Account is a row of the table of ServiceAccounts.
type Account struct {
	Namespace, Name string // "*" at an end stands for anything
	Can             string // what the account does, such as "is cluster-admin (Flux)"
	Source          string // address at which its rights are written
}

// Accounts returns the rows. Callers must not modify them.
var Accounts = sync.OnceValue(func() []Account {
	var out []Account
	for _, f := range tsv.Rows(accountData, accountColumns) {
		out = append(out, Account{f[0], f[1], f[2], f[3]})
	}
	return out
})

const accountColumns = 4

// FindAccount returns the row of a ServiceAccount; ok is false if there is none. An
// empty namespace is any.
func FindAccount(namespace, name string) (found Account, ok bool) {
	for _, row := range Accounts() {
		if (namespace == "" || fits(row.Namespace, namespace)) && fits(row.Name, name) {
			return row, true
		}
	}
	return Account{}, false
}

// AccountIn returns the first row of a namespace; ok is false if there is none.
func AccountIn(namespace string) (found Account, ok bool) {
	for _, row := range Accounts() {
		if fits(row.Namespace, namespace) {
			return row, true
		}
	}
	return Account{}, false
}

// Decisive reports whether the right to write objects of a kind in a namespace, those
// with one of the names only if there are any, includes an object of the table with
// level Critical. Without names, objects that the table has in every namespace do not
// count.
func Decisive(kind preview.GroupKind, namespace string, names []string) (found Object, ok bool) {
	for _, row := range Objects()[string(kind)] {
		if row.Level < rules.Critical || !fits(row.Namespace, namespace) || len(names) == 0 && row.Namespace == "*" {
			continue
		}
		if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return fits(row.Name, name) }) {
			return row, true
		}
	}
	return Object{}, false
}

// Named reports whether an object with a name is one of the table with level Critical.
// An empty namespace is any: the name then has to be one that only such an object has.
func Named(kind preview.GroupKind, namespace, name string) bool {
	return slices.ContainsFunc(Objects()[string(kind)], func(row Object) bool {
		return row.Level == rules.Critical && fits(row.Name, name) && (namespace == "" && row.Name != "*" || namespace != "" && fits(row.Namespace, namespace))
	})
}
