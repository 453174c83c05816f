package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const rbac = "rbac.authorization.k8s.io"

func roleRules() []entry {
	return []entry{
		{Rule: Rule{
			"rbac-escalate", "RBAC-20", Critical, "writes roles with rights it does not hold",
			"The escalate verb lifts the check that nobody grants more than they have.", "Remove the verb escalate.",
		}, grant: &grantMatch{
			shapes: []shape{on(rbac, "roles clusterroles", "escalate")},
			fixed:  namesAdmin, covers: []string{"rbac-bind", "rbac-roles-write"},
		}},
		{Rule: Rule{
			"rbac-bind", "RBAC-21", Critical, "gives roles to anybody",
			"The bind verb lets it hand out roles whose rights it does not hold.", "Restrict bind to the roles needed, by resourceNames.",
		}, grant: &grantMatch{shapes: []shape{on(rbac, "roles clusterroles", "bind")}, fixed: namesAdmin}},
		{Rule: Rule{
			"rbac-roles-write", "RBAC-22", Medium, "writes roles",
			"It can pass on every right it holds or will hold.", listNames,
		}, grant: &grantMatch{shapes: []shape{on(rbac, "roles clusterroles", write)}}},
		{Rule: Rule{
			"rbac-bindings-write", "RBAC-23", High, "writes role bindings",
			"It can give its own rights to anybody.", listNames,
		}, grant: &grantMatch{shapes: []shape{on(rbac, "rolebindings clusterrolebindings", write)}}},
		{Rule: Rule{
			"rbac-impersonate", "RBAC-24", Critical, "acts as somebody else",
			"Whoever may impersonate has every right of those they act as.", "Restrict impersonate by resourceNames.",
		}, grant: &grantMatch{
			shapes: []shape{on("core authentication.k8s.io", "users groups serviceaccounts uids", "impersonate"), on("authentication.k8s.io", "userextras userextras/scopes */scopes", "impersonate")},
			fixed:  func(g preview.Grant) bool { return slices.Contains(g.ResourceNames, "system:masters") },
			// Users and groups have no namespace; accounts do.
			unlike: func(_ *scan, g preview.Grant) bool {
				return g.Scope == preview.ScopeNamespace && !slices.Contains(g.Resources, "serviceaccounts")
			},
		}},
		{Rule: Rule{
			"rbac-approve-certificates", "RBAC-40", Critical, "issues client certificates",
			"Creating and approving signing requests for the API server's client signer makes an administrator's certificate.",
			"Restrict approve to the signers needed.",
		}, grant: &grantMatch{
			clusterOnly: true, shapes: []shape{on("certificates.k8s.io", "signers", "approve")}, unlike: otherSigner, fixed: always,
			with: []shape{
				on("certificates.k8s.io", "certificatesigningrequests", "create"),
				on("certificates.k8s.io", "certificatesigningrequests/approval", "update patch"),
			},
		}},
		{Rule: Rule{
			"rbac-sign-certificates", "RBAC-41", Critical, "signs certificates",
			"It can answer signing requests in the place of the controller.", "Restrict sign to the signers needed.",
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			on("certificates.k8s.io", "signers", "sign"), on("certificates.k8s.io", "certificatesigningrequests/status", "update patch"),
		}}},
		{Rule: Rule{
			"rbac-trust-bundles", "RBAC-42", High, "writes trust anchors",
			"Whoever adds a trust anchor can pose as any server that clients check with it.", listNames,
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			on("certificates.k8s.io", "clustertrustbundles", "create update patch"), on("certificates.k8s.io", "signers", "attest"),
		}}},
		{Rule: Rule{
			"rbac-installers-write", "RBAC-81", Critical, "writes objects that install software",
			"Their controllers often hold cluster-admin, and do what these objects say.", listNames,
		}, grant: &grantMatch{unlike: onlyOwn, shapes: []shape{
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
		{Rule: Rule{
			"rbac-reviews", "RBAC-78", Notice, "asks who may do what",
			"Normal for programs that check tokens of their clients.", "",
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{
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
