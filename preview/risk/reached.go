package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/powers"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// gains says what accounts can do that is Critical, and so what others gain that can act
// as them.
type gains struct {
	c       *scan
	powers  *powers.Set                         // what subjects can do that is Critical by itself
	cluster map[preview.Subject][]preview.Grant // of subjects that only the cluster has
	// constraints are the SecurityContextConstraints that subjects can use, for pods that
	// they can create.
	constraints *powers.Set
	actors      deputy.Actors // nil until an object of an unknown kind is found
}

// note records the matches that are Critical before rights are put together, or by what
// controllers of others do, and those about the use of SecurityContextConstraints.
func (n *gains) note(matches []match) {
	for _, m := range matches {
		switch {
		case m.level == Critical || n.c.orderLeads(m) != "":
			n.powers.Add(m.grant.Subject, m.rule.Name, n.power(m))
		case m.level == High && m.rule.Name == rules.RBACSCC.Name:
			n.constraints.Add(m.grant.Subject, m.rule.Name, n.power(m))
		}
	}
}

// power returns what a match lets its subject do. The text is the end of a sentence about the
// subject, such as "can write objects that install software (create on applications in
// argoproj.io, cluster-wide)".
func (n *gains) power(m match) powers.Power {
	right, where := matchedRight(m.grant, m.part), ", "+words.Extent(m.grant.Scope, m.grant.Namespace)
	return powers.Power{
		Text: m.rule.Worded(m.rule.CaseOf(n.c.grantCases(m))).Title + " (" + words.Right(right) + where + ")",
		Fact: preview.Step{Key: "can", Rule: m.rule.Name, Right: &right, Scope: m.grant.Scope, Namespace: m.grant.Namespace},
	}
}

// rulesOf returns, as text, which rules an account meets that others gain by acting as it;
// empty for none. What accounts can do that only the cluster has is noted here; for
// the plan's, judgeGrants does it.
func (n *gains) rulesOf(account preview.Subject) string {
	if n.cluster == nil {
		n.cluster = map[preview.Subject][]preview.Grant{}
		for _, g := range n.c.in.Reach.ClusterGrants {
			n.cluster[g.Subject] = append(n.cluster[g.Subject], g)
		}
	}
	var matches []match
	for _, g := range n.cluster[account] {
		matches = append(matches, n.c.matchGrant(g)...)
	}
	delete(n.cluster, account)
	n.note(matches)
	return strings.Join(slices.Concat(n.powers.Rules(account), n.constraints.Rules(account)), " ")
}

// from returns the first account that a subject can act as and that can do what is
// Critical and the subject cannot, such as to order software or rights from controllers
// of others; else, with level High, the first that can use SecurityContextConstraints.
// The path is the way to it, with what is gained as its last step, and the grants that let
// the subject act as the account; it is nil where there is no such account.
func (n *gains) from(of preview.Subject) (Level, *subjectPath) {
	gained := n.c.graph().Gained(of, n.rulesOf)
	for _, by := range []struct {
		level Level
		set   *powers.Set
	}{{Critical, n.powers}, {High, n.constraints}} {
		for _, g := range gained {
			if power, gains := by.set.Gain(of, g.Account); gains {
				path := g.Path()
				found := preview.EvidencePath{Kind: preview.PathThrough, Steps: append(path.Steps, power.Text), Facts: append(path.Facts, power.Fact)}
				return by.level, &subjectPath{found, g.Account, n.c.graph().Used(g, of)}
			}
		}
	}
	return None, nil
}

// together returns the first path from the rights of several accounts to one that can do what is Critical and that none of them reaches alone; empty without such a
// path.
func (n *gains) together(gained []access.Gained) preview.EvidencePath {
	for _, g := range gained {
		path := g.Path()
		if len(path.From) < 2 || n.rulesOf(g.Account) == "" {
			continue
		}
		power, more := n.powers.Gain(path.From[0], g.Account)
		alone := slices.ContainsFunc(path.From, func(s preview.Subject) bool { _, path := n.from(s); return path != nil })
		if more && !alone {
			return preview.EvidencePath{From: path.From, Steps: path.Steps, Facts: append(path.Facts, power.Fact), Gains: power.Text}
		}
	}
	return preview.EvidencePath{}
}

// byPlan reports whether the end of a subject's escalation path is new by the plan;
// before is the graph without it. The end is an account, or an extent if that is empty.
func (n *gains) byPlan(before *access.AccountGraph, of, to preview.Subject) bool {
	if to == (preview.Subject{}) {
		return before.Amount(of).Extent != n.c.graph().Amount(of).Extent
	}
	known := slices.ContainsFunc(before.Gained(of, func(s preview.Subject) string { return s.Namespace + "/" + s.Name }), func(g access.Gained) bool { return g.Account == to })
	return !known || slices.ContainsFunc(n.c.held.grants[to], isOfPlan)
}
