package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
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

// configMapsWritten is Critical where names are those of ConfigMaps that the cluster
// itself is configured by.
func configMapsWritten(_ *scan, g preview.Grant, part shape) Level {
	if g.Scope == preview.ScopeCluster && slices.ContainsFunc(g.ResourceNames, func(name string) bool { return isDangerous(g, part, name) }) {
		return Critical
	}
	return High
}

// secretsWritten raises the level to Critical when the subject can read what it
// wrote.
func secretsWritten(c *scan, g preview.Grant, _ shape) Level {
	if c.held.readsSecrets(g) {
		return Critical
	}
	return High
}

// outsideNamespaces leaves out grants that do not stay in one of the namespaces.
func outsideNamespaces(namespaces ...string) func(*scan, preview.Grant) bool {
	return func(_ *scan, g preview.Grant) bool {
		return g.Scope != preview.ScopeNamespace || !slices.Contains(namespaces, g.Namespace)
	}
}

// exceptOwn leaves out grants on the plan's own custom resources.
func exceptOwn(c *scan, g preview.Grant) bool { return c.onlyOurs(g) }
