package tabs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// WhatAndWho returns what a group of findings claims, and of whom.
func WhatAndWho(g verdict.Group) (what, who string) {
	return whatAndWho(g, func(c preview.Claim) string { return words.Scope(c.Scope, c.Namespace) })
}

// shortWhatAndWho is [WhatAndWho] for the columns of a list, with short scopes. own is the
// release namespace.
func shortWhatAndWho(g verdict.Group, own string) (what, who string) {
	return whatAndWho(g, func(c preview.Claim) string { return shortScope(c, own) })
}

func whatAndWho(g verdict.Group, scope func(preview.Claim) string) (what, who string) {
	claim, others := g.Claim()
	what, who = claim.Predicate+scope(claim)+others, claim.Subject
	if fold := g.Account == nil && len(g.Findings) > 1 && g.OneRule(); fold && who != "" {
		what, who = who+" "+what, ""
	}
	return what, frame.ShortKind(cmp.Or(who, frame.ObjectName(g.First().Object)))
}

// shortScope returns where a claim holds, in short.
func shortScope(claim preview.Claim, own string) string {
	switch {
	case claim.Scope == preview.ScopeCluster:
		return " (all ns)"
	case claim.Scope == "":
		return ""
	case claim.Namespace == own:
		return " (own ns)"
	}
	return " (ns " + claim.Namespace + ")"
}

// originText names the file, document and line that an object comes from, as far as
// they are known.
func originText(o preview.Origin) string {
	if o.File == "" {
		return ""
	}
	text := o.File
	if o.Document > 0 {
		text += fmt.Sprintf("  document %d", o.Document)
	}
	if o.Line > 0 {
		text += fmt.Sprintf("  line %d", o.Line)
	}
	return text
}

// setterText names the field manager that set a field, and the day.
func setterText(s diff.Setter) string {
	if s.Manager == "" {
		return ""
	}
	day, _, _ := strings.Cut(s.Time, "T")
	return "  (set by " + strings.Join(frame.NonEmpty(s.Manager, day), ", ") + ")"
}
