package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// changeSymbols are the symbols shown before the word for how a plan changes a grant.
var changeSymbols = map[string]string{
	preview.GrantNew: "+", preview.GrantWidened: "~", preview.GrantNarrowed: "~",
	preview.GrantRemoved: "-", preview.GrantSame: "=",
}

// changeOrder is the order in which [countChanges] lists the counts of grants.
var changeOrder = []string{
	preview.GrantNew, preview.GrantWidened, preview.GrantNarrowed, preview.GrantRemoved, preview.GrantSame, held,
}

// held is the word under which grants are counted that the cluster gives already and
// the plan does not touch.
const held = "given by the cluster already"

// countChanges counts grants by how they change: "2 new, 1 widened, 10 same (not
// listed)".
func countChanges(changes []string) string {
	var parts []string
	for _, change := range changeOrder {
		n := 0
		for _, c := range changes {
			if c == change {
				n++
			}
		}
		switch {
		case n == 0:
		case change == preview.GrantSame, change == held:
			parts = append(parts, fmt.Sprintf("%d %s (not listed)", n, change))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, change))
		}
	}
	return strings.Join(parts, ", ")
}

func accessSection(p *preview.Plan, l layout) section {
	var changes []string
	var listed []preview.Grant
	for _, g := range p.Access.Grants {
		change := g.Change
		if g.Held {
			change = held
		}
		changes = append(changes, change)
		if g.Change != preview.GrantSame {
			listed = append(listed, g)
		}
	}
	if len(changes) == 0 {
		return section{}
	}
	s := section{title: "ACCESS", note: joinTexts(": ", preview.Plural(len(changes), "grant"), countChanges(changes))}
	slices.SortStableFunc(listed, func(a, b preview.Grant) int { return strings.Compare(holder(a), holder(b)) })
	subject, scope := "", ""
	for _, g := range listed {
		if text := subjectText(g.Subject); text != subject {
			subject, scope = text, ""
			s.lines = append(s.lines, "  "+l.paint(bold, line(text)))
		}
		if text := scopeText(g); text != scope {
			scope = text
			s.lines = append(s.lines, l.hang("    ", "      ", text)...)
		}
		s.lines = append(s.lines, grantLines(p, g, l)...)
	}
	if text := access.DiscoveryText(p.Access.Wildcards); text != "" {
		s.lines = append(s.lines, l.wrap("  ", text)...)
	}
	return s
}

// holder returns a sort key by which grants to the same subject, in the same scope and
// through the same bindings, are listed together.
func holder(g preview.Grant) string { return subjectText(g.Subject) + "\x00" + scopeText(g) }

func subjectText(s preview.Subject) string {
	if s.Namespace == "" {
		return s.Kind + " " + s.Name
	}
	return s.Kind + " " + s.Namespace + "/" + s.Name
}

func scopeText(g preview.Grant) string {
	where := "cluster-wide"
	if g.Scope == preview.ScopeNamespace {
		where = "in namespace " + g.Namespace
	}
	if len(g.Via) == 0 {
		return where
	}
	return where + ", through " + strings.Join(g.Via, " and ")
}

func grantLines(p *preview.Plan, g preview.Grant, l layout) []string {
	head := fmt.Sprintf("      %s %-8s  ", changeSymbols[g.Change], line(g.Change))
	verbs := 24
	if l.width >= 90 {
		verbs = 36
	}
	out := l.wrap(head, fmt.Sprintf("%-*s  %s", verbs, strings.Join(g.Verbs, " "), targetText(g)))
	if m := p.Access.Wildcards.Expansion(g); m != nil {
		out = append(out, l.hang(strings.Repeat(" ", len(head))+"* ", strings.Repeat(" ", len(head)+2), access.WildcardText(m))...)
	}
	if len(g.Rules) > 0 {
		out = append(out, strings.Repeat(" ", len(head))+l.paint(yellow, "! "+lines(g.Rules)))
	}
	return out
}

// targetText returns what a grant is for, as text: resources, API groups and resource
// names, or non-resource URLs.
func targetText(g preview.Grant) string {
	if len(g.Resources) == 0 {
		return strings.Join(g.NonResourceURLs, ", ")
	}
	text := strings.Join(g.Resources, ", ")
	var groups []string
	for _, group := range g.APIGroups {
		if group == "" {
			group = "core"
		}
		groups = append(groups, group)
	}
	if len(groups) > 1 || len(groups) == 1 && groups[0] != "core" {
		text += " (" + strings.Join(groups, ", ") + ")"
	}
	if len(g.ResourceNames) > 0 {
		text += " named " + strings.Join(g.ResourceNames, ", ")
	}
	return text
}

// rightsSection lists the rights that the user lacks to apply the plan.
func rightsSection(p *preview.Plan, l layout) section {
	missing := p.Access.Installer.Missing
	if len(missing) == 0 {
		return section{}
	}
	s := section{title: "YOU LACK", note: preview.Plural(len(missing), "right") + " to carry this out"}
	for _, m := range missing {
		s.lines = append(s.lines, l.wrap("  x ", joinTexts("  ", m.Verb+" "+m.Resource, m.Why))...)
	}
	return s
}

func cloudSection(p *preview.Plan, l layout) section {
	var changes []string
	var out []string
	for _, c := range p.Cloud.Permissions {
		changes = append(changes, c.Change)
		if c.Change != preview.GrantSame {
			out = append(out, cloudLines(c, l)...)
		}
	}
	for _, d := range p.Cloud.Declared {
		out = append(out, l.wrap(fmt.Sprintf("  ? %-8s  ", line(orDefault(d.Certainty, preview.CloudDeclared))), d.Provider+", by "+d.Origin+"; permissions not declared")...)
	}
	var attached []string
	if p.ReleaseOptions != nil {
		for i, policy := range p.ReleaseOptions.CloudPolicies {
			place := ""
			if i < len(p.Request.CloudPolicies) {
				place = p.Request.CloudPolicies[i]
			}
			attached = append(attached, l.wrap("  attached    ", joinTexts("  ", place, policy.SHA256))...)
		}
	}
	out = append(attached, out...)
	switch {
	case len(changes)+len(out) == 0:
		if looked := CloudLookedAt(p); looked != "" {
			return section{title: "CLOUD", note: "none found", lines: l.wrap("  ", looked)}
		}
		return section{}
	}
	note := countChanges(changes)
	if n := len(p.Cloud.Declared); n > 0 {
		note = joinTexts(", ", note, fmt.Sprintf("%d declared without actions", n))
	}
	return section{title: "CLOUD", note: note, lines: out}
}

// CloudLookedAt says in what a plan without access to clouds was searched for it; empty
// for a plan that has some, or none of whose objects is applied.
func CloudLookedAt(p *preview.Plan) string {
	if len(p.Cloud.Permissions)+len(p.Cloud.Declared) > 0 || len(p.Objects) == 0 || p.Request.Action == preview.RequestUninstall {
		return ""
	}
	of := func(format string) bool {
		return slices.ContainsFunc(p.Packages, func(pkg preview.Package) bool { return pkg.Format == format })
	}
	documents := ""
	switch {
	case of("registry+v1"):
		documents = "; at the bundle's examples, description and documents for policies"
	case of("helm"):
		documents = "; at the chart's documents for policies"
	}
	return "Looked at " + preview.Plural(len(p.Objects), "object") + " for credential requests, IAM custom resources and rights to them, " +
		"identities of ServiceAccounts and pods, variables, token volumes, keys of Secrets, and texts of ConfigMaps and Secrets" + documents + ". What the publisher documents elsewhere is added with --cloud-policy."
}

// certain returns by what cloud access is known, and how sure that is.
func certain(c preview.CloudPermission) string {
	switch c.Certainty {
	case preview.CloudExample:
		return "example, in " + c.Origin
	case preview.CloudInferred:
		return "inferred, from " + c.Origin
	}
	return "declared by " + c.Origin
}

// cloudTexts returns the access to clouds in one line each, with how sure it is, or that
// none was found and where it was looked for.
func cloudTexts(p *preview.Plan) []string {
	out := []string{}
	for _, c := range p.Cloud.Permissions {
		out = append(out, joinTexts("  ", c.Change, cloudWhat(c), certain(c)))
	}
	for _, d := range p.Cloud.Declared {
		out = append(out, joinTexts("  ", d.Provider, "permissions not stated", certain(preview.CloudPermission{Certainty: d.Certainty, Origin: d.Origin})))
	}
	if looked := CloudLookedAt(p); looked != "" {
		out = append(out, "none found. "+looked)
	}
	return out
}

// cloudWhat returns what a permission is, without its conditions.
func cloudWhat(c preview.CloudPermission) string {
	return joinTexts("  ", c.Provider, c.Effect, strings.Join(c.Actions, " "), prefixLines("roles ", strings.Join(c.Roles, " ")),
		prefixLines("on ", strings.Join(c.Resources, " ")))
}

func cloudLines(c preview.CloudPermission, l layout) []string {
	head := fmt.Sprintf("  %s %-8s  ", changeSymbols[c.Change], line(c.Change))
	out := l.wrap(head, cloudWhat(c))
	indent := strings.Repeat(" ", len(head))
	if len(c.Conditions) > 0 {
		if data, err := json.Marshal(c.Conditions); err == nil {
			out = append(out, l.wrap(indent+"if ", string(data))...)
		}
	}
	out = append(out, l.wrap(indent, certain(c))...)
	if len(c.Rules) > 0 {
		out = append(out, indent+l.paint(yellow, "! "+lines(c.Rules)))
	}
	return out
}
