package rules

// The rules about objects that change what happens to others.
var (
	WebhookFailClosedClusterWide = row(Rule{
		Name: "webhook-fail-closed-cluster-wide", Ref: "WH-01", Level: High, Title: "blocks writes while its webhook is down",
		Why:    "With failurePolicy Fail, an outage of the webhook refuses every request it covers, also those that would start it again.",
		Reduce: "Set failurePolicy Ignore, or a namespaceSelector that leaves kube-system out.",
		Looks:  `Webhooks with failurePolicy Fail on the core group or "*", or on kinds that are not the plan's own in namespaces that were not chosen by label to be covered. Which requests an outage refuses follows from the rules, the selectors of namespaces and objects, and the names of the conditions, which are not evaluated.`,
	})
	WebhookBlocksItself = row(Rule{
		Name: "webhook-blocks-itself", Ref: "WH-01", Level: High, Title: "refuses its own pods while it is down",
		Why:    "With failurePolicy Fail, the pods that answer for the webhook have to pass it themselves: once all of them are gone, none can be created, and the configuration has to be deleted by hand.",
		Reduce: "Leave the webhook's own namespace out by its namespaceSelector, or its pods by its objectSelector.",
		Looks:  "Webhooks with failurePolicy Fail on new pods that are answered by a Service of a namespace which their namespaceSelector selects, unless their objectSelector leaves out the pods of the plan behind it.",
	})
	WebhookMutatesPods = row(Rule{
		Name: "webhook-mutates-pods", Ref: "WH-02", Level: High, Title: "changes pods or Secrets of others",
		Why:    "A mutating webhook can add containers to any pod and read any Secret that is written.",
		Reduce: "Restrict its rules or its namespaceSelector.",
		Looks:  "Mutating webhooks with rules on pods, Secrets or everything of the core group.",
	})
	WebhookWithoutCA = row(Rule{
		Name: "webhook-without-ca", Level: Critical, Title: "calls a webhook without a certificate authority",
		Why:    "The API server cannot verify the webhook, so every request that it covers fails or goes unchecked until there is a certificate and a caBundle.",
		Reduce: "Install a bundle with --certs cert-manager or service-ca; of a chart, see that a hook of its own or an issuer fills the caBundle in.",
		Looks:  "Webhooks, conversion webhooks and APIServices that call a Service, have no caBundle and no annotation by which a controller fills one in.",
	})
	ServiceExposed = row(Rule{
		Name: "service-exposed", Ref: "NET-01", Level: Medium, Title: "is reachable from outside the cluster",
		Why:    "Load balancers, node ports, and routes without TLS expose what is behind them.",
		Reduce: "Use a ClusterIP, or TLS.",
		Looks:  "Services of type LoadBalancer or NodePort, Ingresses and Routes without TLS.",
	})
	WebhookOutsideCluster = row(Rule{
		Name: "webhook-outside-cluster", Level: High, Title: "sends requests to a server outside the cluster",
		Why:    "That server sees every object the webhook covers and decides on it.",
		Reduce: "Run the webhook in the cluster and name its Service.",
		Looks:  "Webhooks and conversion webhooks with a URL whose host is neither a Service nor the machine of the API server.",
	})
	APIService = row(Rule{
		Name: "api-service", Level: High, Title: "serves an API group (APIService)",
		Why:    "The API server hands every request to that group over, with the name and groups of the user who sent it; while the server is down, the group is gone and namespaces cannot be deleted.",
		Reduce: "Make sure that the group is the publisher's own, and give the APIService a caBundle.",
		Looks:  "APIServices that name a Service.",
	})
	AdmissionPolicy = row(Rule{
		Name: "admission-policy", Level: High, Title: "refuses or changes requests of others",
		Why:    "An admission policy is evaluated for every user's requests, and with failurePolicy Fail an error in it refuses them.",
		Reduce: "Restrict its matchConstraints, or bind it to the namespaces it is for.",
		Looks:  "ValidatingAdmissionPolicies and MutatingAdmissionPolicies on more than the plan's own kinds.",
		When:   "A warning; info for a validating one that the plan binds without Deny.",
	})
	PriorityClass = row(Rule{
		Name: "priority-class", Level: High, Title: "ranks pods above others",
		Why:    "Pods of a higher priority push others off their nodes; a global default gives every pod without a class that rank.",
		Reduce: "Leave globalDefault out; set preemptionPolicy Never.",
		Looks:  "PriorityClasses that are the global default, or that preempt.",
		When:   "A warning for the global default, else info.",
	})
	ServiceExternalIPs = row(Rule{
		Name: "service-external-ips", Level: High, Title: "takes over addresses",
		Why:    "Traffic from inside the cluster to these addresses goes to the Service, also where they belong to another owner (CVE-2020-8554).",
		Reduce: "Use a load balancer, or a gateway.",
		Looks:  "The field externalIPs of Services.",
	})
	VolumeHostPath = row(Rule{
		Name: "volume-host-path", Level: Critical, Title: "offers a path of the node as a volume",
		Why:    "A pod that claims the volume gets files of a node, also in a namespace whose Pod Security level forbids hostPath.",
		Reduce: "Use a volume of a storage driver.",
		Looks:  "PersistentVolumes of type hostPath or local.",
		When:   "Critical for paths that lead to control over the node, else a warning.",
	})
	TokenOfForeignAccount = row(Rule{
		Name: "token-of-foreign-account", Level: Critical, Title: "takes a token of an account outside this plan",
		Why:    "The cluster fills the Secret with a token that never expires, and a reader of the Secret acts as that account.",
		Reduce: "Remove the Secret; an account's tokens are for its own pods.",
		Looks:  "Secrets of type kubernetes.io/service-account-token for accounts that the plan does not bring.",
	})
	TokenStored = row(Rule{
		Name: "token-stored", Level: Low, Title: "stores a token that never expires",
		Why:    "A copy of it stays valid until the Secret is deleted.",
		Reduce: "Remove the Secret: pods are given tokens that expire.",
		Looks:  "Secrets of type kubernetes.io/service-account-token for accounts of the plan.",
	})
)
