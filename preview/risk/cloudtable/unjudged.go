package cloudtable

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/tsv"
)

//go:embed plain.tsv
var plainData string

// plain is a row about actions or roles that the table of grants does not have: they are
// harmless, or a rule judges them by more than their names, or they are roles that change
// something.
type plain struct {
	provider, kind, pattern string
	changes                 bool
}

var plains = sync.OnceValue(func() []plain {
	var out []plain
	for _, f := range tsv.Rows(plainData, 5) {
		out = append(out, plain{f[0], f[1], strings.ToLower(f[2]), f[3] == "changes"})
	}
	return out
})

// plainOf returns the row of an action or role; ok is false if there is none.
func plainOf(provider, kind, name string) (found plain, ok bool) {
	at := slices.IndexFunc(plains(), func(row plain) bool {
		return row.provider == provider && row.kind == kind && cloud.Glob(row.pattern, strings.ToLower(name))
	})
	if at < 0 {
		return plain{}, false
	}
	return plains()[at], true
}

func isPlain(provider, kind, name string) bool {
	_, ok := plainOf(provider, kind, name)
	return ok
}

// Unjudged is the part of a permission of which no row and no rule says anything.
type Unjudged struct {
	Actions []string
	Unknown []string // roles of which it is not known what they give
	Partly  []Role   // roles that give more than what only describes
}

// Some reports whether there is anything.
func (u Unjudged) Some() bool { return len(u.Actions)+len(u.Unknown)+len(u.Partly) > 0 }

// UnjudgedOf returns what nothing is said of in a permission. defined reports whether a
// role of the account's own is defined by the plan, where its actions are judged.
func UnjudgedOf(p preview.CloudPermission, defined func(role string) bool) Unjudged {
	var u Unjudged
	data := cloud.OnData(p)
	for _, action := range p.Actions {
		if !isPlain(p.Provider, "action", action) && !tabled(p.Provider, strings.ToLower(action)) && !Describes(p.Provider, action, data) {
			u.Actions = append(u.Actions, action)
		}
	}
	for _, role := range p.Roles {
		if row, ok := plainOf(p.Provider, "role", role); ok {
			if row.changes {
				u.Partly = append(u.Partly, Role{Provider: p.Provider, Name: role})
			}
			continue
		}
		switch known, ok := RoleOf(p.Provider, role); {
		case cloud.IsIdentity(preview.CloudPermission{Origin: p.Origin, Roles: []string{role}}) || hasRow(p.Provider, role):
		case ok && known.Others > 0:
			u.Partly = append(u.Partly, known)
		case !ok && !defined(role):
			u.Unknown = append(u.Unknown, role)
		}
	}
	return u
}

// DefinedBy returns a function that reports whether one of the permissions at a provider is
// of an object that is named as a role of the account's own and that is a role or policy,
// such as the IAMCustomRole of one of Google Cloud.
func DefinedBy(provider string, permissions []preview.CloudPermission) func(role string) bool {
	return func(role string) bool {
		name := "/" + role[strings.LastIndexAny(role, "/ ")+1:]
		return slices.ContainsFunc(permissions, func(p preview.CloudPermission) bool {
			return p.Provider == provider && len(p.Actions) > 0 && p.Change != preview.GrantRemoved && strings.HasSuffix(p.Origin, name) && definesRole(p.Origin)
		})
	}
}

// definesRole reports whether the object of an origin is of a kind that holds the actions
// of a role, by the name of the kind: Role, IAMCustomRole, RoleDefinition, Policy.
func definesRole(origin string) bool {
	kind, _, _ := strings.Cut(origin, "/")
	return strings.Contains(kind, "Role") || strings.Contains(kind, "Policy")
}
