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
		{Rule: rules.RBACConfigMapsWrite, grant: &grantMatch{shapes: []shape{newShape("core", "configmaps", write)}, unlike: isNamespaced}},
	}
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

// isNamespaced reports whether a grant is for one namespace, for rules that
// leave such out.
func isNamespaced(_ *scan, g preview.Grant) bool { return g.Scope == preview.ScopeNamespace }

// exceptOwn leaves out grants on the plan's own custom resources.
func exceptOwn(c *scan, g preview.Grant) bool { return c.onlyOurs(g) }
