package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
)

// The rules that combinations name.
const (
	ruleSecretsRead = "rbac-secrets-read"
	ruleTokens      = "rbac-tokens-create"
	ruleWorkloads   = "rbac-workloads-write"
)

const listNames = "Restrict the rule by resourceNames, or bind it in the namespaces that need it."

func secretRules() []entry {
	return []entry{
		{Rule: Rule{
			ruleSecretsRead, "RBAC-10", Critical, "reads Secrets",
			"Secrets hold tokens, passwords and private keys; list and watch return their content too.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "secrets", read)}}},
		{Rule: Rule{
			"rbac-secrets-write", "RBAC-11", Critical, "writes Secrets",
			"Whoever writes and reads Secrets can have a token made for any ServiceAccount; writing alone replaces credentials.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "secrets", write)}, level: secretsWritten}},
		{Rule: Rule{
			"rbac-pods-log", "RBAC-17", Low, "reads the logs of pods", "Logs may hold secrets.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "pods/log", "get list")}}},
		{Rule: Rule{
			ruleTokens, "RBAC-18", Critical, "obtains tokens of ServiceAccounts",
			"A token of an account gives every right of that account.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "serviceaccounts/token", "create")}}},
		{Rule: Rule{
			"rbac-serviceaccounts-write", "RBAC-19", Medium, "writes ServiceAccounts",
			"An annotation on a ServiceAccount can bind it to a cloud identity.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "serviceaccounts", write)}}},
		{Rule: Rule{
			"rbac-configmaps-system", "RBAC-66", Critical, "writes ConfigMaps of kube-system",
			"They configure authentication (aws-auth), DNS and the control plane.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "configmaps", write)}, unlike: outside("kube-system")}},
		{Rule: Rule{
			"rbac-configmaps-write", "RBAC-67", High, "writes ConfigMaps",
			"ConfigMaps configure every workload, those of the control plane too.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "configmaps", write)}, unlike: namespaced}},
		{Rule: Rule{
			"cloud-credentials-requested", "RBAC-80", High, "writes CredentialsRequests",
			"The operator asks for cloud permissions at run time; which ones does not stand in what is reviewed here.",
			"Read the operator's documentation for the request it makes, and provide the credentials by hand.",
		}, grant: &grantMatch{shapes: []shape{on("cloudcredential.openshift.io", "credentialsrequests", write)}}},
		{Rule: Rule{
			"rbac-cloud-iam-write", "RBAC-80", High, "writes objects that grant cloud permissions",
			"Through them it can grant whatever the controller behind them may.", listNames,
		}, grant: &grantMatch{custom: cloudIAM}},
		{Rule: Rule{
			"rbac-secret-sources-write", "RBAC-82", High, "writes objects that produce Secrets",
			"External secrets, sealed secrets and certificates obtain or replace credentials.", listNames,
		}, grant: &grantMatch{unlike: onlyOwn, shapes: []shape{
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
