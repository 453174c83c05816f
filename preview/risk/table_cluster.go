package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/ownkind"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func nodeRules() []entry {
	return []entry{
		{Rule: rules.RBACNodesProxy, grant: &grantMatch{clusterOnly: true, shapes: []shape{newShape("core", "nodes/proxy", "get create update patch delete")}}},
		{Rule: rules.RBACNodesWrite, grant: &grantMatch{clusterOnly: true, shapes: []shape{newShape("core", "nodes", "create update patch"), newShape("core", "nodes/status", "patch update")}}},
		{Rule: rules.RBACEvict, grant: &grantMatch{anywhere: true, shapes: []shape{
			newShape("core", "pods/eviction", "create"), newShape("lifecycle.k8s.io", "evictionrequests evictions evictionrequests/status evictions/status", writeAny),
		}, custom: clusterShape(newShape("core", "nodes", "delete deletecollection"))}},
		{Rule: rules.RBACNodesRead, grant: &grantMatch{clusterOnly: true, level: nodesRead, shapes: []shape{newShape("core", "nodes/log nodes/metrics nodes/stats", "get create")}}},
	}
}

// nodesRead returns the level of reading from kubelets. By nodes/log, every file below
// /var/log of the node can be read, logs of the control plane and of pods included.
func nodesRead(_ *scan, _ preview.Grant, part shape) Level {
	if part.has("nodes/log") {
		return Medium
	}
	return Low
}

// clusterShape returns a matcher for a shape that grants in a namespace do not match.
func clusterShape(s shape) func(*scan, preview.Grant) (shape, bool) {
	return func(_ *scan, g preview.Grant) (shape, bool) {
		if g.Scope != preview.ScopeCluster {
			return shape{}, false
		}
		return s.cut(g)
	}
}

const admission = "admissionregistration.k8s.io"

func extensionRules() []entry {
	return []entry{
		{Rule: rules.RBACWebhooksWrite, grant: &grantMatch{
			clusterOnly: true, covers: []string{rules.RBACWebhooksDelete.Name}, level: webhooksWritten,
			shapes: []shape{newShape(admission, "validatingwebhookconfigurations mutatingwebhookconfigurations", write)},
		}},
		{Rule: rules.RBACWebhooksDelete, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			newShape(admission, "validatingwebhookconfigurations mutatingwebhookconfigurations", "delete deletecollection"),
		}}},
		{Rule: rules.RBACAdmissionPolicies, grant: &grantMatch{clusterOnly: true, level: policiesWritten, shapes: []shape{
			newShape(admission, "validatingadmissionpolicies validatingadmissionpolicybindings mutatingadmissionpolicies mutatingadmissionpolicybindings", writeAny),
		}}},
		{Rule: rules.RBACCRDsWrite, grant: &grantMatch{clusterOnly: true, level: unlessServed, shapes: []shape{newShape("apiextensions.k8s.io", "customresourcedefinitions", write)}}},
		{Rule: rules.RBACCRDsDelete, grant: &grantMatch{clusterOnly: true, fixed: namesKindsOfOthers, shapes: []shape{newShape("apiextensions.k8s.io", "customresourcedefinitions", "delete deletecollection")}}},
		{Rule: rules.RBACAPIServicesWrite, grant: &grantMatch{clusterOnly: true, shapes: []shape{newShape("apiregistration.k8s.io", "apiservices", writeAny)}}},
		{Rule: rules.RBACPrioritiesWrite, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			newShape("flowcontrol.apiserver.k8s.io", "flowschemas prioritylevelconfigurations", writeAny),
			newShape("node.k8s.io", "runtimeclasses", writeAny), newShape("scheduling.k8s.io", "priorityclasses", writeAny),
		}}},
		{Rule: rules.RBACSCC, grant: &grantMatch{
			unlike: mildConstraints, items: verbsAmong("use " + writeAny), anywhere: true, level: constraintsWritten, fixed: usesPrivileged,
			// Use works in a namespace, for the pods there; writing does not.
			shapes: []shape{newShape("security.openshift.io", "securitycontextconstraints", "use"), newShape("policy", "podsecuritypolicies", "use")},
			custom: clusterShape(newShape("security.openshift.io policy", "securitycontextconstraints podsecuritypolicies", writeAny)),
		}},
	}
}

// unlessServed is the level, High, of the right to write CRDs, which raiseByAmount makes
// Critical where the subject has a server that converts their objects.
func unlessServed(*scan, preview.Grant, shape) Level { return High }

// webhooksWritten is Critical, and High for subjects that write validating webhooks
// only and no CRDs.
func webhooksWritten(c *scan, g preview.Grant, part shape) Level {
	if part.has("mutatingwebhookconfigurations") || c.held.crds[g.Subject] {
		return Critical
	}
	return High
}

func policiesWritten(_ *scan, _ preview.Grant, part shape) Level {
	if part.has("mutatingadmissionpolicies") || part.has("mutatingadmissionpolicybindings") {
		return Critical
	}
	return High
}

// constraintsWritten is Critical for subjects that may write SecurityContextConstraints
// in the whole cluster, as they can then permit privileged pods to their own accounts
// or to all, and for those that may use the constraints privileged and run pods: OpenShift
// admits what they ask for by the rights of who creates the pod. Else it is High.
func constraintsWritten(c *scan, g preview.Grant, part shape) Level {
	if g.Scope == preview.ScopeCluster && slices.ContainsFunc(part.verbs, func(v string) bool { return v == all || slices.Contains(strings.Fields(write), v) }) {
		return Critical
	}
	if len(g.ResourceNames) > 0 && !slices.Contains(g.ResourceNames, "privileged") {
		return High
	}
	for _, run := range c.held.grants[g.Subject] {
		if len(run.ResourceNames) == 0 && ownkind.Meet(g, run) && runsPods(run) {
			return Critical
		}
	}
	return High
}

// usesPrivileged reports whether a grant is the use of SecurityContextConstraints and
// names privileged, so that the names restrict nothing.
func usesPrivileged(_ *scan, g preview.Grant) bool {
	return slices.Contains(g.Verbs, "use") && slices.Contains(g.ResourceNames, "privileged")
}

// mildConstraints reports whether a grant only uses SecurityContextConstraints that
// every account may use, such as restricted-v2. Such grants do not match.
func mildConstraints(_ *scan, g preview.Grant) bool {
	mild := []string{"restricted", "restricted-v2", "nonroot", "nonroot-v2"}
	writes := slices.ContainsFunc(g.Verbs, func(v string) bool { return v == all || slices.Contains(strings.Fields(writeAny), v) })
	return !writes && len(g.ResourceNames) > 0 && !slices.ContainsFunc(g.ResourceNames, func(n string) bool { return !slices.Contains(mild, n) })
}

func namespacedRules() []entry {
	return []entry{
		{Rule: rules.RBACNamespacesChange, grant: &grantMatch{anywhere: true, shapes: []shape{newShape("core", "namespaces", "update patch")}}},
		{Rule: rules.RBACNamespacesDelete, grant: &grantMatch{anywhere: true, fixed: namesPlacesOfOthers, shapes: []shape{newShape("core", "namespaces", "delete deletecollection")}}},
		{Rule: rules.RBACNamespacesCreate, grant: &grantMatch{clusterOnly: true, shapes: []shape{newShape("core", "namespaces", "create")}}},
		{Rule: rules.RBACEndpointsWrite, grant: &grantMatch{level: endpointsLevel, shapes: []shape{newShape("core", "endpoints", write), newShape("discovery.k8s.io", "endpointslices", write)}}},
		{Rule: rules.RBACServicesWrite, grant: &grantMatch{shapes: []shape{newShape("core", "services", write)}}},
		{Rule: rules.RBACIngressWrite, grant: &grantMatch{shapes: []shape{
			newShape("networking.k8s.io extensions", "ingresses ingressclasses", writeAny),
			newShape("gateway.networking.k8s.io", "gateways gatewayclasses httproutes grpcroutes tlsroutes tcproutes", writeAny),
			newShape("route.openshift.io", "routes routes/custom-host", writeAny),
		}}},
		{Rule: rules.RBACNetworkPoliciesWrite, grant: &grantMatch{shapes: []shape{newShape("networking.k8s.io", "networkpolicies", writeAny)}}},
		{Rule: rules.RBACQuotasWrite, grant: &grantMatch{shapes: []shape{newShape("core", "resourcequotas limitranges", writeAny)}}},
		{Rule: rules.RBACEventsWrite, grant: &grantMatch{shapes: []shape{newShape("core events.k8s.io", "events", write)}}},
		{Rule: rules.RBACLeasesOwn, grant: &grantMatch{shapes: []shape{newShape("coordination.k8s.io", "leases leasecandidates", writeAny)}, unlike: systemLeases}},
		{Rule: rules.RBACLeasesSystem, grant: &grantMatch{anywhere: true, shapes: []shape{newShape("coordination.k8s.io", "leases leasecandidates", writeAny)}, unlike: func(c *scan, g preview.Grant) bool {
			return !systemLeases(c, g)
		}}},
	}
}

// namesPlacesOfOthers reports whether a grant on Namespaces names one that others use.
func namesPlacesOfOthers(c *scan, g preview.Grant) bool {
	return slices.ContainsFunc(g.ResourceNames, c.namespaces.foreign)
}

// namesKindsOfOthers reports whether a grant on CustomResourceDefinitions names one of an
// operator of others.
func namesKindsOfOthers(c *scan, g preview.Grant) bool {
	return slices.ContainsFunc(g.ResourceNames, func(name string) bool {
		plural, group, _ := strings.Cut(name, ".")
		return deputy.KnownGroup(group) && !c.kinds.ours(group, plural)
	})
}

// systemLeases reports whether a grant on leases includes the control plane's.
func systemLeases(_ *scan, g preview.Grant) bool {
	return g.Scope == preview.ScopeCluster || g.Namespace == "kube-system" || g.Namespace == "kube-node-lease"
}

// endpointsLevel is Critical for EndpointSlices, which can redirect the traffic of every
// Service, and High for Endpoints, which only Services without a selector
// follow.
func endpointsLevel(_ *scan, _ preview.Grant, part shape) Level {
	if part.has("endpointslices") {
		return Critical
	}
	return High
}
