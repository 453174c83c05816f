package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

const all = "*"

// shape is a set of rights that a rule looks for: any of the verbs on any of the
// resources. groups nil means every API group. A resource "*/SUB" means the subresource
// SUB of any resource.
type shape struct {
	groups, resources, verbs []string
	// special are verbs that a wildcard among the verbs includes and that kubectl does
	// not list, such as impersonate. Only rules about such verbs have some.
	special []string
	// cluster: the resources are cluster-scoped, so that a grant in a namespace does not
	// match.
	cluster bool
}

// newShape returns a shape from lists that are separated by spaces. The group "core"
// means the core group.
func newShape(groups, resources, verbs string) shape {
	list := strings.Fields(groups)
	for i, group := range list {
		if group == "core" {
			list[i] = ""
		}
	}
	return shape{groups: list, resources: strings.Fields(resources), verbs: strings.Fields(verbs)}
}

// grantMatch is the matcher of a rule about grants.
type grantMatch struct {
	shapes []shape
	// with are shapes that the same subject must all hold too, by any grant of
	// the plan.
	with []shape
	// clusterOnly: the resources are cluster-scoped, so that grants in a namespace have
	// no effect and do not match.
	clusterOnly bool
	// unlike reports whether a grant does not match although its rights do; nil for
	// never.
	unlike func(c *scan, g preview.Grant) bool
	// level returns the level of a match before it is changed by scope, names and
	// subject; nil for the rule's level.
	level func(c *scan, g preview.Grant, matched shape) Level
	// fixed reports whether resourceNames leave the level of a grant as it is; nil for
	// never.
	fixed func(c *scan, g preview.Grant) bool
	// items returns the words that choose a case of the rule for the matched
	// part, such as API groups; nil for the matched resources.
	items func(c *scan, g preview.Grant, matched shape) []string
	// covers are names of rules that say less about a grant that this rule matches, and
	// are left out for it.
	covers []string
	// wins: if the rule matches with level Critical, all other rules are left out for
	// the grant.
	wins bool
	// anywhere: some of the resources are cluster-scoped, so that the title of a finding
	// about a cluster-wide grant does not say "in every namespace".
	anywhere bool
	// custom returns the matched part of a grant by code; ok is false if none matches.
	// It is used together with shapes, or in their place.
	custom func(c *scan, g preview.Grant) (shape, bool)
	// effect is set in rules about custom resources: what the controllers of the matched
	// kinds do.
	effect deputy.Effect
}

// match returns the part of a grant that the rule matches; ok is false if nothing does.
func (m *grantMatch) match(c *scan, g preview.Grant) (shape, bool) {
	if m.clusterOnly && g.Scope != preview.ScopeCluster || m.unlike != nil && m.unlike(c, g) {
		return shape{}, false
	}
	part, ok := shape{}, false
	if m.custom != nil {
		part, ok = m.custom(c, g)
	}
	for _, s := range m.shapes {
		if p, hit := s.cut(g); hit {
			part, ok = part.join(p), true
		}
	}
	return part, ok
}

// cut returns the part of a grant that the shape matches; ok is false if nothing does.
// Verbs that take no effect with resourceNames, such as create, do not count.
func (s shape) cut(g preview.Grant) (shape, bool) {
	part := shape{}
	if s.cluster && g.Scope == preview.ScopeNamespace {
		return part, false
	}
	for _, group := range g.APIGroups {
		if group == all || s.groups == nil || slices.Contains(s.groups, group) {
			part.groups = append(part.groups, group)
		}
	}
	if len(part.groups) == 0 {
		return part, false
	}
	for _, resource := range g.Resources {
		if slices.ContainsFunc(s.resources, func(want string) bool { return sameResource(resource, want) }) {
			part.resources = append(part.resources, resource)
		}
	}
	if len(part.resources) == 0 {
		return part, false
	}
	usable := usableVerbs(s.verbs, g, part.resources)
	for _, verb := range g.Verbs {
		if verb == all && len(usable) > 0 || slices.Contains(usable, verb) {
			part.verbs = append(part.verbs, verb)
		}
		if verb == all {
			part.special = slices.DeleteFunc(slices.Clone(usable), func(v string) bool { return slices.Contains(plainVerbs, v) })
		}
	}
	return part, len(part.verbs) > 0
}

// plainVerbs are the verbs of anyVerb, which a reader of a role expects "*" to include.
var plainVerbs = strings.Fields(anyVerb)

// sameResource reports whether the resource of a grant, which may be a wildcard,
// includes the wanted one, which may be "*/SUB".
func sameResource(have, want string) bool {
	if have == want || have == all {
		return true
	}
	_, sub, isSub := strings.Cut(want, "/")
	if !isSub {
		return false
	}
	return have == "*/"+sub || strings.HasPrefix(want, "*/") && strings.HasSuffix(have, "/"+sub)
}

func (s shape) join(o shape) shape {
	union := func(a, b []string) []string {
		list := slices.Concat(a, b)
		slices.Sort(list)
		return slices.Compact(list)
	}
	return shape{
		groups: union(s.groups, o.groups), resources: union(s.resources, o.resources), verbs: union(s.verbs, o.verbs),
		special: union(s.special, o.special),
	}
}

// has reports whether the shape includes a resource, by name or by a wildcard.
func (s shape) has(resource string) bool {
	return slices.ContainsFunc(s.resources, func(have string) bool { return sameResource(have, resource) })
}

// match is one rule that one grant meets, with the part of the grant that does and the
// level.
type match struct {
	rule  entry
	grant preview.Grant
	part  shape
	level Level
	leads string // what the subject can reach with its other rights too
	moved bool   // the plan changes one of the rights that lead to it
}

// judgeGrants matches every grant with every rule, leaves out matches that a more
// specific rule covers, raises levels for rights that are worse together, and makes one
// finding for each rule and role.
func (c *scan) judgeGrants() {
	grants := c.plan.Access.Grants
	held := c.held
	var matches []match
	for i := range grants {
		grants[i].Rules = []string{}
		if grants[i].Change == preview.GrantRemoved {
			continue
		}
		for _, m := range c.matchGrant(grants[i]) {
			grants[i].Rules = append(grants[i].Rules, m.rule.Name)
			matches = append(matches, m)
		}
		slices.Sort(grants[i].Rules)
	}
	c.gains.note(matches)
	matches = c.gains.ownOrders(matches)
	combine(matches, held, c.gains.powers, c.tokenSecrets())
	c.raiseByAmount(matches)
	for _, m := range matches {
		if c.judgedByBinding(m.grant) && m.grant.Scope == preview.ScopeCluster {
			c.critical[m.grant.Subject] = c.critical[m.grant.Subject] || m.level == Critical
		}
		if c.judgedByBinding(m.grant) || m.rule.Name != rules.RBACEverything.Name && held.admin(m.grant) {
			continue
		}
		c.critical[m.grant.Subject] = c.critical[m.grant.Subject] || m.level == Critical
		c.hit(m.rule.Rule, ruleHit{
			object: c.roleID(m.grant), claim: m.claim(), cases: c.grantCases(m),
			evidence: slices.Concat([]preview.Piece{rightPiece(m.grant, m.part)}, held.extraEvidence(m), words.Saw(c.kinds.deputyLines(m)...), words.Saw(m.leadsTo()...)),
			severity: m.unknown(), subjects: []preview.Subject{m.grant.Subject},
			level: m.level, narrow: m.grant.Scope != preview.ScopeCluster, known: isUnchanged(m.grant), held: m.grant.Change == preview.GrantSame && !m.moved && !c.kinds.actorMoved(m.grant),
		})
	}
}

// leadsTo returns what all rights of the subject together lead
// to; none if leads is empty.
func (m match) leadsTo() []preview.Seen {
	if m.leads == "" {
		return nil
	}
	return []preview.Seen{words.AsAResult.Of(subjectName(m.grant.Subject), m.leads)}
}

// unknown returns severity NotKnown for rules about what could not be judged, else "".
func (m match) unknown() preview.Severity {
	if m.rule.Level == rules.NotKnown {
		return preview.NotKnown
	}
	return ""
}

func isUnchanged(g preview.Grant) bool {
	return g.Change == preview.GrantSame || g.Change == preview.GrantNarrowed
}

func (c *scan) matchGrant(g preview.Grant) []match {
	var out []match
	covered := map[string]bool{}
	for _, rule := range c.rules {
		if rule.grant == nil || covered[rule.Name] {
			continue
		}
		part, ok := rule.grant.match(c, g)
		if !ok || !c.held.reachAll(g, rule.grant.with) {
			continue
		}
		level := rule.Level
		if rule.grant.level != nil {
			level = rule.grant.level(c, g, part)
		}
		for _, name := range rule.grant.covers {
			covered[name] = true
		}
		found := match{rule: rule, grant: g, part: part, level: c.modify(rule, g, part, level)}
		if rule.grant.wins && level == Critical {
			return []match{found}
		}
		out = append(out, found)
	}
	return slices.DeleteFunc(out, func(m match) bool { return covered[m.rule.Name] })
}

// modify returns the level of a match: one less for resourceNames, mostly one less in a
// namespace (see inNamespace), and one more for a group or the account default.
func (c *scan) modify(rule entry, g preview.Grant, part shape, level Level) Level {
	if rule.Level == rules.NotKnown {
		return level
	}
	if restricted(g, part) && (rule.grant.fixed == nil || !rule.grant.fixed(c, g)) {
		level = level.Lower()
	}
	if g.Scope == preview.ScopeNamespace {
		level = c.namespaces.lower(g.Namespace, level)
	}
	if wide(g.Subject) {
		level = level.Raise()
	}
	return level
}

// wide reports whether a subject stands for more than one workload: a group, or the
// account default, which pods get that name no other.
func wide(s preview.Subject) bool {
	return s.Kind == preview.SubjectGroup || s.Kind == preview.SubjectServiceAccount && s.Name == "default"
}

// roleID returns the id of the object that a grant's findings are about: the first role
// in Via that the plan has, else the first binding that it has, as that is what a
// reviewer can remove; else the first role.
func (c *scan) roleID(g preview.Grant) string {
	for first := range min(2, len(g.Via)) {
		for i := first; i < len(g.Via); i += 2 {
			if id := access.ViaRef(g.Via[i]).ID(); c.objects[id] != nil {
				return id
			}
		}
	}
	via := append(slices.Clone(g.Via), "ClusterRole/unknown")
	return access.ViaRef(via[0]).ID()
}

// claim returns the subject of a match and where its right holds, which says nothing for
// cluster-scoped resources. It has no role, as generated names of roles say nothing.
func (m match) claim() preview.Claim {
	claim := preview.Claim{Subject: m.grant.Subject.Kind + " " + m.grant.Subject.Name}
	if !m.rule.grant.clusterOnly && (!m.rule.grant.anywhere || m.grant.Scope != preview.ScopeCluster) {
		claim.Scope, claim.Namespace = m.grant.Scope, m.grant.Namespace
	}
	return claim
}

// grantCases returns the indexes of the cases of a rule that a match is about, and
// noCase for what none is about; nil for rules without cases.
func (c *scan) grantCases(m match) map[int]bool {
	if len(m.rule.Cases) == 0 {
		return nil
	}
	items := m.part.resources
	if m.rule.grant.items != nil {
		items = m.rule.grant.items(c, m.grant, m.part)
	}
	found := map[int]bool{}
	for _, item := range items {
		known := false
		for at, of := range m.rule.Cases {
			if slices.ContainsFunc(strings.Fields(of.For), func(word string) bool { return sameResource(item, word) }) {
				found[at], known = true, true
			}
		}
		if !known {
			found[noCase] = true
		}
	}
	return found
}

// noCase is the index for evidence that none of a rule's cases is about.
const noCase = -1

// subjectName returns a subject as evidence has it: "ServiceAccount NAMESPACE/NAME".
func subjectName(s preview.Subject) string { return words.Subject(s) }

// rightPiece returns the matched part of a grant as a piece of evidence. Names of roles are
// left out, as they may be generated.
func rightPiece(g preview.Grant, part shape) preview.Piece {
	right := matchedRight(g, part)
	return preview.Piece{Subject: &g.Subject, Scope: g.Scope, Namespace: g.Namespace, Right: &right}
}

func matchedRight(g preview.Grant, part shape) preview.MatchedRight {
	right := preview.MatchedRight{Verbs: part.verbs, Special: part.special, ResourceNames: g.ResourceNames}
	if len(part.resources) > 0 {
		right.Resources, right.APIGroups = part.resources, part.groups
	} else {
		right.NonResourceURLs = g.NonResourceURLs
	}
	return right
}

// permission returns the matched part of a grant in the words of kubectl, without subject
// and scope.
func permission(g preview.Grant, part shape) string { return words.Right(matchedRight(g, part)) }
