package rules

// Sentences that several rules in this file share.
const (
	leaveToAdministrators = "Leave it to the administrators of the cluster."
	leaveItOut            = "Leave it out."
	criticalSecrets       = "Critical for Secrets of a namespace of the control plane, else a warning."
	ownNamespaceOnly      = "Name what is in the namespace of the release alone."
)

// The rules about objects that affect storage, traffic, names, certificates or capacity
// of other users. These need no rights: the object itself has the effect.
var (
	StorageDriver = row(Rule{
		Name: "storage-driver", Level: Critical, Title: "receives tokens of pods (CSIDriver)",
		Why:    "For each pod that mounts a volume of the driver, the kubelet hands the driver a token of the pod's ServiceAccount.",
		Reduce: "Request tokens for an audience of the driver's own.",
		Looks:  "spec.tokenRequests of CSIDrivers.",
		When:   "Critical for an empty audience, whose tokens the API server accepts, else a warning.",
		Source: "https://kubernetes-csi.github.io/docs/token-requests.html",
	})
	StorageClass = row(Rule{
		Name: "storage-class", Level: Critical, Title: "decides how others' volumes are made",
		Why:    "Claims of others get volumes from this class, or its driver gets Secrets of another namespace.",
		Reduce: "Make it no default, give it a name of its own, and keep its Secrets in the namespace of the driver.",
		Looks:  "StorageClasses and snapshot classes: the default annotation, names of the classes that clouds make, Secrets of other namespaces in parameters, and mount options.",
		When:   criticalSecrets,
	})
	VolumeOfOthers = row(Rule{
		Name: "volume-of-others", Level: Critical, Title: "reaches storage or Secrets of another namespace",
		Why:    "Data of others is mounted, or others mount data that the package prepared.",
		Reduce: ownNamespaceOnly,
		Looks:  "claimRef and the references to Secrets of PersistentVolumes, snapshot contents that name a snapshot by its handle, and claims that name a volume or take data from another namespace.",
		When:   criticalSecrets,
	})
	VolumeAddress = row(Rule{
		Name: "volume-address", Level: High, Title: "is storage named by its address (PersistentVolume)",
		Why:    "Nodes mount what the volume names, a server or a disk of others included.",
		Reduce: "Have a StorageClass provision the volume.",
		Looks:  "Sources of PersistentVolumes other than paths of nodes, which are the finding volume-host-path.",
	})
	StorageInternals = row(Rule{
		Name: "storage-internals", Level: High, Title: "is made by controllers of storage, not by packages",
		Why:    "Objects of this kind attach disks to nodes, or say which drivers and how much storage nodes have.",
		Reduce: leaveItOut,
		Looks:  "VolumeAttachments, CSINodes and CSIStorageCapacities.",
	})

	ServiceRedirects = row(Rule{
		Name: "service-redirects", Level: High, Title: "takes a name, an address or pods of others (Service)",
		Why:    "Traffic goes where clients do not expect it.",
		Reduce: "Use a Service of type ClusterIP that selects the release's own pods.",
		Looks:  "Services: type ExternalName and where it leads, fixed addresses, DNS names by annotation, and selectors in namespaces of others.",
		When:   "Info for a headless Service in a namespace of others, else a warning.",
	})
	EndpointsOfOthers = row(Rule{
		Name: "endpoints-of-others", Level: Critical, Title: "decides where traffic of a Service goes",
		Why:    "Whatever trusts the Service sends its traffic, credentials included, to these addresses, past NetworkPolicies and selectors (CVE-2021-25740).",
		Reduce: "Give the Service a selector.",
		Looks:  "Addresses in Endpoints and EndpointSlices.",
		When:   "Critical in a namespace of the control plane, and for addresses of metadata servers and of nodes themselves, else a warning.",
		Source: "https://github.com/kubernetes/kubernetes/issues/103675",
	})
	IngressTakesHosts = row(Rule{
		Name: "ingress-takes-hosts", Level: High, Title: "takes requests to hosts of others",
		Why:    "Requests that no other rule takes, or that others expect, come to it.",
		Reduce: "Name the hosts that are the release's own.",
		Looks:  "Ingresses and Routes without host, with a wildcard or outside the release's namespace, and default IngressClasses.",
		When:   "Info for a wildcard below a domain, else a warning.",
	})
	IngressSnippet = row(Rule{
		Name: "ingress-snippet", Level: Critical, Title: "writes configuration of the ingress controller",
		Why:    "What is written there runs in the ingress controller, whose account may read every Secret of the cluster (CVE-2021-25742).",
		Reduce: "Use the annotations that the controller offers for the purpose.",
		Looks:  "Annotations of Ingresses with snippets, those whose values leave their place in the configuration, those that name Secrets of other namespaces, and those that send requests elsewhere.",
		When:   "Critical for configuration, a warning for Secrets of others and for other servers.",
		Source: "https://github.com/kubernetes/kubernetes/issues/126811",
	})
	GatewayOfOthers = row(Rule{
		Name: "gateway-of-others", Level: High, Title: "shares a gateway with other namespaces",
		Why:    "Routes of one namespace take traffic of another, or use its Services and certificates.",
		Reduce: ownNamespaceOnly,
		Looks:  "Listeners that admit routes of all namespaces, routes for every host, and references to Services and Secrets of other namespaces.",
		When:   "Info for a route with hosts of its own on a gateway of another namespace, else a warning.",
	})
	ReferenceGrant = row(Rule{
		Name: "reference-grant", Level: Critical, Title: "lets other namespaces use what is in this one",
		Why:    "Gateways and routes of the namespaces named may use these Secrets or Services.",
		Reduce: "Grant single objects by name, from a namespace of the release's own.",
		Looks:  "ReferenceGrants, by where they are and what they open.",
		When:   "Critical for Secrets of a namespace that is not the release's, else a warning.",
	})
	NetworkPolicyOpens = row(Rule{
		Name: "network-policy-opens", Level: High, Title: "changes which traffic reaches pods of others",
		Why:    "Policies add up: what one allows, no other refuses, and a first policy cuts off what it does not allow.",
		Reduce: "Select the release's own pods.",
		Looks:  "NetworkPolicies outside the release's namespace, those that open every pod or reach metadata servers, and policies for the whole cluster.",
	})
	AddressRange = row(Rule{
		Name: "address-range", Level: High, Title: "takes addresses of Services",
		Why:    "Addresses of others can be taken, or no Service gets one any more.",
		Reduce: leaveToAdministrators,
		Looks:  "ServiceCIDRs and IPAddresses.",
	})

	NamespaceSettings = row(Rule{
		Name: "namespace-settings", Level: Critical, Title: "changes what is enforced in a namespace",
		Why:    "Admission, scheduling and other controllers read these labels and annotations for every pod of the namespace.",
		Reduce: leaveToAdministrators,
		Looks:  "Labels, annotations and finalizers of Namespaces.",
		When:   "Critical where Pod Security is relaxed in a namespace that is not the release's, info for the injection of sidecars into the release's own, else a warning.",
	})
	RuntimeClass = row(Rule{
		Name: "runtime-class", Level: High, Title: "decides how and where pods run (RuntimeClass)",
		Why:    "Pods that name the class run by its handler, on the nodes and with the tolerations that it adds.",
		Reduce: leaveToAdministrators,
		Looks:  "Handlers and scheduling of RuntimeClasses.",
		When:   "A warning for the name of a sandbox with a handler that is none, and for tolerations and selectors of nodes, else info.",
	})
	FlowControl = row(Rule{
		Name: "flow-control", Level: High, Title: "changes whose requests the API server serves first",
		Why:    "Requests of the control plane and of nodes wait behind these, or have no place left.",
		Reduce: "Match the release's own accounts, behind the precedence of built-in FlowSchemas.",
		Looks:  "FlowSchemas and PriorityLevelConfigurations.",
		When:   "Info for a schema of the release's own accounts behind those of the system, else a warning.",
	})
	CertificateRequest = row(Rule{
		Name: "certificate-request", Level: Critical, Title: "asks for a certificate",
		Why:    "Once it is approved, the certificate is an identity that cannot be revoked.",
		Reduce: "Use ServiceAccount tokens.",
		Looks:  "CertificateSigningRequests, with the subject inside the request, and PodCertificateRequests.",
		When:   "Critical for names and groups that begin with system:, for nodes and for certificate authorities, else a warning.",
	})
	TrustBundle = row(Rule{
		Name: "trust-bundle", Level: Critical, Title: "decides which certificates are trusted",
		Why:    "Pods that mount the bundle trust whatever these authorities sign.",
		Reduce: "Mount a ConfigMap of the release's own.",
		Looks:  "ClusterTrustBundles.",
		When:   "Critical for signers of Kubernetes, else a warning.",
	})
	DeviceAccess = row(Rule{
		Name: "device-access", Level: High, Title: "reaches or takes away devices of others",
		Why:    "Admin access gives devices that other pods use; slices and taints decide what devices nodes have and who keeps them.",
		Reduce: leaveToAdministrators,
		Looks:  "adminAccess of ResourceClaims, settings for drivers in ResourceClaims and DeviceClasses, ResourceSlices, DeviceTaintRules, and DeviceClasses that answer for an extended resource.",
	})
	LimitsOfOthers = row(Rule{
		Name: "limits-of-others", Level: High, Title: "limits or scales what is not its own",
		Why:    "Others can create no pods, or nodes cannot be drained.",
		Reduce: "Let one pod be disrupted, and select the release's own.",
		Looks:  "ResourceQuotas, LimitRanges, PodDisruptionBudgets and HorizontalPodAutoscalers outside the release's namespace, and budgets that never allow a disruption.",
	})
	ControlPlaneObject = row(Rule{
		Name: "control-plane-object", Level: High, Title: "is made by the control plane, not by packages",
		Why:    "Objects of this kind stand for nodes, locks or decisions that the control plane alone makes, or are orders that are carried out once.",
		Reduce: leaveItOut,
		Looks:  "Nodes, Bindings, evictions, ControllerRevisions, token requests, storage migrations, Leases of the control plane, Events and reviews.",
		When:   "Info for Events and reviews, else a warning.",
	})
)
