package rules

// The rules about objects that affect other users of the cluster, such as webhooks.
var (
	WebhookFailClosedClusterWide = row(Rule{
		Name: "webhook-fail-closed-cluster-wide", Ref: "WH-01", Level: High, Title: "blocks writes while its webhook is down",
		Why:    "With failurePolicy Fail, an outage of the webhook stops every request that it covers, including requests of other workloads.",
		Reduce: "Set failurePolicy to Ignore, or exclude namespaces such as kube-system with a namespaceSelector.",
		Looks:  `Webhooks with failurePolicy Fail on the core group or "*", or on kinds that are not the plan's own in namespaces that were not selected by label. The rules, the namespace and object selectors, and the names of the conditions decide which requests an outage refuses; the conditions are not evaluated.`,
	})
	WebhookBlocksItself = row(Rule{
		Name: "webhook-blocks-itself", Ref: "WH-01", Level: High, Title: "refuses its own pods while it is down",
		Why:    "With failurePolicy Fail, new pods of the webhook's own Service must pass the webhook: once all of them are gone, none can be created until the webhook configuration is deleted.",
		Reduce: "Exclude the webhook's own namespace with a namespaceSelector, or its pods with an objectSelector.",
		Looks:  "Webhooks with failurePolicy Fail on new pods whose namespaceSelector selects the namespace of their own Service, unless their objectSelector excludes the plan's pods behind that Service.",
	})
	ServiceExposed = row(Rule{
		Name: "service-exposed", Ref: "NET-01", Level: Medium, Title: "is reachable from outside the cluster",
		Why: "Services of type LoadBalancer or NodePort, Ingresses and Routes can be reached from outside the cluster.",
		Cases: []Case{
			{For: "of-type LoadBalancer", Why: "A Service of type LoadBalancer gets an address outside the cluster."},
			{For: "of-type NodePort", Title: "is reachable on a port of every node", Why: "A Service of type NodePort opens its ports on the addresses of all nodes."},
			{For: "no-tls", Title: "is reachable from outside the cluster without TLS", Why: "Without TLS, traffic from outside the cluster, including passwords in it, can be read and changed on its way."},
		},
		Reduce: "Use a Service of type ClusterIP, or an Ingress or Route with TLS.",
		Looks:  "Services of type LoadBalancer or NodePort, Ingresses and Routes without TLS.",
	})
	WebhookOutsideCluster = row(Rule{
		Name: "webhook-outside-cluster", Level: High, Title: "sends requests to a server outside the cluster",
		Why:    "The server outside the cluster sees every object that the webhook covers, and can refuse or change it.",
		Reduce: "Run the webhook in the cluster, and name its Service in clientConfig.",
		Looks:  "Webhooks and conversion webhooks with a URL whose host is neither a Service nor the machine of the API server.",
	})
	APIService = row(Rule{
		Name: "api-service", Level: Critical, Title: "serves an API group (APIService)",
		Why:    "The API server forwards every request for the API group to the Service, with the name and groups of the user; while the Service is down, the group is unavailable and namespaces cannot be deleted.",
		Reduce: "Make sure that the API group belongs to the publisher, and give the APIService a caBundle.",
		Looks:  "APIServices that name a Service, whether the Service is verified, and whether the group takes precedence over the groups of Kubernetes.",
		When:   "Critical for an API group of Kubernetes itself, or of another system whose kinds instruct a controller; else a warning.",
	})
	AdmissionPolicy = row(Rule{
		Name: "admission-policy", Level: Critical, Title: "refuses or changes requests of other users",
		Why:    "An admission policy is evaluated for the requests of every user, and with failurePolicy Fail an error in the policy refuses them.",
		Reduce: "Restrict the policy with matchConstraints, or bind it only to the namespaces it is meant for.",
		Looks:  "ValidatingAdmissionPolicies and MutatingAdmissionPolicies on more than the plan's own kinds.",
		When:   "Critical for a mutating policy that reaches pods, workloads, Secrets, RBAC or volumes in namespaces that were not selected by label; info for a validating policy that the plan binds without Deny; otherwise a warning.",
	})
	PriorityClass = row(Rule{
		Name: "priority-class", Level: High, Title: "raises the priority of pods",
		Why:    "Pods with a higher priority can evict others from a node; a PriorityClass that is the global default applies to every pod that names none.",
		Reduce: "Remove globalDefault, or set preemptionPolicy to Never.",
		Looks:  "PriorityClasses that are the global default, or that preempt.",
		When:   "A warning for the global default, else info.",
	})
	ServiceExternalIPs = row(Rule{
		Name: "service-external-ips", Level: Critical, Title: "claims IP addresses (externalIPs)",
		Why:    "Traffic from inside the cluster to these addresses goes to this Service, even if the addresses belong to another owner (CVE-2020-8554).",
		Reduce: "Use a Service of type LoadBalancer, or a gateway.",
		Looks:  "The field externalIPs of Services.",
		When:   "Critical for addresses of the internet, a warning for private ones.",
	})
	VolumeHostPath = row(Rule{
		Name: "volume-host-path", Level: Critical, Title: "offers a path of a node as a volume",
		Why:    "A pod that claims the volume gets files of the node, even in a namespace whose Pod Security level forbids hostPath volumes.",
		Reduce: "Use a volume of a CSI driver.",
		Looks:  "PersistentVolumes of type hostPath or local.",
		When:   "Critical for paths that lead to control over the node, else a warning.",
	})
	TokenOfForeignAccount = row(Rule{
		Name: "token-of-foreign-account", Level: Critical, Title: "requests a token of a ServiceAccount outside this plan",
		Why:    "Kubernetes writes a token that never expires into the Secret, and every reader of the Secret can act as that ServiceAccount.",
		Reduce: "Remove the Secret; only the ServiceAccount's own pods should have its token.",
		Looks:  "Secrets of type kubernetes.io/service-account-token for accounts that are not in the plan.",
	})
	TokenStored = row(Rule{
		Name: "token-stored", Level: Low, Title: "stores a ServiceAccount token that never expires",
		Why:    "A copy of the token stays valid until the Secret is deleted.",
		Reduce: "Remove the Secret: pods get tokens that expire.",
		Looks:  "Secrets of type kubernetes.io/service-account-token for accounts of the plan.",
	})
)
