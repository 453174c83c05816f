package rules

// Sentences that several rules in this file share.
const (
	leaveToAdministrators = "Leave it to the administrators of the cluster."
	leaveItOut            = "Remove the object from the package."
	criticalSecrets       = "Critical for Secrets of a namespace of the control plane, else a warning."
	ownNamespaceOnly      = "Refer only to objects in the namespace of the release."
)

// The rules about objects that affect storage, traffic, names, certificates or capacity
// of other users. These need no rights: the object itself has the effect.
var (
	StorageDriver = row(Rule{
		Name: "storage-driver", Level: Critical, Title: "receives tokens of pods (CSIDriver)",
		Why:    "For each pod that mounts a volume of the driver, the kubelet hands the driver a token of the pod's ServiceAccount.",
		Reduce: "Request tokens for the driver's own audience.",
		Looks:  "spec.tokenRequests of CSIDrivers.",
		When:   "Critical for an empty audience, because the API server accepts such tokens; else a warning.",
		Source: "https://kubernetes-csi.github.io/docs/token-requests.html",
	})
	StorageClass = row(Rule{
		Name: "storage-class", Level: Critical, Title: "decides how volumes of others are provisioned",
		Why:    "PersistentVolumeClaims of others get volumes from this class, or its driver gets Secrets of another namespace.",
		Reduce: "Do not make the class the default, rename it, and keep its Secrets in the namespace of the driver.",
		Looks:  "StorageClasses and snapshot classes: the default annotation, names of the classes that clouds create, Secrets of other namespaces in parameters, and mount options.",
		When:   criticalSecrets,
	})
	VolumeOfOthers = row(Rule{
		Name: "volume-of-others", Level: Critical, Title: "reaches storage or Secrets of another namespace",
		Why:    "The package can mount data of others, or others mount data that the package prepared.",
		Reduce: ownNamespaceOnly,
		Looks:  "claimRef and the references to Secrets of PersistentVolumes, VolumeSnapshotContents that name a snapshot by its handle, and PersistentVolumeClaims that name a volume or take data from another namespace.",
		When:   criticalSecrets,
	})
	VolumeAddress = row(Rule{
		Name: "volume-address", Level: High, Title: "names storage by its address (PersistentVolume)",
		Why:    "Nodes mount whatever the volume names, including a server or a disk of others.",
		Reduce: "Have a StorageClass provision the volume.",
		Looks:  "Sources of PersistentVolumes; for paths of nodes, see volume-host-path.",
	})
	StorageInternals = row(Rule{
		Name: "storage-internals", Level: High, Title: "is normally created by storage controllers, not by packages",
		Why:    "Objects of this kind attach disks to nodes, or say which drivers and how much storage nodes have.",
		Reduce: leaveItOut,
		Looks:  "VolumeAttachments, CSINodes and CSIStorageCapacities.",
	})

	ServiceRedirects = row(Rule{
		Name: "service-redirects", Level: High, Title: "uses a name, an address or pods of others (Service)",
		Why:    "Clients send their traffic to a destination that they do not expect.",
		Reduce: "Use a Service of type ClusterIP that selects the release's own pods.",
		Looks:  "Services: type ExternalName and its target, fixed addresses, DNS names by annotation, and selectors in namespaces of others.",
		When:   "Info for a headless Service in a namespace of others, else a warning.",
	})
	EndpointsOfOthers = row(Rule{
		Name: "endpoints-of-others", Level: Critical, Title: "decides where traffic of a Service goes",
		Why:    "Clients of the Service send their traffic, credentials included, to these addresses, past NetworkPolicies and selectors (CVE-2021-25740).",
		Reduce: "Give the Service a selector.",
		Looks:  "Addresses in Endpoints and EndpointSlices.",
		When:   "Critical in a namespace of the control plane, and for addresses of metadata servers and of nodes themselves, else a warning.",
		Source: "https://github.com/kubernetes/kubernetes/issues/103675",
	})
	IngressTakesHosts = row(Rule{
		Name: "ingress-takes-hosts", Level: High, Title: "receives requests for hosts of others",
		Why:    "The backend receives requests that no other rule matches, or that others expect to receive.",
		Reduce: "Name only hosts that belong to the release.",
		Looks:  "Ingresses and Routes without a host, with a wildcard host or outside the release's namespace, and default IngressClasses.",
		When:   "Info for a wildcard below a domain, else a warning.",
	})
	IngressSnippet = row(Rule{
		Name: "ingress-snippet", Level: Critical, Title: "writes configuration of the ingress controller",
		Why:    "This configuration runs in the ingress controller, whose account may read every Secret of the cluster (CVE-2021-25742).",
		Reduce: "Use the annotations that the controller offers for the purpose.",
		Looks:  "Annotations of Ingresses that contain snippets, have values that break out of their place in the configuration, name Secrets of other namespaces, or send requests to other servers.",
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
		Name: "reference-grant", Level: Critical, Title: "lets other namespaces use objects of this one",
		Why:    "Gateways and routes of the named namespaces may use these Secrets or Services.",
		Reduce: "Grant single objects by name, in a namespace of the release.",
		Looks:  "ReferenceGrants, by their namespace and what they give access to.",
		When:   "Critical for Secrets of a namespace that is not the release's, else a warning.",
	})
	NetworkPolicyOpens = row(Rule{
		Name: "network-policy-opens", Level: High, Title: "changes which traffic reaches pods of others",
		Why:    "Policies add up: no policy refuses what another allows, and the first policy of a pod blocks everything that it does not allow.",
		Reduce: "Select the release's own pods.",
		Looks:  "NetworkPolicies that are outside the release's namespace, open every pod or reach metadata servers, and policies for the whole cluster.",
	})
	AddressRange = row(Rule{
		Name: "address-range", Level: High, Title: "reserves addresses of Services",
		Why:    "The object can take addresses of other Services, or leave none for new ones.",
		Reduce: leaveToAdministrators,
		Looks:  "ServiceCIDRs and IPAddresses.",
	})

	NamespaceSettings = row(Rule{
		Name: "namespace-settings", Level: Critical, Title: "changes settings enforced in a namespace",
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
		When:   "A warning for the name of a sandbox whose handler is not a sandbox, and for tolerations and selectors of nodes, else info.",
	})
	FlowControl = row(Rule{
		Name: "flow-control", Level: High, Title: "changes whose requests the API server serves first",
		Why:    "Requests of the control plane and of nodes wait behind these requests, or are refused.",
		Reduce: "Match only the release's accounts, after the built-in FlowSchemas.",
		Looks:  "FlowSchemas and PriorityLevelConfigurations.",
		When:   "Info for a FlowSchema of the release's own accounts after the built-in ones, else a warning.",
	})
	CertificateRequest = row(Rule{
		Name: "certificate-request", Level: Critical, Title: "requests a certificate",
		Why:    "After approval, the certificate is an identity that cannot be revoked.",
		Reduce: "Use ServiceAccount tokens.",
		Looks:  "CertificateSigningRequests, with the subject inside the request, and PodCertificateRequests.",
		When:   "Critical for names and groups that begin with system:, for nodes and for certificate authorities, else a warning.",
	})
	TrustBundle = row(Rule{
		Name: "trust-bundle", Level: Critical, Title: "decides which certificates are trusted",
		Why:    "Pods that mount the bundle trust whatever these authorities sign.",
		Reduce: "Mount a ConfigMap of the release instead.",
		Looks:  "ClusterTrustBundles.",
		When:   "Critical for signers of Kubernetes, else a warning.",
	})
	DeviceAccess = row(Rule{
		Name: "device-access", Level: High, Title: "reaches or takes away devices of others",
		Why:    "Admin access opens devices that other pods use; slices and taints decide which devices nodes have and which pods keep them.",
		Reduce: leaveToAdministrators,
		Looks:  "adminAccess of ResourceClaims, settings for drivers in ResourceClaims and DeviceClasses, ResourceSlices, DeviceTaintRules, and DeviceClasses that answer for an extended resource.",
	})
	LimitsOfOthers = row(Rule{
		Name: "limits-of-others", Level: High, Title: "limits, scales or holds back workloads outside the release",
		Why:    "Others cannot create pods, or nodes cannot be drained.",
		Reduce: "Allow one disruption, and select only pods of the release.",
		Looks:  "ResourceQuotas, LimitRanges, PodDisruptionBudgets and HorizontalPodAutoscalers outside the release's namespace, and budgets that never allow a disruption.",
	})
	ControlPlaneObject = row(Rule{
		Name: "control-plane-object", Level: High, Title: "is normally created by the control plane, not by packages",
		Why:    "Objects of this kind stand for nodes, locks or decisions that only the control plane makes, or are instructions that are carried out once.",
		Reduce: leaveItOut,
		Looks:  "Nodes, Bindings, evictions, ControllerRevisions, token requests, storage migrations, Leases of the control plane, Events and reviews.",
		When:   "Info for Events and reviews, else a warning.",
	})
)
