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
		entry{Rule: rules.RBACTokenAudiences, grant: &grantMatch{custom: tokenAudiences, items: verbsAmong(signerVerb)}},
		entry{Rule: rules.RBACAttestedTokens, grant: &grantMatch{clusterOnly: true, shapes: []shape{newShape("authentication.k8s.io", "admissionReviewAPIGroups", "attest")}}},
		entry{Rule: rules.RBACUnsafeDelete, grant: &grantMatch{anywhere: true, custom: unsafeDeletes}},
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

// The verbs that the admission plugin NodeRestriction asks for when a node requests a
// token for an audience, or a certificate from a signer, that the pod does not name. The
// resource of the request is the audience or the signer, its name the name of the
// ServiceAccount.
const (
	audienceVerb = "request-serviceaccounts-token-audience"
	signerVerb   = "request-serviceaccounts-podcertificate-signer"
)

// tokenAudiences matches grants with audienceVerb and signerVerb, whatever their
// resources.
func tokenAudiences(_ *scan, g preview.Grant) (shape, bool) {
	part := shape{groups: g.APIGroups, resources: g.Resources}
	for group, verb := range map[string]string{"": audienceVerb, "certificates.k8s.io": signerVerb} {
		if slices.Contains(g.Verbs, verb) && (slices.Contains(g.APIGroups, group) || slices.Contains(g.APIGroups, all)) {
			part.verbs = append(part.verbs, verb)
		}
	}
	slices.Sort(part.verbs)
	return part, len(part.verbs) > 0
}

// unsafeDeletes matches grants that name the verb for deleting objects that
// cannot be read, whatever their resources. A wildcard over verbs is judged by others.
func unsafeDeletes(_ *scan, g preview.Grant) (shape, bool) {
	const verb = "unsafe-delete-ignore-read-errors"
	return shape{groups: g.APIGroups, resources: g.Resources, verbs: []string{verb}}, slices.Contains(g.Verbs, verb) && hasWhole(g.Resources)
}

// urlsCut matches grants on non-resource URLs that have a level in package right, such
// as /logs.
func urlsCut(_ *scan, g preview.Grant) (shape, bool) {
	return shape{verbs: g.Verbs}, right.LevelOfURLs(g.NonResourceURLs) > None
}

func urlsLevel(_ *scan, g preview.Grant, _ shape) Level { return right.LevelOfURLs(g.NonResourceURLs) }

// notJudged matches the part of a grant that no row is about: a verb, resource or URL
// that is not known, in an API group of Kubernetes. A test holds that all known ones
// have rows.
func notJudged(_ *scan, g preview.Grant) (shape, bool) {
	if len(g.NonResourceURLs) > 0 {
		unknown := slices.ContainsFunc(g.NonResourceURLs, func(path string) bool { return !right.EveryURL(path) && !right.KnowsURL(path) })
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
	part.verbs = slices.DeleteFunc(slices.Clone(g.Verbs), func(verb string) bool { return verb == audienceVerb || verb == signerVerb })
	return part, len(part.resources) > 0 && len(part.verbs) > 0
}
