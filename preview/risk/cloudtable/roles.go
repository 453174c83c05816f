package cloudtable

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/tsv"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

//go:embed roles.tsv
var roleData string

// Role is a role or policy that a provider of a cloud has for everyone, with what is
// behind its name.
type Role struct {
	Provider string
	Name, ID string // only roles of Azure have an ID
	// Actions are those of the table that the role gives on every resource. "*.setIamPolicy"
	// and "*/listKeys/action" stand for every action of that ending.
	Actions []string
	Others  int // how many more of its actions do not only describe
}

// roleKey is a provider with the name or the ID of a role, in lower case.
type roleKey struct{ provider, name string }

var roles = sync.OnceValue(func() map[roleKey]Role {
	out := map[roleKey]Role{}
	for _, f := range tsv.Rows(roleData, 4) {
		name, id, _ := strings.Cut(f[1], "=")
		others, _ := strconv.Atoi(f[2])
		r := Role{Provider: f[0], Name: name, ID: id, Others: others}
		if f[3] != "" {
			r.Actions = strings.Split(f[3], " ")
		}
		out[roleKey{f[0], strings.ToLower(name)}] = r
		if id != "" {
			out[roleKey{f[0], id}] = r
		}
	}
	return out
})

// RoleOf returns the role that a permission names: by its name, its ID, or a path that ends
// with the name of a policy of AWS or the ID of a role of Azure; ok is false for one that
// the provider does not have.
func RoleOf(provider, named string) (r Role, ok bool) {
	named = strings.ToLower(strings.TrimSpace(named))
	if r, ok = roles()[roleKey{provider, named}]; ok || provider == cloud.GCP {
		return r, ok
	}
	if provider == cloud.AWS && !strings.Contains(named, ":aws:policy/") {
		return r, false // a policy of the account, which may have the name too
	}
	last := named[strings.LastIndex(named, "/")+1:]
	r, ok = roles()[roleKey{provider, last}]
	if provider == cloud.Azure && r.ID != last {
		return Role{}, false // a role of the account, whose name may have slashes
	}
	return r, ok
}

// hasRow reports whether a role has a row of its own, which says how severe it is.
func hasRow(provider, role string) bool {
	for _, rows := range Grants() {
		if slices.ContainsFunc(rows, func(row Grant) bool { return row.Kind == "role" && row.Provider == provider && row.names(role) }) {
			return true
		}
	}
	return false
}

// Behind returns the roles of a permission that have no row of their own, and are judged
// by the actions behind their names.
func Behind(p preview.CloudPermission) []Role {
	var out []Role
	for _, name := range p.Roles {
		if r, ok := RoleOf(p.Provider, name); ok && len(r.Actions) > 0 && !hasRow(p.Provider, name) {
			out = append(out, r)
		}
	}
	return out
}

// Includes reports whether a permission includes any of the actions, by itself or by a role.
func Includes(p preview.CloudPermission, actions ...string) bool {
	behind := Behind(p)
	return slices.ContainsFunc(actions, func(action string) bool {
		return cloud.Permits(p, action) || slices.ContainsFunc(behind, func(r Role) bool { return slices.Contains(r.Actions, action) })
	})
}

// Given returns the actions of a permission, and those behind its roles.
func Given(p preview.CloudPermission) []string {
	out := slices.Clone(p.Actions)
	for _, r := range Behind(p) {
		out = append(out, r.Actions...)
	}
	return out
}

// levelBehind returns the highest level of a rule's rows whose actions are behind roles.
func levelBehind(rule string, behind []Role) rules.Level {
	level := rules.None
	for _, role := range behind {
		for _, row := range Grants()[rule] {
			if row.Kind == "action" && row.Provider == role.Provider && slices.Contains(role.Actions, row.Name) {
				level = max(level, row.Wide)
			}
		}
	}
	return level
}
