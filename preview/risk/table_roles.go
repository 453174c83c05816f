package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

const rbac = "rbac.authorization.k8s.io"

func roleRules() []entry {
	return []entry{
		{Rule: rules.RBACEscalate, grant: &grantMatch{
			shapes: []shape{newShape(rbac, "roles clusterroles", "escalate")},
			// Any role can be given any rule: its name restricts nothing.
			fixed: matchAlways, covers: []string{rules.RBACBind.Name, rules.RBACRolesWrite.Name},
		}},
		{Rule: rules.RBACBind, grant: &grantMatch{shapes: []shape{newShape(rbac, "roles clusterroles", "bind")}, level: roleBound, fixed: matchAlways}},
		{Rule: rules.RBACRolesWrite, grant: &grantMatch{shapes: []shape{newShape(rbac, "roles clusterroles", write)}}},
		{Rule: rules.RBACBindingsWrite, grant: &grantMatch{shapes: []shape{newShape(rbac, "rolebindings clusterrolebindings", write)}}},
		{Rule: rules.RBACImpersonate, grant: &grantMatch{
			shapes: []shape{
				newShape("core authentication.k8s.io", "users groups serviceaccounts uids", "impersonate"),
				newShape("authentication.k8s.io", "userextras userextras/scopes */scopes", "impersonate impersonate:user-info"),
				newShape("authentication.k8s.io", "users groups uids", "impersonate:user-info"),
				newShape("authentication.k8s.io", "serviceaccounts", "impersonate:serviceaccount"),
				newShape("authentication.k8s.io", "nodes", "impersonate:arbitrary-node impersonate:associated-node"),
			},
			fixed: func(_ *scan, g preview.Grant) bool { return slices.Contains(g.ResourceNames, "system:masters") },
			// Users, groups and nodes have no namespace; accounts do.
			unlike: func(_ *scan, g preview.Grant) bool {
				return g.Scope == preview.ScopeNamespace && !slices.ContainsFunc(g.Resources, func(r string) bool { return sameResource(r, "serviceaccounts") })
			},
		}},
		{Rule: rules.RBACApproveCertificates, grant: &grantMatch{
			clusterOnly: true, shapes: []shape{newShape("certificates.k8s.io", "signers", "approve")}, unlike: otherSigner, fixed: matchAlways,
			with: []shape{
				newShape("certificates.k8s.io", "certificatesigningrequests", "create"),
				newShape("certificates.k8s.io", "certificatesigningrequests/approval", "update patch"),
			},
		}},
		{Rule: rules.RBACSignCertificates, grant: &grantMatch{clusterOnly: true, level: certificatesSigned, fixed: matchAlways, shapes: []shape{
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

// otherSigner reports whether a grant names only signers whose certificates the API
// server does not accept as a login. Such grants do not match.
func otherSigner(_ *scan, g preview.Grant) bool {
	return !signerOfKubernetes(g)
}

// signerOfKubernetes reports whether a grant on signers includes one whose certificates
// the API server or kubelets accept (kubernetes.io/...).
func signerOfKubernetes(g preview.Grant) bool {
	return len(g.ResourceNames) == 0 || slices.ContainsFunc(g.ResourceNames, func(name string) bool { return strings.HasPrefix(name, "kubernetes.io/") })
}

// certificatesSigned is Critical for subjects that may sign for signers of Kubernetes,
// else Medium. The right to write the status of a CertificateSigningRequest takes
// effect only together with the right to sign.
func certificatesSigned(c *scan, g preview.Grant, part shape) Level {
	signs := part.has("signers") && signerOfKubernetes(g)
	if signs || part.has("certificatesigningrequests/status") && c.held.signers[g.Subject] {
		return Critical
	}
	return Medium
}
