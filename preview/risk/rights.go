package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// rightRules returns the rules whose shapes are rows of package right, and the one
// about rights that have no row at all.
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
		entry{Rule: rules.RBACURLs, grant: &grantMatch{clusterOnly: true, custom: urlsCut, level: urlsLevel}},
		entry{Rule: rules.RBACNotJudged, grant: &grantMatch{anywhere: true, custom: notJudged}},
	)
}

// shapeOf returns the rights of a row.
func shapeOf(r right.Row) shape {
	return shape{groups: r.Groups, resources: r.Resources, verbs: r.Verbs, cluster: r.Cluster}
}

// rowsLevel returns the highest level of the rows that are about a grant.
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

// ownOnly reports whether a grant stays in a namespace of the release that holds
// no accounts of others.
func (c *scan) ownOnly(g preview.Grant) bool {
	return g.Scope == preview.ScopeNamespace && slices.Contains(c.around.own, g.Namespace) && !slices.Contains(sharedNamespaces, g.Namespace)
}

// writesToo leaves out rights to delete what the same rule lets a subject write:
// the rules about writing say more.
func writesToo(_ *scan, g preview.Grant) bool {
	return len(g.ResourceNames) == 0 && slices.ContainsFunc(g.Verbs, func(verb string) bool {
		return verb == all || verb == "create" || verb == "update" || verb == "patch"
	})
}

const onBehalf = "impersonate-on:"

// impersonatesOn matches the second half of constrained impersonation: the verbs
// that an impersonated identity is used for, on any resource.
func impersonatesOn(_ *scan, g preview.Grant) (shape, bool) {
	verbs := slices.DeleteFunc(slices.Clone(g.Verbs), func(verb string) bool { return !strings.HasPrefix(verb, onBehalf) })
	return shape{groups: g.APIGroups, resources: g.Resources, verbs: verbs}, len(verbs) > 0
}

// urlsCut matches paths of the API server that are judged.
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

// everyURL reports whether a path of a rule stands for all paths.
func everyURL(path string) bool { return path == all || path == "/*" }

// pathsMeet reports whether there is a path that both match; each is a beginning
// where it ends in "*".
func pathsMeet(a, b string) bool {
	shortA, manyA := strings.CutSuffix(a, all)
	shortB, manyB := strings.CutSuffix(b, all)
	shortB = strings.TrimSuffix(shortB, "/")
	return shortA == shortB || manyA && strings.HasPrefix(shortB, shortA) || manyB && strings.HasPrefix(shortA, shortB)
}

// notJudged matches what of a grant on groups of Kubernetes no row is about: a verb,
// a resource or a path that is not known. A test holds that all known ones have rows.
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
	part.verbs = g.Verbs
	return part, len(part.resources) > 0
}

func knownURL(path string) bool {
	return slices.ContainsFunc(right.URLs(), func(row right.URL) bool { return pathsMeet(path, row.Path) })
}
