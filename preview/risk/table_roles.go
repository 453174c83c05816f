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
			shapes: []shape{newShape(rbac, "roles clusterroles", "escalate")},
			fixed:  namesAdmin, covers: []string{rules.RBACBind.Name, rules.RBACRolesWrite.Name},
		}},
		{Rule: rules.RBACBind, grant: &grantMatch{shapes: []shape{newShape(rbac, "roles clusterroles", "bind")}, fixed: namesAdmin}},
		{Rule: rules.RBACRolesWrite, grant: &grantMatch{shapes: []shape{newShape(rbac, "roles clusterroles", write)}}},
		{Rule: rules.RBACBindingsWrite, grant: &grantMatch{shapes: []shape{newShape(rbac, "rolebindings clusterrolebindings", write)}}},
		{Rule: rules.RBACImpersonate, grant: &grantMatch{
			shapes: []shape{newShape("core authentication.k8s.io", "users groups serviceaccounts uids", "impersonate"), newShape("authentication.k8s.io", "userextras userextras/scopes */scopes", "impersonate")},
			fixed:  func(g preview.Grant) bool { return slices.Contains(g.ResourceNames, "system:masters") },
			// Users and groups have no namespace; accounts do.
			unlike: func(_ *scan, g preview.Grant) bool {
				return g.Scope == preview.ScopeNamespace && !slices.Contains(g.Resources, "serviceaccounts")
			},
		}},
		{Rule: rules.RBACApproveCertificates, grant: &grantMatch{
			clusterOnly: true, shapes: []shape{newShape("certificates.k8s.io", "signers", "approve")}, unlike: otherSigner, fixed: matchAlways,
			with: []shape{
				newShape("certificates.k8s.io", "certificatesigningrequests", "create"),
				newShape("certificates.k8s.io", "certificatesigningrequests/approval", "update patch"),
			},
		}},
		{Rule: rules.RBACSignCertificates, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			newShape("certificates.k8s.io", "signers", "sign"), newShape("certificates.k8s.io", "certificatesigningrequests/status", "update patch"),
		}}},
		{Rule: rules.RBACTrustBundles, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			newShape("certificates.k8s.io", "clustertrustbundles", "create update patch"), newShape("certificates.k8s.io", "signers", "attest"),
		}}},
		{Rule: rules.RBACReviews, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			newShape("authentication.k8s.io", "tokenreviews", "create"), newShape("authorization.k8s.io", "subjectaccessreviews", "create"),
		}}},
	}
}

// namesAdmin: a rule restricted to cluster-admin is not restricted at all.
func namesAdmin(g preview.Grant) bool { return slices.Contains(g.ResourceNames, "cluster-admin") }

// otherSigner leaves out signers whose certificates the API server does not accept
// as a login.
func otherSigner(_ *scan, g preview.Grant) bool {
	if len(g.ResourceNames) == 0 {
		return false
	}
	return !slices.ContainsFunc(g.ResourceNames, func(name string) bool {
		return name == "kubernetes.io/*" || name == "kubernetes.io/kube-apiserver-client" || name == "kubernetes.io/kube-apiserver-client-kubelet"
	})
}
