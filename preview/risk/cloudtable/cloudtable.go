// Package cloudtable knows which permissions and roles of the clouds lead to more
// than they say: the published ways of privilege escalation, what takes over
// machines, code, clusters and accounts, and what reads secrets of others.
package cloudtable

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

//go:embed grants.tsv
var grantData string

// Grant is a row of the table.
type Grant struct {
	Provider string
	Kind     string // action, role, or starter: an action that starts something as a passed role
	Name, ID string // of an action or a role; only roles of Azure have an ID
	Rule     string
	// Wide is the level on any resource, Named that on named ones.
	Wide, Named rules.Level
	Source      string
}

// Grants returns the table by rule. Callers must not modify it.
var Grants = sync.OnceValue(func() map[string][]Grant {
	out := map[string][]Grant{}
	for line := range strings.Lines(grantData) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 7 {
			continue // a test holds the table to its form
		}
		name, id, _ := strings.Cut(f[2], "=")
		out[f[3]] = append(out[f[3]], Grant{f[0], f[1], name, id, f[3], levels[f[4]], levels[f[5]], f[6]})
	}
	return out
})

var levels = map[string]rules.Level{"none": rules.None, "medium": rules.Medium, "high": rules.High, "critical": rules.Critical}

// Judge returns the level of a permission under a rule: that of the worst row that
// it includes, None where there is none.
func Judge(rule string, p preview.CloudPermission) rules.Level {
	level, wide := rules.None, cloud.Wide(p)
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

// Administrators returns the roles and policies of the table that are as much as
// an administrator, as templates and programs name them.
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

// Starts reports whether a permission includes an action that starts something as
// a role which is passed to it.
func Starts(p preview.CloudPermission) bool {
	for _, row := range Grants()[rules.CloudPassRole.Name] {
		if row.Kind == "starter" && row.Provider == p.Provider && cloud.Permits(p, row.Name) {
			return true
		}
	}
	return false
}

// Holds reports whether a permission is a role of the table, however it is named.
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
		return cloud.Permits(p, row.Name)
	case "role":
		for _, role := range p.Roles {
			if row.names(role) {
				return true
			}
		}
	}
	return false
}

// names compares a role with what a request, an assignment or an attachment names
// it by: its name, its id, or a path that ends with either.
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
