package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wellknown"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func secretRules() []entry {
	return []entry{
		{Rule: rules.RBACSecretsRead, grant: &grantMatch{shapes: []shape{newShape("core", "secrets", read)}}},
		{Rule: rules.RBACSecretsWrite, grant: &grantMatch{shapes: []shape{newShape("core", "secrets", write)}, level: secretsWritten}},
		{Rule: rules.RBACPodsLog, grant: &grantMatch{shapes: []shape{newShape("core", "pods/log", "get list")}}},
		{Rule: rules.RBACTokensCreate, grant: &grantMatch{shapes: []shape{newShape("core", "serviceaccounts/token", "create")}}},
		{Rule: rules.RBACServiceAccountsWrite, grant: &grantMatch{shapes: []shape{newShape("core", "serviceaccounts", write)}}},
		{Rule: rules.RBACConfigMapsSystem, grant: &grantMatch{shapes: []shape{newShape("core", "configmaps", write)}, unlike: outsideNamespaces("kube-system")}},
		{Rule: rules.RBACConfigMapsWrite, grant: &grantMatch{shapes: []shape{newShape("core", "configmaps", write)}, level: configMapsWritten, unlike: func(c *scan, g preview.Grant) bool {
			return c.ownOnly(g) || g.Namespace == "kube-system"
		}}},
	}
}

// configMapsWritten is Critical for grants that name ConfigMaps which configure the
// cluster itself, such as aws-auth, or a system that is cluster-admin, and for those on
// all of a namespace with such a ConfigMap; else High.
func configMapsWritten(_ *scan, g preview.Grant, part shape) Level {
	if _, decisive := wellknown.Decisive("ConfigMap", g.Namespace, g.ResourceNames); decisive && g.Scope == preview.ScopeNamespace {
		return Critical
	}
	if g.Scope == preview.ScopeCluster && slices.ContainsFunc(g.ResourceNames, func(name string) bool { return isDangerous(g, part, name) }) {
		return Critical
	}
	return High
}

// secretsWritten is Critical for subjects that can also read Secrets in the same scope,
// and for grants that name Secrets which decide who controls the cluster or a system that
// is cluster-admin; else High.
func secretsWritten(c *scan, g preview.Grant, _ shape) Level {
	if c.held.readsSecrets(g) || slices.ContainsFunc(g.ResourceNames, func(name string) bool {
		return right.DangerousName("secrets", name) || wellknown.Named(preview.KindSecret, g.Namespace, name)
	}) {
		return Critical
	}
	return High
}

// outsideNamespaces returns a function for [grantMatch.unlike] that leaves out grants
// which are not limited to one of the namespaces.
func outsideNamespaces(namespaces ...string) func(*scan, preview.Grant) bool {
	return func(_ *scan, g preview.Grant) bool {
		return g.Scope != preview.ScopeNamespace || !slices.Contains(namespaces, g.Namespace)
	}
}

// exceptOwn reports whether all resources of a grant are defined by CRDs in the plan.
// Such grants do not match.
func exceptOwn(c *scan, g preview.Grant) bool { return c.kinds.onlyOurs(g) }
