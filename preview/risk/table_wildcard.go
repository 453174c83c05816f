package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// ruleEverything is named where an unlimited grant silences lesser findings.
const ruleEverything = "rbac-everything"

const (
	anyVerb  = "get list watch create update patch delete deletecollection"
	read     = "get list watch"
	write    = "create update patch"
	writeAny = "create update patch delete"
)

// takeoverGroups are the API groups whose every resource amounts to control of
// workloads or permissions.
var takeoverGroups = []string{all, "", "apps", "rbac.authorization.k8s.io"}

func wildcardRules() []entry {
	return []entry{
		{Rule: Rule{
			ruleEverything, "RBAC-01", Critical, "may do everything",
			"Verbs, resources and groups are all wildcards: this equals cluster-admin, for types to come as well.",
			"Ask the publisher to list the resources and verbs the operator needs.",
		}, grant: &grantMatch{wins: true, fixed: always, custom: func(_ *scan, g preview.Grant) (shape, bool) {
			return shape{g.APIGroups, g.Resources, g.Verbs}, unlimited(g)
		}}},
		{Rule: Rule{
			"rbac-group-wildcard", "RBAC-02", Critical, "may do everything with an API group",
			"Every verb on every resource of the group includes sub-resources and special verbs such as escalate.",
			"List the resources and verbs the operator needs.",
		}, grant: &grantMatch{wins: true, covers: lesser, level: groupLevel, custom: func(_ *scan, g preview.Grant) (shape, bool) {
			return shape{g.APIGroups, []string{all}, []string{all}}, slices.Contains(g.Resources, all) && slices.Contains(g.Verbs, all)
		}}},
		{Rule: Rule{
			"rbac-write-all-resources", "RBAC-04", Critical, "may write every resource",
			"Writing any resource leads to every right there is, and to everything being destroyed.",
			"List the resources the operator writes.",
		}, grant: &grantMatch{wins: true, custom: everyCoreResource(writeAny)}},
		{Rule: Rule{
			"rbac-read-all-resources", "RBAC-03", Critical, "may read every resource",
			"Every resource includes every Secret: tokens, passwords and private keys.",
			"List the resources the operator reads, without secrets.",
		}, grant: &grantMatch{wins: true, custom: everyCoreResource(read)}},
		{Rule: Rule{
			"rbac-all-verbs", "RBAC-05", Medium, "has every verb on a resource",
			"The wildcard includes verbs that were hardly meant, such as deletecollection, and verbs to come.",
			"List the verbs the operator needs.",
		}, grant: &grantMatch{
			unlike: func(c *scan, g preview.Grant) bool { return c.onlyOurs(g) || slices.Contains(g.Resources, all) },
			custom: func(_ *scan, g preview.Grant) (shape, bool) {
				return shape{g.APIGroups, g.Resources, []string{all}}, slices.Contains(g.Verbs, all) && len(g.Resources) > 0
			},
		}},
		{Rule: Rule{
			"rbac-all-urls", "RBAC-06", Medium, "may reach every non-resource URL",
			"Metrics, logs and debug endpoints of the API server become readable.",
			"List the URLs, such as /metrics.",
		}, grant: &grantMatch{clusterOnly: true, custom: func(_ *scan, g preview.Grant) (shape, bool) {
			return shape{verbs: g.Verbs}, slices.Contains(g.NonResourceURLs, all)
		}}},
		{Rule: Rule{
			"rbac-deletecollection", "RBAC-79", Medium, "may delete whole collections",
			"One request deletes every object of a kind in a namespace.",
			"Grant delete instead.",
		}, grant: &grantMatch{
			unlike: func(c *scan, g preview.Grant) bool {
				return c.onlyOurs(g) || slices.Contains(g.Verbs, all) || len(g.ResourceNames) > 0
			},
			custom: func(_ *scan, g preview.Grant) (shape, bool) {
				verb := []string{"deletecollection"}
				return shape{g.APIGroups, g.Resources, verb}, slices.Contains(g.Verbs, verb[0]) && len(g.Resources) > 0
			},
		}},
		{Rule: Rule{
			"rbac-dead-rule", "", Notice, "has a rule without effect",
			"Cluster-scoped resources and URLs cannot be granted in a namespace: either the rule or its scope is a mistake.",
			"Remove the rule.",
		}, grant: &grantMatch{custom: deadRule}},
	}
}

// lesser are the rules that a wildcard of any kind says more than.
var lesser = []string{"rbac-all-verbs", "rbac-deletecollection"}

func always(preview.Grant) bool { return true }

func groupLevel(c *scan, g preview.Grant, _ shape) Level {
	if slices.ContainsFunc(g.APIGroups, func(group string) bool { return slices.Contains(takeoverGroups, group) }) {
		return Critical
	}
	if c.onlyOurs(g) {
		return Low
	}
	return High
}

// everyCoreResource matches a wildcard over the resources of the core group.
func everyCoreResource(verbs string) func(*scan, preview.Grant) (shape, bool) {
	s := on("core", "secrets", verbs)
	return func(_ *scan, g preview.Grant) (shape, bool) {
		if !slices.Contains(g.Resources, all) {
			return shape{}, false
		}
		part, ok := s.cut(g)
		part.verbs = g.Verbs
		return part, ok
	}
}

// clusterScoped are resources that no RoleBinding reaches.
var clusterScoped = []string{
	"nodes", "persistentvolumes", "clusterroles", "clusterrolebindings", "customresourcedefinitions", "apiservices",
	"validatingwebhookconfigurations", "mutatingwebhookconfigurations", "certificatesigningrequests", "storageclasses",
	"csidrivers", "csinodes", "volumeattachments", "priorityclasses", "runtimeclasses", "flowschemas",
	"prioritylevelconfigurations", "ingressclasses", "tokenreviews", "subjectaccessreviews",
	"clustertrustbundles",
}

func deadRule(_ *scan, g preview.Grant) (shape, bool) {
	if g.Scope != preview.ScopeNamespace {
		return shape{}, false
	}
	for _, resource := range g.Resources {
		if !slices.Contains(clusterScoped, resource) {
			return shape{}, false
		}
	}
	return shape{g.APIGroups, g.Resources, g.Verbs}, true
}
