package rules

// Sentences of several rules here.
const (
	listNames = "Restrict the rule by resourceNames, or bind it in the namespaces that need it."
)

// The rules about what grants permit. Their modifiers, and what they look at
// where Looks is empty, package risk says with their matchers.
var (
	RBACEverything = row(Rule{
		Name: "rbac-everything", Ref: "RBAC-01", Level: Critical, Title: "can do everything",
		Why:    "Verbs, resources and groups are all wildcards: this equals cluster-admin, for types to come as well.",
		Reduce: "Ask the publisher to list the resources and verbs the operator needs.",
		Looks:  `Effective permissions with verbs, resources and API groups all "*", without resource names.`,
	})
	RBACGroupWildcard = row(Rule{
		Name: "rbac-group-wildcard", Ref: "RBAC-02", Level: Critical, Title: "has full control of an API group",
		Why:    "Every verb on every resource of the group includes sub-resources and special verbs such as escalate.",
		Reduce: "List the resources and verbs the operator needs.",
		Looks:  `Effective permissions with verbs "*" on resources "*" of an API group.`,
		When:   "Critical for core, apps and rbac.authorization.k8s.io, a warning for other groups, info for the plan's own API groups.",
	})
	RBACWriteAllResources = row(Rule{
		Name: "rbac-write-all-resources", Ref: "RBAC-04", Level: Critical, Title: "can write every resource",
		Why:    "Writing any resource leads to every right there is, and to everything being destroyed.",
		Reduce: "List the resources the operator writes.",
		Looks:  `Effective permissions to create, update, patch or delete resources "*" that include the core group.`,
	})
	RBACReadAllResources = row(Rule{
		Name: "rbac-read-all-resources", Ref: "RBAC-03", Level: Critical, Title: "can read every resource",
		Why:    "Every resource includes every Secret: tokens, passwords and private keys.",
		Reduce: "List the resources the operator reads, without secrets.",
		Looks:  `Effective permissions to get, list or watch resources "*" that include the core group, and so Secrets.`,
	})
	RBACAllVerbs = row(Rule{
		Name: "rbac-all-verbs", Ref: "RBAC-05", Level: Medium, Title: "has all verbs on a resource",
		Why:    "The wildcard includes verbs that were hardly meant, such as deletecollection, and verbs to come.",
		Reduce: "List the verbs the operator needs.",
		Looks:  `Effective permissions with verbs "*" on named resources that are not the plan's own.`,
	})
	RBACAllURLs = row(Rule{
		Name: "rbac-all-urls", Ref: "RBAC-06", Level: Medium, Title: "can reach every non-resource URL",
		Why:    "Metrics, logs and debug endpoints of the API server become readable.",
		Reduce: "List the URLs, such as /metrics.",
		Looks:  `Effective permissions on nonResourceURLs "*".`,
	})
	RBACDeleteCollection = row(Rule{
		Name: "rbac-deletecollection", Ref: "RBAC-79", Level: Medium, Title: "can bulk-delete (deletecollection)",
		Why:    "One request deletes every object of a kind in a namespace.",
		Reduce: "Grant delete instead.",
		Looks:  `Effective permissions with the verb deletecollection, without "*", on resources that are not the plan's own.`,
	})
	RBACDeadRule = row(Rule{
		Name: "rbac-dead-rule", Level: Notice, Title: "has a rule without effect",
		Why:     "Cluster-scoped resources and URLs cannot be granted in a namespace: either the rule or its scope is a mistake.",
		Reduce:  "Remove the rule.",
		Looks:   "Effective permissions in a namespace on cluster-scoped resources or URLs.",
		Example: Example{Title: "ServiceAccount op: has a rule without effect in namespace app", Evidence: "ServiceAccount app/op in namespace app: get on nodes"},
	})
	RBACSecretsRead = row(Rule{
		Name: "rbac-secrets-read", Ref: "RBAC-10", Level: Critical, Title: "can read Secrets",
		Why:    "Secrets hold tokens, passwords and private keys; list and watch return their content too.",
		Reduce: listNames,
		When:   "Stays critical where another account within reach holds a critical permission: its token is in a Secret.",
	})
	RBACSecretsWrite = row(Rule{
		Name: "rbac-secrets-write", Ref: "RBAC-11", Level: Critical, Title: "can write Secrets",
		Why:    "A subject that writes and reads Secrets can have a token made for any ServiceAccount; writing alone replaces credentials.",
		Reduce: listNames,
		When:   "Critical when the same subject also reads Secrets there, else a warning.",
	})
	RBACPodsLog = row(Rule{
		Name: "rbac-pods-log", Ref: "RBAC-17", Level: Low, Title: "can read pod logs",
		Why:    "Logs may hold secrets.",
		Reduce: listNames,
	})
	RBACTokensCreate = row(Rule{
		Name: "rbac-tokens-create", Ref: "RBAC-18", Level: Critical, Title: "can mint tokens for any ServiceAccount",
		Why:    "A token of an account gives every right of that account.",
		Reduce: listNames,
		When:   "Stays critical where another account within reach holds a critical permission.",
	})
	RBACServiceAccountsWrite = row(Rule{
		Name: "rbac-serviceaccounts-write", Ref: "RBAC-19", Level: Medium, Title: "can write ServiceAccounts",
		Why:    "An annotation on a ServiceAccount can bind it to a cloud identity.",
		Reduce: listNames,
	})
	RBACConfigMapsSystem = row(Rule{
		Name: "rbac-configmaps-system", Ref: "RBAC-66", Level: Critical, Title: "can write ConfigMaps of kube-system",
		Why:    "They configure authentication (aws-auth), DNS and the control plane.",
		Reduce: listNames,
		Looks:  "Effective permissions in kube-system to create, update or patch ConfigMaps.",
		Example: Example{
			Title:    "ServiceAccount op: can write ConfigMaps of kube-system in namespace kube-system",
			Evidence: "ServiceAccount app/op in namespace kube-system: update on configmaps",
		},
	})
	RBACConfigMapsWrite = row(Rule{
		Name: "rbac-configmaps-write", Ref: "RBAC-67", Level: High, Title: "can write ConfigMaps",
		Why:    "ConfigMaps can change the behaviour of any workload, including the control plane.",
		Reduce: listNames,
		Looks:  "Effective permissions cluster-wide to create, update or patch ConfigMaps.",
	})
	CloudCredentialsRequested = row(Rule{
		Name: "cloud-credentials-requested", Ref: "RBAC-80", Level: High, Title: "can write CredentialsRequests",
		Why:    "The operator asks for cloud permissions at run time; which ones does not stand in what is reviewed here.",
		Reduce: "Read the operator's documentation for the request it makes, and provide the credentials by hand.",
	})
	RBACCloudIAMWrite = row(Rule{
		Name: "rbac-cloud-iam-write", Ref: "RBAC-80", Level: High, Title: "can write objects that grant cloud permissions",
		Why:    "Through them it can grant whatever the controller behind them may.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources through which cloud identities are administered (AWS Controllers for Kubernetes, Crossplane, Config Connector and the like).",
	})
	RBACSecretSourcesWrite = row(Rule{
		Name: "rbac-secret-sources-write", Ref: "RBAC-82", Level: High, Title: "can write objects that produce Secrets",
		Why:    "External secrets, sealed secrets and certificates obtain or replace credentials.",
		Reduce: listNames,
	})
	RBACWorkloadsWrite = row(Rule{
		Name: "rbac-workloads-write", Ref: "RBAC-12", Level: High, Title: "can create workloads",
		Why:    "A pod can run as any ServiceAccount of its namespace, mount any Secret there and, unless pod security forbids it, take over the node.",
		Reduce: listNames,
		When:   "Critical where another account within reach holds a critical permission: a pod can run as it.",
	})
	RBACPodsModify = row(Rule{
		Name: "rbac-pods-modify", Ref: "RBAC-13", Level: High, Title: "can change running pods",
		Why:    "Changing the image of a running pod runs code with its rights.",
		Reduce: listNames,
	})
	RBACPodsExec = row(Rule{
		Name: "rbac-pods-exec", Ref: "RBAC-14", Level: High, Title: "can exec into pods",
		Why:    "A command in a pod has its ServiceAccount, its Secrets and its network.",
		Reduce: listNames,
	})
	RBACEphemeralContainers = row(Rule{
		Name: "rbac-ephemeral-containers", Ref: "RBAC-15", Level: High, Title: "can add containers to running pods",
		Why:    "An added container shares the pod's ServiceAccount and Secrets.",
		Reduce: listNames,
	})
	RBACPorts = row(Rule{
		Name: "rbac-ports", Ref: "RBAC-16", Level: Medium, Title: "can reach ports of pods and Services",
		Why:    "Requests through the API server pass by every NetworkPolicy.",
		Reduce: listNames,
	})
	RBACCustomExec = row(Rule{
		Name: "rbac-custom-exec", Ref: "RBAC-83", Level: High, Title: "can exec into, or open consoles of, custom resources",
		Why:    "Exec, console and proxy sub-resources of custom resources run code as pods/exec does.",
		Reduce: listNames,
	})
	RBACPodsStatus = row(Rule{
		Name: "rbac-pods-status", Ref: "RBAC-33", Level: Medium, Title: "can write the status of pods or Services",
		Why:    "A forged status draws traffic to another address (CVE-2020-8554).",
		Reduce: listNames,
	})
	RBACVolumesWrite = row(Rule{
		Name: "rbac-volumes-write", Ref: "RBAC-63", Level: High, Title: "can create PersistentVolumes",
		Why:    "A hostPath volume reads and writes the file system of a node.",
		Reduce: "Use a StorageClass and claims.",
	})
	RBACStorageWrite = row(Rule{
		Name: "rbac-storage-write", Ref: "RBAC-64", Level: Medium, Title: "can write CSI drivers and StorageClasses",
		Why:    "They decide which code mounts volumes on nodes and whose volumes.",
		Reduce: listNames,
	})
	RBACClaimsWrite = row(Rule{
		Name: "rbac-claims-write", Ref: "RBAC-65", Level: Medium, Title: "can modify or delete PVCs and VolumeSnapshots",
		Why:    "Data can be copied or deleted with them.",
		Reduce: listNames,
	})
	UnseenWorkloads = row(Rule{
		Name: "unseen-workloads", Ref: "POD-21", Level: Notice, Title: "runs pods that are not part of this review",
		Why:  "The operator creates them at run time, from its own code and from custom resources.",
		When: "Always info.",
	})
	RBACEscalate = row(Rule{
		Name: "rbac-escalate", Ref: "RBAC-20", Level: Critical, Title: "can write roles with rights it does not hold (verb escalate)",
		Why:    "The escalate verb lifts the check that a subject grants no more than it has.",
		Reduce: "Remove the verb escalate.",
	})
	RBACBind = row(Rule{
		Name: "rbac-bind", Ref: "RBAC-21", Level: Critical, Title: "can bind any role (verb bind)",
		Why:    "The bind verb lets it hand out roles whose rights it does not hold.",
		Reduce: "Restrict bind to the roles needed, by resourceNames.",
	})
	RBACRolesWrite = row(Rule{
		Name: "rbac-roles-write", Ref: "RBAC-22", Level: Medium, Title: "can write roles",
		Why:    "It can pass on every right it holds or will hold.",
		Reduce: listNames,
	})
	RBACBindingsWrite = row(Rule{
		Name: "rbac-bindings-write", Ref: "RBAC-23", Level: High, Title: "can write role bindings",
		Why:    "It can give its own rights to any subject.",
		Reduce: listNames,
	})
	RBACImpersonate = row(Rule{
		Name: "rbac-impersonate", Ref: "RBAC-24", Level: Critical, Title: "can impersonate other identities",
		Why:    "A subject that may impersonate has every right of those it acts as.",
		Reduce: "Restrict impersonate by resourceNames.",
	})
	RBACApproveCertificates = row(Rule{
		Name: "rbac-approve-certificates", Ref: "RBAC-40", Level: Critical, Title: "can issue client certificates",
		Why:    "Creating and approving signing requests for the API server's client signer makes an administrator's certificate.",
		Reduce: "Restrict approve to the signers needed.",
	})
	RBACSignCertificates = row(Rule{
		Name: "rbac-sign-certificates", Ref: "RBAC-41", Level: Critical, Title: "can sign certificates",
		Why:    "It can sign certificate signing requests itself.",
		Reduce: "Restrict sign to the signers needed.",
	})
	RBACTrustBundles = row(Rule{
		Name: "rbac-trust-bundles", Ref: "RBAC-42", Level: High, Title: "can write trust anchors",
		Why:    "A subject that adds a trust anchor can pose as any server that clients check with it.",
		Reduce: listNames,
	})
	RBACInstallersWrite = row(Rule{
		Name: "rbac-installers-write", Ref: "RBAC-81", Level: Critical, Title: "can write objects that install software",
		Why:    "Their controllers often hold cluster-admin, and do what these objects say.",
		Reduce: listNames,
	})
	RBACReviews = row(Rule{
		Name: "rbac-reviews", Ref: "RBAC-78", Level: Notice, Title: "can run access reviews (SubjectAccessReview)",
		Why: "Normal for programs that check tokens of their clients.",
	})
	RBACNodesProxy = row(Rule{
		Name: "rbac-nodes-proxy", Ref: "RBAC-30", Level: Critical, Title: "can call the kubelet API",
		Why:    "The kubelet runs commands in any pod, past admission and audit; get is enough.",
		Reduce: "Read metrics through nodes/metrics.",
	})
	RBACNodesWrite = row(Rule{
		Name: "rbac-nodes-write", Ref: "RBAC-31", Level: Medium, Title: "can change nodes",
		Why:    "Labels, taints and capacity decide where pods run.",
		Reduce: listNames,
	})
	RBACEvict = row(Rule{
		Name: "rbac-evict", Ref: "RBAC-32", Level: High, Title: "can remove nodes or evict pods",
		Why:    "Evictions can cause downtime, or force pods onto a chosen node.",
		Reduce: listNames,
	})
	RBACNodesRead = row(Rule{
		Name: "rbac-nodes-read", Ref: "RBAC-34", Level: Low, Title: "can read node logs and metrics",
		Why:    "Logs of a host may hold secrets.",
		Reduce: listNames,
	})
	RBACWebhooksWrite = row(Rule{
		Name: "rbac-webhooks-write", Ref: "RBAC-50", Level: Critical, Title: "can write admission webhooks",
		Why:    "A webhook sees every object it asks for; a mutating one changes any pod and takes its token.",
		Reduce: listNames,
		When:   "Critical for mutating webhooks, and when the subject also writes CustomResourceDefinitions; a warning for validating ones alone.",
	})
	RBACWebhooksDelete = row(Rule{
		Name: "rbac-webhooks-delete", Ref: "RBAC-51", Level: High, Title: "can delete admission webhooks",
		Why:    "The policies they enforce end.",
		Reduce: listNames,
	})
	RBACAdmissionPolicies = row(Rule{
		Name: "rbac-admission-policies", Ref: "RBAC-52", Level: Critical, Title: "can write admission policies",
		Why:    "Policies change, refuse or let through every request, without a webhook.",
		Reduce: listNames,
		When:   "Critical for mutating policies, a warning for validating ones.",
	})
	RBACCRDsWrite = row(Rule{
		Name: "rbac-crds-write", Ref: "RBAC-53", Level: High, Title: "can write CRDs",
		Why:    "A conversion webhook reads and changes every custom resource; APIs of others can be broken or taken over.",
		Reduce: listNames,
	})
	RBACCRDsDelete = row(Rule{
		Name: "rbac-crds-delete", Ref: "RBAC-54", Level: High, Title: "can delete CRDs",
		Why:    "Deleting a CRD deletes all its custom resources, in every namespace.",
		Reduce: listNames,
	})
	RBACAPIServicesWrite = row(Rule{
		Name: "rbac-apiservices-write", Ref: "RBAC-55", Level: Critical, Title: "can write APIServices",
		Why:    "It can pose as an API group and receive the tokens and bodies of its callers.",
		Reduce: listNames,
	})
	RBACPrioritiesWrite = row(Rule{
		Name: "rbac-priorities-write", Ref: "RBAC-56", Level: Medium, Title: "can write PriorityClasses and RuntimeClasses",
		Why:    "Others can be starved or preempted, or run in a weaker sandbox.",
		Reduce: listNames,
	})
	RBACSCC = row(Rule{
		Name: "rbac-scc", Ref: "RBAC-72", Level: High, Title: "can use or write SecurityContextConstraints",
		Why:    "They decide which pods may be privileged.",
		Reduce: "Use restricted-v2 or nonroot-v2.",
	})
	RBACNamespacesChange = row(Rule{
		Name: "rbac-namespaces-change", Ref: "RBAC-60", Level: High, Title: "can change Namespaces",
		Why:    "Labels of a namespace switch pod security and network policies off.",
		Reduce: listNames,
	})
	RBACNamespacesDelete = row(Rule{
		Name: "rbac-namespaces-delete", Ref: "RBAC-61", Level: High, Title: "can delete Namespaces",
		Why:    "Everything in a namespace goes with it.",
		Reduce: listNames,
	})
	RBACNamespacesCreate = row(Rule{
		Name: "rbac-namespaces-create", Ref: "RBAC-62", Level: Low, Title: "can create Namespaces",
		Why: "A new namespace has no policies yet.",
	})
	RBACEndpointsWrite = row(Rule{
		Name: "rbac-endpoints-write", Ref: "RBAC-68", Level: High, Title: "can redirect Service traffic (write Endpoints)",
		Why:    "Traffic to a service goes where its endpoints say (CVE-2021-25740).",
		Reduce: listNames,
	})
	RBACServicesWrite = row(Rule{
		Name: "rbac-services-write", Ref: "RBAC-69", Level: Medium, Title: "can write Services",
		Why:    "Services can hijack traffic by externalIPs (CVE-2020-8554) or expose internal workloads.",
		Reduce: listNames,
	})
	RBACIngressWrite = row(Rule{
		Name: "rbac-ingress-write", Ref: "RBAC-70", Level: Medium, Title: "can write Ingresses or Gateways",
		Why:    "Routes and certificates of others can be taken over.",
		Reduce: listNames,
	})
	RBACNetworkPoliciesWrite = row(Rule{
		Name: "rbac-network-policies-write", Ref: "RBAC-71", Level: Medium, Title: "can write NetworkPolicies",
		Why:    "The network between pods can be opened.",
		Reduce: listNames,
	})
	RBACQuotasWrite = row(Rule{
		Name: "rbac-quotas-write", Ref: "RBAC-73", Level: Medium, Title: "can write ResourceQuotas and LimitRanges",
		Why:    "Without them one workload takes the resources of all.",
		Reduce: listNames,
	})
	RBACEventsWrite = row(Rule{
		Name: "rbac-events-write", Ref: "RBAC-75", Level: Notice, Title: "can write Events",
		Why: "Normal for controllers.",
	})
	RBACLeasesOwn = row(Rule{
		Name: "rbac-leases-own", Ref: "RBAC-76", Level: Notice, Title: "can write Leases",
		Why:   "Normal for leader election.",
		Looks: "Effective permissions in a namespace, other than those of the control plane, to write leases.",
		Example: Example{
			Title:    "ServiceAccount op: can write Leases in namespace app",
			Evidence: "ServiceAccount app/op in namespace app: create, update on leases in coordination.k8s.io",
		},
	})
	RBACLeasesSystem = row(Rule{
		Name: "rbac-leases-system", Ref: "RBAC-77", Level: Medium, Title: "can write Leases of the control plane",
		Why:    "Leader election of the control plane and heartbeats of nodes can be disturbed.",
		Reduce: listNames,
		Looks:  "Effective permissions to write leases cluster-wide, in kube-system or in kube-node-lease.",
	})
)
