package verdict

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// permissions returns a highlight for the rights that each account gains or loses with the
// same verbs in the same scope, those that match the worst rule first; nil for an
// uninstall.
func permissions(p *preview.Plan) []preview.Highlight {
	if p.Request.Action == preview.RequestUninstall {
		return nil // all of it is lost
	}
	var out []preview.Highlight
	for _, change := range []struct {
		gained bool
		grants []preview.Grant
	}{{true, p.Access.Gained}, {false, p.Access.Lost}} {
		var list []preview.Highlight
		for _, entry := range permissionEntries(p, change.grants) {
			is := entry.permission(change.gained)
			list = append(list, preview.Highlight{
				Topic: preview.TopicPermission, Who: is.Account, Gained: change.gained, What: is.Verbs + " on " + is.Targets + ", " + is.Extent,
			})
		}
		out = append(out, bounded(list)...)
	}
	return out
}

// Permission is rights that an account gains or loses by a plan, in words.
type Permission struct {
	Gained                          bool
	Account, Verbs, Targets, Extent string
}

// Permissions returns the rights that each account gains and those that it loses, with
// the same verbs in the same scope as one, those that match the worst rule first. Where
// nothing is installed all of the package's are gained. It is nil for an uninstall.
func Permissions(p *preview.Plan) []Permission {
	if p.Request.Action == preview.RequestUninstall {
		return nil // all of it is lost
	}
	gained := slices.Clone(p.Access.Gained)
	if p.Base.Revision == 0 && p.Against == nil {
		for _, g := range p.Access.Grants {
			if g.Change == preview.GrantNew && !g.Held {
				gained = append(gained, g)
			}
		}
	}
	var out []Permission
	for _, e := range permissionEntries(p, gained) {
		out = append(out, e.permission(true))
	}
	for _, e := range permissionEntries(p, p.Access.Lost) {
		out = append(out, e.permission(false))
	}
	return out
}

// permissionEntry is the grants of one subject in one scope with the same verbs.
type permissionEntry struct {
	grants   []preview.Grant
	severity int // rank of the worst rule that a grant matches
}

func permissionEntries(p *preview.Plan, grants []preview.Grant) []permissionEntry {
	index, severityOf := map[string]int{}, permissionRanks(p)
	var entries []permissionEntry
	for _, g := range grants {
		key := strings.Join([]string{words.Subject(g.Subject), g.Scope, g.Namespace, strings.Join(g.Verbs, ",")}, "|")
		at, seen := index[key]
		if !seen {
			at = len(entries)
			index[key] = at
			entries = append(entries, permissionEntry{severity: preview.Info.Rank()})
		}
		entries[at].grants = append(entries[at].grants, g)
		entries[at].severity = min(entries[at].severity, severityOf(g))
	}
	slices.SortStableFunc(entries, func(a, b permissionEntry) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), preview.FalseFirst(!a.wildcard(), !b.wildcard()), strings.Compare(words.Subject(a.grants[0].Subject), words.Subject(b.grants[0].Subject)))
	})
	return entries
}

// wildcard reports whether a grant has "*" as verb or resource.
func (e permissionEntry) wildcard() bool {
	return slices.ContainsFunc(e.grants, func(g preview.Grant) bool { return slices.Contains(g.Verbs, "*") || slices.Contains(g.Resources, "*") })
}

// permissionRanks returns a function for the rank of the worst rule that a grant matches, by its
// own rules and the rules of the plan's grants that overlap with it. These are tried from the
// worst on, so that thousands of grants of one account are not all compared.
func permissionRanks(p *preview.Plan) func(preview.Grant) int {
	type place struct {
		subject          preview.Subject
		scope, namespace string
	}
	type judged struct {
		grant    *preview.Grant
		severity int
	}
	at := func(g *preview.Grant) place { return place{g.Subject, g.Scope, g.Namespace} }
	all := map[place][]judged{}
	for i := range p.Access.Grants {
		if g := &p.Access.Grants[i]; len(g.Rules) > 0 {
			all[at(g)] = append(all[at(g)], judged{g, worstOf(g.Rules)})
		}
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b judged) int { return cmp.Compare(a.severity, b.severity) })
	}
	return func(g preview.Grant) int {
		worst := worstOf(g.Rules)
		for _, of := range all[at(&g)] {
			if of.severity >= worst {
				break
			}
			if access.Overlap(*of.grant, g) {
				return of.severity
			}
		}
		return worst
	}
}

// worstOf returns the rank of the worst of some rules, the rank of info without any.
func worstOf(names []string) int {
	worst := preview.Info.Rank()
	for _, name := range names {
		if rule, known := rules.Named(name); known {
			worst = min(worst, rule.Severity().Rank())
		}
	}
	return worst
}

// permission returns the entry in words like kubectl's: verbs on resources, and where.
func (e permissionEntry) permission(gained bool) Permission {
	first := e.grants[0]
	targets := make([]string, 0, len(e.grants))
	for _, g := range e.grants {
		targets = append(targets, words.Target(g))
	}
	return Permission{gained, words.Subject(first.Subject), words.Listed(first.Verbs, "all verbs"), strings.Join(targets, "; "), words.Extent(first.Scope, first.Namespace)}
}
