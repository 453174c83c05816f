package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func secretRules() []entry {
	return []entry{
		{Rule: rules.RBACSecretsRead, grant: &grantMatch{shapes: []shape{on("core", "secrets", read)}}},
		{Rule: rules.RBACSecretsWrite, grant: &grantMatch{shapes: []shape{on("core", "secrets", write)}, level: secretsWritten}},
		{Rule: rules.RBACPodsLog, grant: &grantMatch{shapes: []shape{on("core", "pods/log", "get list")}}},
		{Rule: rules.RBACTokensCreate, grant: &grantMatch{shapes: []shape{on("core", "serviceaccounts/token", "create")}}},
		{Rule: rules.RBACServiceAccountsWrite, grant: &grantMatch{shapes: []shape{on("core", "serviceaccounts", write)}}},
		{Rule: rules.RBACConfigMapsSystem, grant: &grantMatch{shapes: []shape{on("core", "configmaps", write)}, unlike: outside("kube-system")}},
		{Rule: rules.RBACConfigMapsWrite, grant: &grantMatch{shapes: []shape{on("core", "configmaps", write)}, unlike: namespaced}},
		{Rule: rules.CloudCredentialsRequested, grant: &grantMatch{shapes: []shape{on("cloudcredential.openshift.io", "credentialsrequests", write)}}},
		{Rule: rules.RBACCloudIAMWrite, grant: &grantMatch{custom: cloudIAM}},
		{Rule: rules.RBACSecretSourcesWrite, grant: &grantMatch{unlike: onlyOwn, shapes: []shape{
			on("external-secrets.io", "externalsecrets clusterexternalsecrets secretstores clustersecretstores pushsecrets", write),
			on("bitnami.com", "sealedsecrets", write),
			on("cert-manager.io", "certificates certificaterequests issuers clusterissuers", write),
		}}},
	}
}

// secretsWritten is Critical when the subject can read what it wrote.
func secretsWritten(c *scan, g preview.Grant, _ shape) Level {
	if c.held.readsSecrets(g) {
		return Critical
	}
	return High
}

func cloudIAM(_ *scan, g preview.Grant) (shape, bool) {
	part := shape{}
	for _, group := range g.APIGroups {
		for _, resource := range g.Resources {
			if strings.Contains(resource, "/") {
				continue
			}
			if provider, ok := cloud.IAMResource(group, resource); ok && provider != cloud.Openshift {
				part.groups, part.resources = append(part.groups, group), append(part.resources, resource)
			}
		}
	}
	for _, verb := range g.Verbs {
		if verb == all || verb == "create" && len(g.ResourceNames) == 0 || verb == "update" || verb == "patch" {
			part.verbs = append(part.verbs, verb)
		}
	}
	return part.join(shape{}), len(part.groups) > 0 && len(part.verbs) > 0
}

// outside leaves out grants that do not stay in one of the namespaces.
func outside(namespaces ...string) func(*scan, preview.Grant) bool {
	return func(_ *scan, g preview.Grant) bool {
		return g.Scope != preview.ScopeNamespace || !slices.Contains(namespaces, g.Namespace)
	}
}

// namespaced leaves out grants in a namespace.
func namespaced(_ *scan, g preview.Grant) bool { return g.Scope == preview.ScopeNamespace }

// onlyOwn leaves out grants on the plan's own custom resources.
func onlyOwn(c *scan, g preview.Grant) bool { return c.onlyOurs(g) }
