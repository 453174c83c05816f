package cloudmatch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudtable"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// whole are the rules whose finding is about every action and role of a permission.
var whole = []string{
	rules.CloudWildcardAction.Name, rules.CloudWriteEverywhere.Name, rules.CloudAllBut.Name, rules.CloudUnscoped.Name, rules.CloudIBMAdministrator.Name,
}

// UnjudgedLines returns as evidence what nothing is said of in a permission: nil where a
// rule that it matches is about all of it.
func UnjudgedLines(p preview.CloudPermission, u cloudtable.Unjudged) []string {
	if slices.ContainsFunc(p.Rules, func(rule string) bool { return slices.Contains(whole, rule) }) {
		return nil
	}
	var out []string
	rest := p
	if rest.Roles = nil; len(u.Actions) > 0 {
		rest.Actions = u.Actions
		out = append(out, Line(rest))
	}
	if len(u.Unknown) > 0 {
		rest.Actions, rest.Roles = nil, u.Unknown
		out = append(out, Line(rest)+": what it gives is not known")
	}
	for _, role := range u.Partly {
		out = append(out, p.Origin+": "+p.Provider+" "+p.Effect+" as "+role.Name+": "+changes(role))
	}
	return out
}

func changes(role cloudtable.Role) string {
	switch role.Others {
	case 0:
		return "it reads data or changes something"
	case 1:
		return "one of its actions reads data or changes something"
	}
	return fmt.Sprintf("%d of its actions read data or change something", role.Others)
}

// behindLine returns what is behind the names of a permission's roles that are judged by
// it, for the end of its line of evidence; empty where all of it is in the line.
func behindLine(p preview.CloudPermission) string {
	var parts []string
	for _, role := range cloudtable.Behind(p) {
		parts = append(parts, role.Name+" gives "+strings.Join(role.Actions, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}
