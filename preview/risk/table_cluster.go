package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func nodeRules() []entry {
	return []entry{
		{Rule: Rule{
			"rbac-nodes-proxy", "RBAC-30", Critical, "reaches the kubelets",
			"The kubelet runs commands in any pod, past admission and audit; get is enough.", "Read metrics through nodes/metrics.",
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{on("core", "nodes/proxy", "get create update patch delete")}}},
		{Rule: Rule{
			"rbac-nodes-write", "RBAC-31", Medium, "changes nodes",
			"Labels, taints and capacity decide where pods run.", listNames,
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{on("core", "nodes", "update patch"), on("core", "nodes/status", "patch update")}}},
		{Rule: Rule{
			"rbac-evict", "RBAC-32", High, "removes nodes or evicts pods",
			"Pods can be driven to a node of choice, or services put out.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "pods/eviction", "create")}, custom: clusterShape(on("core", "nodes", "delete"))}},
		{Rule: Rule{
			"rbac-nodes-read", "RBAC-34", Low, "reads logs and figures of nodes",
			"Logs of a host may hold secrets.", listNames,
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{on("core", "nodes/log nodes/metrics nodes/stats", "get")}}},
	}
}

// clusterShape matches a shape in the cluster scope only.
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
		{Rule: Rule{
			"rbac-webhooks-write", "RBAC-50", Critical, "writes admission webhooks",
			"A webhook sees every object it asks for; a mutating one changes any pod and takes its token.", listNames,
		}, grant: &grantMatch{
			clusterOnly: true, covers: []string{"rbac-webhooks-delete"}, level: webhooksWritten,
			shapes: []shape{on(admission, "validatingwebhookconfigurations mutatingwebhookconfigurations", write)},
		}},
		{Rule: Rule{
			"rbac-webhooks-delete", "RBAC-51", High, "deletes admission webhooks",
			"The policies they enforce end.", listNames,
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			on(admission, "validatingwebhookconfigurations mutatingwebhookconfigurations", "delete deletecollection"),
		}}},
		{Rule: Rule{
			"rbac-admission-policies", "RBAC-52", Critical, "writes admission policies",
			"Policies change, refuse or let through every request, without a webhook.", listNames,
		}, grant: &grantMatch{clusterOnly: true, level: policiesWritten, shapes: []shape{
			on(admission, "validatingadmissionpolicies validatingadmissionpolicybindings mutatingadmissionpolicies mutatingadmissionpolicybindings", writeAny),
		}}},
		{Rule: Rule{
			"rbac-crds-write", "RBAC-53", High, "writes CustomResourceDefinitions",
			"A conversion webhook reads and changes every custom resource; APIs of others can be broken or taken over.", listNames,
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{on("apiextensions.k8s.io", "customresourcedefinitions", write)}}},
		{Rule: Rule{
			"rbac-crds-delete", "RBAC-54", High, "deletes CustomResourceDefinitions",
			"With a definition all its objects are deleted, in every namespace.", listNames,
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{on("apiextensions.k8s.io", "customresourcedefinitions", "delete deletecollection")}}},
		{Rule: Rule{
			"rbac-apiservices-write", "RBAC-55", Critical, "writes APIServices",
			"It can pose as an API group and receive the tokens and bodies of its callers.", listNames,
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{on("apiregistration.k8s.io", "apiservices", writeAny)}}},
		{Rule: Rule{
			"rbac-priorities-write", "RBAC-56", Medium, "writes priorities and runtime classes",
			"Others can be starved or preempted, or run in a weaker sandbox.", listNames,
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			on("flowcontrol.apiserver.k8s.io", "flowschemas prioritylevelconfigurations", writeAny),
			on("node.k8s.io", "runtimeclasses", writeAny), on("scheduling.k8s.io", "priorityclasses", writeAny),
		}}},
		{Rule: Rule{
			"rbac-scc", "RBAC-72", High, "uses or writes security context constraints",
			"They decide which pods may be privileged.", "Use restricted-v2 or nonroot-v2.",
		}, grant: &grantMatch{
			unlike: mildConstraints,
			// Use works in a namespace, for the pods there; writing does not.
			shapes: []shape{on("security.openshift.io", "securitycontextconstraints", "use"), on("policy", "podsecuritypolicies", "use")},
			custom: clusterShape(on("security.openshift.io policy", "securitycontextconstraints podsecuritypolicies", writeAny)),
		}},
	}
}

// webhooksWritten is one step less for validating webhooks alone, unless the
// subject also writes CRDs (catalogue, combination rules).
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

// mildConstraints leaves out the constraints every account may use.
func mildConstraints(_ *scan, g preview.Grant) bool {
	mild := []string{"restricted", "restricted-v2", "nonroot", "nonroot-v2"}
	return len(g.ResourceNames) > 0 && !slices.ContainsFunc(g.ResourceNames, func(n string) bool { return !slices.Contains(mild, n) })
}

func namespacedRules() []entry {
	return []entry{
		{Rule: Rule{
			"rbac-namespaces-change", "RBAC-60", High, "changes namespaces",
			"Labels of a namespace switch pod security and network policies off.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "namespaces", "update patch")}}},
		{Rule: Rule{
			"rbac-namespaces-delete", "RBAC-61", High, "deletes namespaces",
			"Everything in a namespace goes with it.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "namespaces", "delete")}}},
		{Rule: Rule{
			"rbac-namespaces-create", "RBAC-62", Low, "creates namespaces",
			"A new namespace has no policies yet.", "",
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{on("core", "namespaces", "create")}}},
		{Rule: Rule{
			"rbac-endpoints-write", "RBAC-68", High, "writes endpoints of services",
			"Traffic to a service goes where its endpoints say (CVE-2021-25740).", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "endpoints", write), on("discovery.k8s.io", "endpointslices", write)}}},
		{Rule: Rule{
			"rbac-services-write", "RBAC-69", Medium, "writes services",
			"External addresses intercept traffic (CVE-2020-8554) or expose what is inside.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "services", "create update patch")}}},
		{Rule: Rule{
			"rbac-ingress-write", "RBAC-70", Medium, "writes ingresses or gateways",
			"Routes and certificates of others can be taken over.", listNames,
		}, grant: &grantMatch{shapes: []shape{
			on("networking.k8s.io extensions", "ingresses ingressclasses", writeAny),
			on("gateway.networking.k8s.io", "gateways gatewayclasses httproutes grpcroutes tlsroutes tcproutes", writeAny),
			on("route.openshift.io", "routes routes/custom-host", writeAny),
		}}},
		{Rule: Rule{
			"rbac-network-policies-write", "RBAC-71", Medium, "writes network policies",
			"The network between pods can be opened.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("networking.k8s.io", "networkpolicies", writeAny)}}},
		{Rule: Rule{
			"rbac-quotas-write", "RBAC-73", Medium, "writes quotas and limits",
			"Without them one workload takes the resources of all.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "resourcequotas limitranges", writeAny)}}},
		{Rule: Rule{
			"rbac-events-write", "RBAC-75", Notice, "writes events",
			"Normal for controllers.", "",
		}, grant: &grantMatch{shapes: []shape{on("core events.k8s.io", "events", write)}}},
		{Rule: Rule{
			"rbac-leases-own", "RBAC-76", Notice, "writes leases",
			"Normal for leader election.", "",
		}, grant: &grantMatch{shapes: []shape{on("coordination.k8s.io", "leases", writeAny)}, unlike: systemLeases}},
		{Rule: Rule{
			"rbac-leases-system", "RBAC-77", Medium, "writes leases of the control plane",
			"Leader election of the control plane and heartbeats of nodes can be disturbed.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("coordination.k8s.io", "leases", writeAny)}, unlike: func(c *scan, g preview.Grant) bool {
			return !systemLeases(c, g)
		}}},
	}
}

// systemLeases holds for grants that reach the leases of the control plane.
func systemLeases(_ *scan, g preview.Grant) bool {
	return g.Scope == preview.ScopeCluster || g.Namespace == "kube-system" || g.Namespace == "kube-node-lease"
}
