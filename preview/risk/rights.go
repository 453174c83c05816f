package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// rightRules returns the rules whose shapes are the rows of package right, and the rule
// about rights that no row is about.
func rightRules() []entry {
	var out []entry
	for _, rule := range []rules.Rule{
		rules.RBACDelete, rules.RBACScale, rules.RBACDisruption, rules.RBACPodsBind, rules.RBACPodsResize, rules.RBACRevisionsWrite,
		rules.RBACDevicesWrite, rules.RBACAddressesWrite, rules.RBACStorageVersions, rules.RBACCertificatesApprove,
		rules.RBACNodesCheckpoint, rules.RBACSchedulingWrite, rules.RBACStatusWrite,
	} {
		rows := slices.DeleteFunc(slices.Clone(right.Rows()), func(r right.Row) bool { return r.Rule != rule.Name })
		m := &grantMatch{
			level:    rowsLevel(rows),
			anywhere: slices.ContainsFunc(rows, func(r right.Row) bool { return r.Cluster }),
		}
		for _, r := range rows {
			m.shapes = append(m.shapes, shapeOf(r))
		}
		if rule.Name == rules.RBACDelete.Name {
			m.unlike = writesToo
		}
		out = append(out, entry{Rule: rule, grant: m})
	}
	return append(out,
		entry{Rule: rules.RBACImpersonateOn, grant: &grantMatch{anywhere: true, custom: impersonatesOn}},
		entry{Rule: rules.RBACTokenAudiences, grant: &grantMatch{custom: tokenAudiences}},
		entry{Rule: rules.RBACURLs, grant: &grantMatch{clusterOnly: true, custom: urlsCut, level: urlsLevel}},
		entry{Rule: rules.RBACNotJudged, grant: &grantMatch{anywhere: true, custom: notJudged}},
	)
}

// shapeOf returns the shape that a row of package right describes.
func shapeOf(r right.Row) shape {
	return shape{groups: r.Groups, resources: r.Resources, verbs: r.Verbs, cluster: r.Cluster}
}

// rowsLevel returns a function for the level of a grant: the highest level of the rows
// that match it, which have a level of their own for grants in the release's own
// namespaces.
func rowsLevel(rows []right.Row) func(*scan, preview.Grant, shape) Level {
	return func(c *scan, g preview.Grant, _ shape) Level {
		level, own := Notice, c.ownOnly(g)
		for _, r := range rows {
			if _, hit := shapeOf(r).cut(g); hit && own {
				level = max(level, r.Own)
			} else if hit {
				level = max(level, r.Level)
			}
		}
		return level
	}
}

// ownOnly reports whether a grant is limited to one of the release's own namespaces,
// and that is none of sharedNamespaces.
func (c *scan) ownOnly(g preview.Grant) bool {
	return g.Scope == preview.ScopeNamespace && c.namespaces.owned(g.Namespace) && !slices.Contains(sharedNamespaces, g.Namespace)
}

// writesToo reports whether the same rule of a role also lets the subject write the
// resources, without resourceNames. Such grants are left out of the rule about
// deletion, as rules about writing say more.
func writesToo(_ *scan, g preview.Grant) bool {
	return len(g.ResourceNames) == 0 && slices.ContainsFunc(g.Verbs, func(verb string) bool {
		return verb == all || verb == "create" || verb == "update" || verb == "patch"
	})
}

const onBehalf = "impersonate-on:"

// impersonatesOn matches grants with verbs "impersonate-on:..." of constrained
// impersonation, which say what a subject may do as the identity that it impersonates.
func impersonatesOn(_ *scan, g preview.Grant) (shape, bool) {
	verbs := slices.DeleteFunc(slices.Clone(g.Verbs), func(verb string) bool { return !strings.HasPrefix(verb, onBehalf) })
	return shape{groups: g.APIGroups, resources: g.Resources, verbs: verbs}, len(verbs) > 0
}

// audienceVerb is the verb that the admission plugin NodeRestriction asks for when a
// node requests a token for an audience that the pod does not name. The resource of the
// request is the audience, its name that of the ServiceAccount.
const audienceVerb = "request-serviceaccounts-token-audience"

// tokenAudiences matches grants with audienceVerb, whatever their resources.
func tokenAudiences(_ *scan, g preview.Grant) (shape, bool) {
	core := slices.Contains(g.APIGroups, "") || slices.Contains(g.APIGroups, all)
	return shape{groups: g.APIGroups, resources: g.Resources, verbs: []string{audienceVerb}}, core && slices.Contains(g.Verbs, audienceVerb)
}

// urlsCut matches grants on non-resource URLs that have a level in package right, such
// as /logs.
func urlsCut(_ *scan, g preview.Grant) (shape, bool) {
	return shape{verbs: g.Verbs}, urlLevel(g) > None
}

func urlsLevel(_ *scan, g preview.Grant, _ shape) Level { return urlLevel(g) }

func urlLevel(g preview.Grant) Level {
	level := None
	for _, have := range g.NonResourceURLs {
		if everyURL(have) {
			return None // another rule says so
		}
		for _, row := range right.URLs() {
			if row.Rule != "" && pathsMeet(have, row.Path) {
				level = max(level, row.Level)
			}
		}
	}
	return level
}

// everyURL reports whether a non-resource URL of a role stands for all URLs.
func everyURL(path string) bool { return path == all || path == "/*" }

// pathsMeet reports whether some path matches both a and b. Either is a prefix if it
// ends in "*".
func pathsMeet(a, b string) bool {
	shortA, manyA := strings.CutSuffix(a, all)
	shortB, manyB := strings.CutSuffix(b, all)
	shortB = strings.TrimSuffix(shortB, "/")
	return shortA == shortB || manyA && strings.HasPrefix(shortB, shortA) || manyB && strings.HasPrefix(shortA, shortB)
}

// notJudged matches the part of a grant that no row is about: a verb, resource or URL
// that is not known, in an API group of Kubernetes. A test holds that all known ones
// have rows.
func notJudged(_ *scan, g preview.Grant) (shape, bool) {
	if len(g.NonResourceURLs) > 0 {
		unknown := slices.ContainsFunc(g.NonResourceURLs, func(path string) bool { return !everyURL(path) && !knownURL(path) })
		return shape{verbs: g.Verbs}, unknown
	}
	part := shape{groups: slices.DeleteFunc(slices.Clone(g.APIGroups), func(group string) bool { return group != all && !right.KnowsGroup(group) })}
	if len(part.groups) == 0 {
		return shape{}, false
	}
	for _, verb := range g.Verbs {
		if verb != all && !right.KnowsVerb(verb) && !strings.HasPrefix(verb, onBehalf) {
			part.verbs = append(part.verbs, verb)
		}
	}
	if len(part.verbs) > 0 {
		part.resources = g.Resources
		return part, len(g.Resources) > 0
	}
	if len(part.groups) < len(g.APIGroups) || slices.Contains(part.groups, all) {
		return shape{}, false // the resource may be one of the other groups
	}
	part.resources = slices.DeleteFunc(slices.Clone(g.Resources), right.KnowsResource)
	part.verbs = slices.DeleteFunc(slices.Clone(g.Verbs), func(verb string) bool { return verb == audienceVerb })
	return part, len(part.resources) > 0 && len(part.verbs) > 0
}

func knownURL(path string) bool {
	return slices.ContainsFunc(right.URLs(), func(row right.URL) bool { return pathsMeet(path, row.Path) })
}
