package orders

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// issuerFields are the fields in which kinds of cloud operators name the server whose
// tokens an identity of the cloud accepts.
var issuerFields = map[preview.GroupKind][]string{
	"managedidentity.azure.com/FederatedIdentityCredential":        {"spec", "issuer"},
	"managedidentity.azure.upbound.io/FederatedIdentityCredential": {"spec", "forProvider", "issuer"},
	"iam.services.k8s.aws/OpenIDConnectProvider":                   {"spec", "url"},
	"iam.aws.crossplane.io/OpenIDConnectProvider":                  {"spec", "forProvider", "url"},
	"iam.aws.upbound.io/OpenIDConnectProvider":                     {"spec", "forProvider", "url"},
	"iam.aws.m.upbound.io/OpenIDConnectProvider":                   {"spec", "forProvider", "url"},
	"iam.cnrm.cloud.google.com/IAMWorkloadIdentityPoolProvider":    {"spec", "oidc", "issuerUri"},
	"iam.cnrm.cloud.google.com/IAMWorkforcePoolProvider":           {"spec", "oidc", "issuerUri"},
	"iam.gcp.upbound.io/WorkloadIdentityPoolProvider":              {"spec", "forProvider", "oidc", "issuerUri"},
}

// clusterIssuers are in the addresses of the issuers of managed clusters (AKS, EKS, GKE).
var clusterIssuers = []string{"prod-aks.azure.com/", "://oidc.eks.", "://container.googleapis.com/"}

// Opens returns the level of an object by what its fields open that others of its kind
// leave closed, and why; None if they open nothing.
func Opens(kind preview.GroupKind, body map[string]any) (rules.Level, preview.Seen) {
	switch issuer := issuerOf(kind, body); {
	case issuer != "" && !slices.ContainsFunc(clusterIssuers, func(part string) bool { return strings.Contains(issuer, part) }):
		return rules.Critical, words.TokensAct.Of(fmt.Sprintf("%.200q", issuer))
	case kind == "console.openshift.io/ConsolePlugin" && passesTokens(body):
		return rules.Critical, words.ServerReceivesTokens.Of()
	case kind == "nfd.k8s-sigs.io/NodeFeatureRule" || kind == "nfd.openshift.io/NodeFeatureRule":
		for _, rule := range preview.Maps(body, "spec", "rules") {
			if len(preview.List(rule, "taints")) > 0 {
				return rules.Medium, words.TaintsKeepOff.Of()
			}
		}
	}
	return rules.None, preview.Seen{}
}

// issuerOf returns the issuer that an object makes a cloud identity trust; empty if it
// names none.
func issuerOf(kind preview.GroupKind, body map[string]any) string {
	path := issuerFields[kind]
	if path == nil {
		return ""
	}
	return preview.String(preview.Map(body, path[:len(path)-1]...), path[len(path)-1])
}

// passesTokens reports whether a plugin of the OpenShift console has a proxy that sends
// the user's token to its server.
func passesTokens(body map[string]any) bool {
	for _, proxy := range preview.Maps(body, "spec", "proxy") {
		if preview.String(proxy, "authorization") == "UserToken" || preview.Value(proxy, "authorize") == true {
			return true
		}
	}
	return false
}

// FollowsImages reports whether a DeploymentConfig of OpenShift runs whatever image an
// ImageStreamTag gets.
func FollowsImages(kind preview.GroupKind, body map[string]any) bool {
	return kind == "apps.openshift.io/DeploymentConfig" && slices.ContainsFunc(preview.Maps(body, "spec", "triggers"), func(trigger map[string]any) bool {
		return preview.Value(trigger, "imageChangeParams", "automatic") == true
	})
}
