// Package cloudtable has a table of the permissions and roles of clouds that give more
// than they seem to: published ways of privilege escalation, control of machines, code,
// clusters and accounts, and secrets of others.
package cloudtable

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/tsv"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

//go:embed grants.tsv
var grantData string

// Grant is a row of the table: an action or a role of a cloud.
type Grant struct {
	Provider string
	Kind     string // action, role, or starter: an action that starts something as a passed role
	Name, ID string // of the action or role; only roles of Azure have an ID
	Rule     string
	// Wide is the level for any resource, Named that for named resources.
	Wide, Named rules.Level
	Source      string
}

// Grants returns the rows by rule. Callers must not modify them.
var Grants = sync.OnceValue(func() map[string][]Grant {
	out := map[string][]Grant{}
	for _, f := range tsv.Rows(grantData, 7) {
		name, id, _ := strings.Cut(f[2], "=")
		out[f[3]] = append(out[f[3]], Grant{f[0], f[1], name, id, f[3], levels[f[4]], levels[f[5]], f[6]})
	}
	return out
})

var levels = map[string]rules.Level{"none": rules.None, "medium": rules.Medium, "high": rules.High, "critical": rules.Critical}

// Judge returns the level of a permission under a rule: the highest of the rows that
// the permission includes, by itself or by its roles, None if it includes none.
func Judge(rule string, p preview.CloudPermission) rules.Level {
	level, wide := levelBehind(rule, Behind(p)), cloud.Wide(p)
	for _, row := range Grants()[rule] {
		of := row.Named
		if wide || row.Kind == "role" {
			of = row.Wide
		}
		if of > level && row.Provider == p.Provider && row.includedIn(p) {
			level = of
		}
	}
	return level
}

// Worst returns the highest level of all rows that a permission includes, whatever
// their rule; None if it includes none.
func Worst(p preview.CloudPermission) rules.Level {
	level := rules.None
	for rule := range Grants() {
		level = max(level, Judge(rule, p))
	}
	return level
}

// Administrators returns the names, as they occur in templates and programs, of the
// roles and policies that equal an administrator.
var Administrators = sync.OnceValue(func() []string {
	var out []string
	for _, rows := range Grants() {
		for _, row := range rows {
			switch {
			case row.Kind != "role" || row.Wide != rules.Critical:
			case row.ID != "":
				out = append(out, row.ID)
			case row.Provider == cloud.AWS:
				out = append(out, "policy/"+row.Name)
			case strings.Contains(row.Name, "/"):
				out = append(out, row.Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
})

// Starts reports whether a permission includes an action that starts something, such as
// a machine, with a role that is passed to it.
func Starts(p preview.CloudPermission) bool {
	for _, row := range Grants()[rules.CloudPassRole.Name] {
		if row.Kind == "starter" && row.Provider == p.Provider && Includes(p, row.Name) {
			return true
		}
	}
	return false
}

// Holds reports whether a permission includes a role, by its name or its id.
func Holds(p preview.CloudPermission, role string) bool {
	for _, rows := range Grants() {
		for _, row := range rows {
			if row.Kind == "role" && row.Name == role && row.Provider == p.Provider && row.includedIn(p) {
				return true
			}
		}
	}
	return false
}

func (row Grant) includedIn(p preview.CloudPermission) bool {
	switch row.Kind {
	case "action":
		return cloud.Permits(p, row.Name) && (!row.onData() || cloud.OnData(p) || slices.ContainsFunc(p.Actions, func(a string) bool { return strings.EqualFold(a, row.Name) }))
	case "role":
		for _, role := range p.Roles {
			if row.names(role) {
				return true
			}
		}
	}
	return false
}

// onData reports whether the row is about the data in a service of Azure. The wildcards of
// a permission on the service, such as the "*/read" of the role Reader, do not include it.
func (row Grant) onData() bool {
	return row.Provider == cloud.Azure && slices.ContainsFunc([]string{"/vaults/secrets/", "/vaults/keys/", "/containers/blobs/"}, func(part string) bool { return strings.Contains(row.Name, part) })
}

// names reports whether a role in a permission is that of the row: by its name, its id,
// or a path that ends with either.
func (row Grant) names(role string) bool {
	role = strings.TrimSpace(role)
	last := role[strings.LastIndex(role, "/")+1:]
	switch row.Provider {
	case cloud.AWS:
		// Only AWS's own policies, whose account is "aws": others may have the name too.
		managed := strings.Contains(role, ":aws:policy/") || strings.Contains(role, ":aws:cluster-access-policy/")
		return role == row.Name || managed && last == row.Name
	case cloud.Azure:
		return strings.EqualFold(role, row.Name) || strings.EqualFold(last, row.ID)
	}
	return strings.EqualFold(role, row.Name)
}
