package rules

// Sentences that several rules in this file share.
const (
	onlySigners  = "Restrict approve with resourceNames to the signers that the operator needs."
	removeField  = "Remove the field from the package."
	listNames    = "Restrict the rule with resourceNames, or bind the role only in the namespaces that need it."
	inNamespaces = "Bind the role only in the namespaces that need it."
	onlyNames    = "Restrict the rule with resourceNames, or ask the publisher why the operator needs it."
	amountsWhen  = "Critical where it leads to the nodes or to every Secret, and nothing else that the subject holds is critical."
)

// The rules about rights in grants. What changes their severity, and what they match
// where Looks is empty, is described by their matchers in package risk.
var (
	RBACEverything = row(Rule{
		Name: "rbac-everything", Ref: "RBAC-01", Level: Critical, Title: "can do everything",
		Why:    "All verbs on all resources of all API groups is what cluster-admin permits, including resources that are added later.",
		Reduce: "Ask the publisher to list the resources and verbs that the operator needs.",
		Looks:  `Effective permissions with verbs, resources and API groups all "*", without resource names.`,
	})
	RBACGroupWildcard = row(Rule{
		Name: "rbac-group-wildcard", Ref: "RBAC-02", Level: Critical, Title: "has full control of an API group",
		Why: "All verbs on all resources include subresources, and kinds that are added to the API group later.",
		Cases: []Case{
			{For: "core", Title: "has full control of the core API group", Why: "The core API group contains Secrets, ServiceAccount tokens, pods and nodes."},
			{For: "apps", Title: "has full control of API group apps", Why: "With Deployments, StatefulSets and DaemonSets, the subject can run pods as any ServiceAccount of their namespace."},
			{For: "rbac.authorization.k8s.io", Title: "has full control of API group rbac.authorization.k8s.io", Why: "The verbs escalate and bind are included, so the subject can give itself any permission."},
			{For: "own", Title: "has full control of its own API group", Why: "The package itself defines this API group with its CRDs. Subresources, and kinds that are added to the group later, are included."},
		},
		Reduce: "List the resources and verbs that the operator needs.",
		Looks:  `Effective permissions with verbs "*" on resources "*" of an API group.`,
		When:   "Critical for core, apps and rbac.authorization.k8s.io, a warning for other groups, info for the plan's own API groups.",
	})
	RBACWriteAllResources = row(Rule{
		Name: "rbac-write-all-resources", Ref: "RBAC-04", Level: Critical, Title: "can write every resource",
		Why: "Every resource includes workloads and Secrets, so the subject can get the permissions of any ServiceAccount, and delete all data.",
		Cases: []Case{
			{For: "create update patch", Why: "Every resource includes workloads and Secrets, so the subject can get the permissions of any ServiceAccount."},
			{For: "delete", Title: "can delete every resource", Why: "Every workload, Secret and PersistentVolumeClaim can be deleted, together with its data."},
		},
		Reduce: "List the resources that the operator writes.",
		Looks:  `Effective permissions to create, update, patch or delete resources "*" that include the core group.`,
	})
	RBACReadAllResources = row(Rule{
		Name: "rbac-read-all-resources", Ref: "RBAC-03", Level: Critical, Title: "can read every resource",
		Why:    "Every resource includes Secrets, which hold tokens, passwords and private keys.",
		Reduce: "List the resources that the operator reads, without secrets.",
		Looks:  `Effective permissions to get, list or watch resources "*" that include the core group, and so Secrets.`,
	})
	RBACAllVerbs = row(Rule{
		Name: "rbac-all-verbs", Ref: "RBAC-05", Level: Medium, Title: "has all verbs (*) on resources",
		Why:    "The wildcard also permits verbs such as deletecollection, and verbs that are added later.",
		Reduce: "List the verbs that the operator needs.",
		Looks:  `Effective permissions with verbs "*" on named resources that are not the plan's own.`,
	})
	RBACAllURLs = row(Rule{
		Name: "rbac-all-urls", Ref: "RBAC-06", Level: Medium, Title: "can reach every non-resource URL",
		Why:    "Paths of the API server such as /metrics, /logs and /debug are included.",
		Reduce: "List the URLs, such as /metrics.",
		Looks:  `Effective permissions on nonResourceURLs "*".`,
	})
	RBACDeleteCollection = row(Rule{
		Name: "rbac-deletecollection", Ref: "RBAC-79", Level: Medium, Title: "can bulk-delete (deletecollection)",
		Why:    "One request deletes every object of a kind in a namespace.",
		Reduce: "Grant the verb delete instead of deletecollection.",
		Looks:  `Effective permissions with the verb deletecollection, without "*", on resources that are not the plan's own.`,
	})
	RBACDeadRule = row(Rule{
		Name: "rbac-dead-rule", Level: Notice, Title: "has a rule without effect",
		Why:     "Permissions for cluster-scoped resources and URLs have no effect in a namespace: either the rule or the scope of its binding is a mistake.",
		Reduce:  "Remove the rule.",
		Looks:   "Effective permissions in a namespace on cluster-scoped resources or URLs.",
		Example: Example{Title: "ServiceAccount op: has a rule without effect in namespace app", Evidence: "ServiceAccount app/op in namespace app: get on nodes"},
	})
	RBACSecretsRead = row(Rule{
		Name: "rbac-secrets-read", Ref: "RBAC-10", Level: Critical, Title: "can read Secrets",
		Why:    "Secrets hold tokens, passwords and private keys; list and watch return their content too.",
		Reduce: listNames,
		When:   "Stays critical in a namespace that has an account with a critical permission, if a token of the account is stored in a Secret or the subject can store one.",
	})
	RBACSecretsWrite = row(Rule{
		Name: "rbac-secrets-write", Ref: "RBAC-11", Level: Critical, Title: "can write Secrets",
		Why:    "A subject that can write and read Secrets can create a token for any ServiceAccount of the namespace; one that can only write them can replace credentials.",
		Reduce: listNames,
		When:   "Critical when the same subject also reads Secrets there, for Secrets by name that decide who controls the cluster, such as Argo CD's, and where it can make tokens for nodes and nothing else that it holds is critical; else a warning.",
	})
	RBACPodsLog = row(Rule{
		Name: "rbac-pods-log", Ref: "RBAC-17", Level: Low, Title: "can read pod logs",
		Why:    "Logs may contain passwords and tokens.",
		Reduce: listNames,
	})
	RBACTokensCreate = row(Rule{
		Name: "rbac-tokens-create", Ref: "RBAC-18", Level: Critical, Title: "can mint ServiceAccount tokens",
		Why:    "A token of a ServiceAccount gives all permissions of that ServiceAccount.",
		Reduce: listNames,
		When:   "Stays critical where another account within reach holds a critical permission.",
	})
	RBACServiceAccountsWrite = row(Rule{
		Name: "rbac-serviceaccounts-write", Ref: "RBAC-19", Level: Medium, Title: "can write ServiceAccounts",
		Why:    "On many clouds, an annotation on a ServiceAccount gives its pods a cloud identity.",
		Reduce: listNames,
	})
	RBACConfigMapsSystem = row(Rule{
		Name: "rbac-configmaps-system", Ref: "RBAC-66", Level: Critical, Title: "can write ConfigMaps of kube-system",
		Why:    "ConfigMaps in kube-system configure DNS, the control plane and, on EKS, who can log in (aws-auth).",
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
		Looks:  "Effective permissions to create, update or patch ConfigMaps, except in the namespaces of the release and in kube-system, which another rule covers.",
		When:   "Critical for ConfigMaps of the cluster itself by name, such as aws-auth and coredns, and for ConfigMaps of systems that are cluster-admin, such as Argo CD.",
	})
	CloudCredentialsRequested = row(Rule{
		Name: "cloud-credentials-requested", Ref: "RBAC-80", Level: High, Title: "can write CredentialsRequests",
		Why:    "On OpenShift, the operator can request cloud permissions at run time. Which ones is not part of this review.",
		Reduce: "Look for the CredentialsRequest in the operator's documentation, and create the credentials by hand.",
		Looks:  "Effective permissions to create, update or patch CredentialsRequests of OpenShift.",
		When:   "Critical on a cluster that is known to give what is asked for, in any mode but manual; else a warning.",
	})
	RBACCloudIAMWrite = row(Rule{
		Name: "rbac-cloud-iam-write", Ref: "RBAC-80", Level: Critical, Title: "can write objects that grant cloud permissions",
		Why:    "Controllers such as AWS Controllers for Kubernetes, Crossplane or Config Connector create cloud identities and policies from these objects, with their own cloud permissions.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources that administer cloud identities (AWS Controllers for Kubernetes, Crossplane, Config Connector and the like).",
		When:   ordersWhen,
	})
	RBACSecretSourcesWrite = row(Rule{
		Name: "rbac-secret-sources-write", Ref: "RBAC-82", Level: High, Title: "can write objects that make controllers create Secrets",
		Why: "Controllers create and replace Secrets as these objects say, so the subject can obtain or replace credentials and certificates.",
		Cases: []Case{
			{For: "external-secrets.io", Title: "can write objects of the External Secrets Operator", Why: "The External Secrets Operator copies credentials between an external store and Secrets, as these objects say."},
			{For: "bitnami.com", Title: "can write SealedSecrets", Why: "The Sealed Secrets controller creates or replaces a Secret, and its credentials, from each SealedSecret."},
			{For: "cert-manager.io acme.cert-manager.io", Title: "can write cert-manager certificates or issuers", Why: "cert-manager issues certificates as these objects ask, so the subject can obtain a certificate for the name of another service."},
		},
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators, other than the plan's own, whose controller creates or fetches credentials.",
		When:   ordersWhen,
	})
	RBACWorkloadsWrite = row(Rule{
		Name: "rbac-workloads-write", Ref: "RBAC-12", Level: Critical, Title: "can create or change workloads",
		Why:    "A pod can run as any ServiceAccount of its namespace, mount any Secret there and, unless Pod Security forbids it, take over the node.",
		Reduce: inNamespaces,
		When:   "Critical where another account within reach holds a critical permission, as a pod can run as it, and where it leads to the nodes and nothing else that the subject holds is critical.",
	})
	RBACPodsModify = row(Rule{
		Name: "rbac-pods-modify", Ref: "RBAC-13", Level: Critical, Title: "can change running pods",
		Why:    "A subject that changes the image of a running pod runs other code with the permissions of the pod's ServiceAccount.",
		Reduce: listNames,
		When:   amountsWhen,
	})
	RBACPodsExec = row(Rule{
		Name: "rbac-pods-exec", Ref: "RBAC-14", Level: Critical, Title: "can exec into pods",
		Why:    "A command in a pod has the pod's ServiceAccount, Secrets and network.",
		Reduce: inNamespaces,
		When:   amountsWhen,
	})
	RBACEphemeralContainers = row(Rule{
		Name: "rbac-ephemeral-containers", Ref: "RBAC-15", Level: Critical, Title: "can add containers to running pods",
		Why:    "A container that is added to a pod shares its ServiceAccount, Secrets and network.",
		Reduce: inNamespaces,
		When:   amountsWhen,
	})
	RBACPorts = row(Rule{
		Name: "rbac-ports", Ref: "RBAC-16", Level: Medium, Title: "can reach ports of pods or Services",
		Why:    "Requests through the API server (port-forward, proxy) bypass NetworkPolicies.",
		Reduce: inNamespaces,
	})
	RBACCustomExec = row(Rule{
		Name: "rbac-custom-exec", Ref: "RBAC-83", Level: High, Title: "can open consoles, shells or ports of custom resources",
		Why:    "Consoles, VNC, exec and port-forward give access to what a custom resource stands for, such as a KubeVirt virtual machine, as pods/exec does to a pod.",
		Reduce: inNamespaces,
		Looks:  "Effective permissions on sub-resources of custom resources such as console, vnc, exec, attach, proxy and portforward, other than the plan's own kinds.",
	})
	RBACPodsStatus = row(Rule{
		Name: "rbac-pods-status", Ref: "RBAC-33", Level: Medium, Title: "can write the status of pods or Services",
		Why:    "A forged address in the status of a pod or Service redirects traffic (CVE-2020-8554).",
		Reduce: listNames,
	})
	RBACVolumesWrite = row(Rule{
		Name: "rbac-volumes-write", Ref: "RBAC-63", Level: High, Title: "can write PersistentVolumes",
		Why:    "A PersistentVolume of type hostPath gives pods access to the file system of a node.",
		Reduce: "Use a StorageClass, whose driver creates the PersistentVolumes.",
		When:   amountsWhen,
	})
	RBACStorageWrite = row(Rule{
		Name: "rbac-storage-write", Ref: "RBAC-64", Level: Medium, Title: "can write StorageClasses, CSI drivers or VolumeAttachments",
		Why:    "These objects decide which driver provides and mounts volumes, and which volume is attached to which node.",
		Reduce: onlyNames,
	})
	RBACClaimsWrite = row(Rule{
		Name: "rbac-claims-write", Ref: "RBAC-65", Level: Critical, Title: "can write or delete PVCs or VolumeSnapshots",
		Why:    "Deleting a PersistentVolumeClaim can delete its data; a VolumeSnapshot, or a claim created from one, copies data.",
		Reduce: listNames,
		When:   "Critical where the same subject may delete all PersistentVolumeClaims, and all PersistentVolumes or VolumeSnapshots: there is no way back. Else a warning.",
	})
	UnseenWorkloads = row(Rule{
		Name: "unseen-workloads", Ref: "POD-21", Level: Notice, Title: "can create pods that are not part of this review",
		Why:  "The images and security settings of pods that the operator creates at run time are not known in advance.",
		When: "Always info.",
	})
	RBACEscalate = row(Rule{
		Name: "rbac-escalate", Ref: "RBAC-20", Level: Critical, Title: "can write roles with rights it does not hold (verb escalate)",
		Why:    "With the verb escalate, a subject can write roles with more permissions than it holds itself.",
		Reduce: "Remove the verb escalate, or the wildcard that includes it.",
	})
	RBACBind = row(Rule{
		Name: "rbac-bind", Ref: "RBAC-21", Level: Critical, Title: "can grant roles with more permissions than its own (verb bind)",
		Why:    "Without the verb bind, a subject can only grant roles whose permissions it holds itself.",
		Reduce: "Restrict bind with resourceNames to the roles that the operator binds.",
		When:   "With resourceNames as severe as the worst of these roles; a warning for roles that only the cluster has.",
	})
	RBACRolesWrite = row(Rule{
		Name: "rbac-roles-write", Ref: "RBAC-22", Level: Medium, Title: "can write roles",
		Why:    "A subject can add any permission that it holds itself to a role, for every subject that is bound to the role.",
		Reduce: listNames,
	})
	RBACBindingsWrite = row(Rule{
		Name: "rbac-bindings-write", Ref: "RBAC-23", Level: High, Title: "can write role bindings",
		Why:    "A subject can grant the permissions that it holds itself to any other subject.",
		Reduce: listNames,
	})
	RBACImpersonate = row(Rule{
		Name: "rbac-impersonate", Ref: "RBAC-24", Level: Critical, Title: "can impersonate other identities",
		Why:    "Requests that are made as another user, group or ServiceAccount have all permissions of that identity.",
		Reduce: "Restrict impersonate with resourceNames, or remove the wildcard that includes it.",
	})
	RBACApproveCertificates = row(Rule{
		Name: "rbac-approve-certificates", Ref: "RBAC-40", Level: Critical, Title: "can issue client certificates",
		Why:    "A subject that can create certificate signing requests and approve them for the API server's client signer can get a client certificate for any user name.",
		Reduce: onlySigners,
	})
	RBACSignCertificates = row(Rule{
		Name: "rbac-sign-certificates", Ref: "RBAC-41", Level: Critical, Title: "can sign certificates",
		Why:    "A subject that signs certificate signing requests decides what the certificates say; with the API server's client signer, it can log in as any user.",
		Reduce: "Restrict sign with resourceNames to the signers that the operator needs.",
		When:   "Critical for signers of Kubernetes (kubernetes.io/*), a warning for others.",
	})
	RBACTrustBundles = row(Rule{
		Name: "rbac-trust-bundles", Ref: "RBAC-42", Level: High, Title: "can write trust anchors (ClusterTrustBundles)",
		Why:    "Clients that use a ClusterTrustBundle accept every certificate of a CA in it, so a subject that adds a CA can pose as any server.",
		Reduce: onlyNames,
	})
	RBACInstallersWrite = row(Rule{
		Name: "rbac-installers-write", Ref: "RBAC-81", Level: Critical, Title: "can write objects that install software",
		Why: "Controllers apply what these objects describe with their own, often cluster-admin permissions.",
		Cases: []Case{
			{For: "olm.operatorframework.io operators.coreos.com", Why: "OLM installs the operators that these objects name, with the permissions that they ask for."},
			{For: "argoproj.io", Why: "Argo CD applies the manifests that these objects name, by default with cluster-admin permissions."},
			{For: "kustomize.toolkit.fluxcd.io helm.toolkit.fluxcd.io source.toolkit.fluxcd.io", Why: "Flux applies the manifests and charts that these objects name, by default with cluster-admin permissions."},
			{For: "pkg.crossplane.io apiextensions.crossplane.io", Why: "Crossplane installs the packages, and creates the objects, that these objects describe."},
			{For: "tekton.dev", Title: "can start Tekton runs", Why: "A PipelineRun or TaskRun runs any commands in pods, as any ServiceAccount of its namespace."},
		},
		Reduce: listNames,
		Looks:  installersLook,
		When:   ordersWhen,
	})
	RBACReviews = row(Rule{
		Name: "rbac-reviews", Ref: "RBAC-78", Level: Notice, Title: "can run TokenReviews or SubjectAccessReviews",
		Why: "Normal for programs that check the tokens or permissions of their clients.",
	})
	RBACNodesProxy = row(Rule{
		Name: "rbac-nodes-proxy", Ref: "RBAC-30", Level: Critical, Title: "can call the kubelet API",
		Why:    "The kubelet's API runs commands in any pod of its node, past admission and audit; the verb get is enough.",
		Reduce: "Grant nodes/metrics instead, if only metrics are read.",
	})
	RBACNodesWrite = row(Rule{
		Name: "rbac-nodes-write", Ref: "RBAC-31", Level: Medium, Title: "can change nodes",
		Why:    "Labels, taints and capacity of nodes decide where pods run.",
		Reduce: onlyNames,
	})
	RBACEvict = row(Rule{
		Name: "rbac-evict", Ref: "RBAC-32", Level: High, Title: "can evict pods or delete nodes",
		Why: "Evictions and deleted nodes stop pods, which can cause downtime or force pods onto a chosen node.",
		Cases: []Case{
			{For: "pods/eviction", Title: "can evict pods", Why: "Evictions can cause downtime, or force pods onto a chosen node."},
			{For: "nodes", Title: "can delete nodes", Why: "Pods of a deleted node are stopped, and the node has to join the cluster again."},
		},
		Reduce: listNames,
	})
	RBACNodesRead = row(Rule{
		Name: "rbac-nodes-read", Ref: "RBAC-34", Level: Low, Title: "can read node logs or metrics",
		Why: "Logs of a node may contain secrets, and metrics show what runs on it.",
		Cases: []Case{
			{For: "nodes/log", Title: "can read node logs", Why: "The logs of a node are all files below its /var/log, including logs of all pods and of control plane components; they may contain secrets."},
			{For: "nodes/metrics nodes/stats", Title: "can read node metrics", Why: "Normal for monitoring: metrics show which pods run on a node, and what they use."},
		},
		Reduce: onlyNames,
		When:   "A warning for logs, else info.",
	})
	RBACWebhooksWrite = row(Rule{
		Name: "rbac-webhooks-write", Ref: "RBAC-50", Level: Critical, Title: "can write admission webhooks",
		Why:    "An admission webhook receives every object that its rules cover, Secrets included; a mutating webhook can change them, for example add containers to pods.",
		Reduce: onlyNames,
		When:   "Critical for mutating webhooks, when the subject also writes CustomResourceDefinitions, and for validating ones where nothing else that the subject holds is critical; else a warning.",
	})
	RBACWebhooksDelete = row(Rule{
		Name: "rbac-webhooks-delete", Ref: "RBAC-51", Level: High, Title: "can delete admission webhooks",
		Why:    "Once an admission webhook is deleted, the policies that it enforces no longer apply.",
		Reduce: onlyNames,
	})
	RBACAdmissionPolicies = row(Rule{
		Name: "rbac-admission-policies", Ref: "RBAC-52", Level: Critical, Title: "can write admission policies",
		Why:    "Admission policies refuse or change requests of every user, without a webhook; deleting one ends its checks.",
		Reduce: onlyNames,
		When:   "Critical for mutating policies, a warning for validating ones.",
	})
	RBACCRDsWrite = row(Rule{
		Name: "rbac-crds-write", Ref: "RBAC-53", Level: Critical, Title: "can write CRDs",
		Why:    "A conversion webhook in a CRD receives and can change every custom resource of its kind, and a changed schema can break other operators.",
		Reduce: onlyNames,
		When:   "Critical if the subject may change every CRD, if the subject or the package has a server that can convert their objects, including instructions to other operators, and if nothing else that the subject holds is critical; else a warning.",
	})
	RBACCRDsDelete = row(Rule{
		Name: "rbac-crds-delete", Ref: "RBAC-54", Level: Critical, Title: "can delete CRDs",
		Why:    "Deleting a CRD deletes all its custom resources, in every namespace.",
		Reduce: onlyNames,
		When:   "A warning for CRDs by name, except for CRDs of widely used operators that the plan does not include.",
	})
	RBACAPIServicesWrite = row(Rule{
		Name: "rbac-apiservices-write", Ref: "RBAC-55", Level: Critical, Title: "can write APIServices",
		Why:    "An APIService sends the requests for an API group to a chosen server, with their content and the name of the user.",
		Reduce: onlyNames,
	})
	RBACPrioritiesWrite = row(Rule{
		Name: "rbac-priorities-write", Ref: "RBAC-56", Level: Medium, Title: "can write PriorityClasses, RuntimeClasses or FlowSchemas",
		Why: "These objects decide which pods and API requests come first, and in which sandbox pods run.",
		Cases: []Case{
			{For: "priorityclasses", Title: "can write PriorityClasses", Why: "Pods with a higher priority can evict others from a node."},
			{For: "runtimeclasses", Title: "can write RuntimeClasses", Why: "A RuntimeClass decides in which sandbox the containers of a pod run."},
			{For: "flowschemas prioritylevelconfigurations", Title: "can write FlowSchemas or PriorityLevelConfigurations", Why: "These objects decide whose requests the API server answers first, and whose it refuses under load."},
		},
		Reduce: onlyNames,
	})
	RBACSCC = row(Rule{
		Name: "rbac-scc", Ref: "RBAC-72", Level: High, Title: "can use or write SecurityContextConstraints",
		Why: "SecurityContextConstraints and PodSecurityPolicies decide which pods may run privileged.",
		Cases: []Case{
			{For: "use", Title: "can use SecurityContextConstraints", Why: "The subject's pods may run with all that these SecurityContextConstraints or PodSecurityPolicies allow, such as running as root."},
			{For: "create update patch delete", Title: "can write SecurityContextConstraints", Why: "SecurityContextConstraints and PodSecurityPolicies decide which pods may run privileged, and the subject can change them for itself and others."},
		},
		Reduce: "Use restricted-v2 or nonroot-v2.",
		When:   "Critical where they may be written, and where an account that runs pods may use privileged; else a warning where they may be used.",
	})
	RBACNamespacesChange = row(Rule{
		Name: "rbac-namespaces-change", Ref: "RBAC-60", Level: High, Title: "can change Namespaces",
		Why:    "Labels of a namespace decide its Pod Security level and which NetworkPolicies apply to it.",
		Reduce: listNames,
		When:   amountsWhen,
	})
	RBACNamespacesDelete = row(Rule{
		Name: "rbac-namespaces-delete", Ref: "RBAC-61", Level: Critical, Title: "can delete Namespaces",
		Why:    "Deleting a namespace deletes everything in it.",
		Reduce: listNames,
		When:   "A warning for the namespaces of the release.",
	})
	RBACNamespacesCreate = row(Rule{
		Name: "rbac-namespaces-create", Ref: "RBAC-62", Level: Low, Title: "can create Namespaces",
		Why: "A new namespace has no ResourceQuotas, NetworkPolicies or Pod Security level yet.",
	})
	RBACEndpointsWrite = row(Rule{
		Name: "rbac-endpoints-write", Ref: "RBAC-68", Level: Critical, Title: "can redirect Service traffic (write Endpoints)",
		Why:    "Traffic to a Service goes to the addresses in its EndpointSlices, including pods of other namespaces (CVE-2021-25740).",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch Endpoints and EndpointSlices.",
		When:   "Critical for EndpointSlices of all namespaces or of the control plane, DNS among them; a warning for Endpoints, which only Services without a selector follow, and in other namespaces.",
	})
	RBACServicesWrite = row(Rule{
		Name: "rbac-services-write", Ref: "RBAC-69", Level: Medium, Title: "can write Services",
		Why:    "Services can hijack traffic through externalIPs (CVE-2020-8554), or expose internal workloads.",
		Reduce: listNames,
	})
	RBACIngressWrite = row(Rule{
		Name: "rbac-ingress-write", Ref: "RBAC-70", Level: Medium, Title: "can write Ingresses, Gateways or Routes",
		Why:    "These objects decide where requests for a host name go: traffic of other applications can be redirected or cut off.",
		Reduce: listNames,
	})
	RBACNetworkPoliciesWrite = row(Rule{
		Name: "rbac-network-policies-write", Ref: "RBAC-71", Level: Medium, Title: "can write NetworkPolicies",
		Why:    "NetworkPolicies restrict the traffic between pods, and the subject can lift the restrictions.",
		Reduce: listNames,
	})
	RBACQuotasWrite = row(Rule{
		Name: "rbac-quotas-write", Ref: "RBAC-73", Level: Medium, Title: "can write ResourceQuotas or LimitRanges",
		Why:    "Quotas and limits keep one workload from using up what others need, and the subject can change them.",
		Reduce: listNames,
	})
	RBACEventsWrite = row(Rule{
		Name: "rbac-events-write", Ref: "RBAC-75", Level: Notice, Title: "can write Events",
		Why: "Normal for controllers, which report what they do as Events.",
	})
	RBACLeasesOwn = row(Rule{
		Name: "rbac-leases-own", Ref: "RBAC-76", Level: Notice, Title: "can write Leases",
		Why:   "Normal for controllers, which use a Lease to elect a leader.",
		Looks: "Effective permissions to write Leases in a namespace outside the control plane.",
		Example: Example{
			Title:    "ServiceAccount op: can write Leases in namespace app",
			Evidence: "ServiceAccount app/op in namespace app: create, update on leases in coordination.k8s.io",
		},
	})
	RBACLeasesSystem = row(Rule{
		Name: "rbac-leases-system", Ref: "RBAC-77", Level: Medium, Title: "can write Leases, including the control plane's",
		Why:    "Leases hold the leader election of the control plane and the heartbeats of nodes, so changes can disturb both.",
		Reduce: listNames,
		Looks:  "Effective permissions to write Leases cluster-wide, in kube-system or in kube-node-lease.",
	})
)
