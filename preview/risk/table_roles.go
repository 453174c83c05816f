package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

const rbac = "rbac.authorization.k8s.io"

func roleRules() []entry {
	return []entry{
		{Rule: rules.RBACEscalate, grant: &grantMatch{
			shapes: []shape{on(rbac, "roles clusterroles", "escalate")},
			fixed:  namesAdmin, covers: []string{rules.RBACBind.Name, rules.RBACRolesWrite.Name},
		}},
		{Rule: rules.RBACBind, grant: &grantMatch{shapes: []shape{on(rbac, "roles clusterroles", "bind")}, fixed: namesAdmin}},
		{Rule: rules.RBACRolesWrite, grant: &grantMatch{shapes: []shape{on(rbac, "roles clusterroles", write)}}},
		{Rule: rules.RBACBindingsWrite, grant: &grantMatch{shapes: []shape{on(rbac, "rolebindings clusterrolebindings", write)}}},
		{Rule: rules.RBACImpersonate, grant: &grantMatch{
			shapes: []shape{on("core authentication.k8s.io", "users groups serviceaccounts uids", "impersonate"), on("authentication.k8s.io", "userextras userextras/scopes */scopes", "impersonate")},
			fixed:  func(g preview.Grant) bool { return slices.Contains(g.ResourceNames, "system:masters") },
			// Users and groups have no namespace; accounts do.
			unlike: func(_ *scan, g preview.Grant) bool {
				return g.Scope == preview.ScopeNamespace && !slices.Contains(g.Resources, "serviceaccounts")
			},
		}},
		{Rule: rules.RBACApproveCertificates, grant: &grantMatch{
			clusterOnly: true, shapes: []shape{on("certificates.k8s.io", "signers", "approve")}, unlike: otherSigner, fixed: always,
			with: []shape{
				on("certificates.k8s.io", "certificatesigningrequests", "create"),
				on("certificates.k8s.io", "certificatesigningrequests/approval", "update patch"),
			},
		}},
		{Rule: rules.RBACSignCertificates, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			on("certificates.k8s.io", "signers", "sign"), on("certificates.k8s.io", "certificatesigningrequests/status", "update patch"),
		}}},
		{Rule: rules.RBACTrustBundles, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			on("certificates.k8s.io", "clustertrustbundles", "create update patch"), on("certificates.k8s.io", "signers", "attest"),
		}}},
		{Rule: rules.RBACInstallersWrite, grant: &grantMatch{unlike: onlyOwn, shapes: []shape{
			on("olm.operatorframework.io", "clusterextensions", write),
			on("operators.coreos.com", "subscriptions operatorgroups catalogsources installplans clusterserviceversions", write),
			on("argoproj.io", "applications applicationsets appprojects", write),
			on("kustomize.toolkit.fluxcd.io", "kustomizations", write),
			on("helm.toolkit.fluxcd.io", "helmreleases", write),
			on("tekton.dev", "pipelineruns taskruns", write),
			on("cluster.x-k8s.io", "machines machinesets machinedeployments", write),
			on("machine.openshift.io", "machines machinesets", write),
			on("pkg.crossplane.io", "providers configurations", write),
		}}},
		{Rule: rules.RBACReviews, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			on("authentication.k8s.io", "tokenreviews", "create"), on("authorization.k8s.io", "subjectaccessreviews", "create"),
		}}},
	}
}

// namesAdmin: a rule restricted to cluster-admin is not restricted at all.
func namesAdmin(g preview.Grant) bool { return slices.Contains(g.ResourceNames, "cluster-admin") }

// otherSigner leaves out approval of signers that make no client certificates
// for the API server.
func otherSigner(_ *scan, g preview.Grant) bool {
	if len(g.ResourceNames) == 0 {
		return false
	}
	return !slices.ContainsFunc(g.ResourceNames, func(name string) bool {
		return name == "kubernetes.io/*" || name == "kubernetes.io/kube-apiserver-client" || name == "kubernetes.io/kube-apiserver-client-kubelet"
	})
}
