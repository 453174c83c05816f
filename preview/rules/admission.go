package rules

// reachOfWebhooks is the sentence of several rules on how the selectors of a webhook
// change the severity.
const reachOfWebhooks = "Critical where the webhook covers namespaces that were not selected by label, a warning where namespaces or objects are selected by label, info for the release's own namespaces; one level more where its server is outside the cluster, or is a Service that is not in the plan. Conditions (matchConditions) are not evaluated and change nothing."

// The rules about what webhooks and admission policies intercept.
var (
	WebhookSeesSecrets = row(Rule{
		Name: "webhook-sees-secrets", Ref: "WH-03", Level: Critical, Title: "can read Secrets, tokens or configuration in requests (webhook)",
		Why:    "The API server sends the webhook the whole object of every request that it covers, and the old object of a deletion; the webhook needs no RBAC permission to read them.",
		Reduce: "Remove the resource from the webhook's rules, or select namespaces with a namespaceSelector.",
		Looks:  "Webhooks on Secrets, ConfigMaps, token reviews and connections to pods.",
		When:   reachOfWebhooks,
	})
	WebhookMutatesPods = row(Rule{
		Name: "webhook-mutates-pods", Ref: "WH-02", Level: Critical, Title: "can change pods, workloads or Secrets of others",
		Why:    "A webhook that mutates pods or workloads can add containers that run with their ServiceAccounts and volumes; one that mutates Secrets reads and can change every Secret that is written.",
		Reduce: "Restrict the webhook's rules or its namespaceSelector.",
		Looks:  "Mutating webhooks on pods, their subresources, the workloads that create pods, Secrets, or everything.",
		When:   reachOfWebhooks,
	})
	WebhookChangesObjects = row(Rule{
		Name: "webhook-changes-objects", Ref: "WH-02", Level: Critical, Title: "can change objects of others (webhook)",
		Why:    "What the webhook writes into a request is done with the permissions of the user who sent the request.",
		Reduce: "Restrict the webhook's rules to the package's own kinds, or its namespaceSelector.",
		Looks:  "Mutating webhooks on other kinds that the plan does not define, as severe as permission to write them.",
		When:   reachOfWebhooks,
	})
	AdmissionOutage = row(Rule{
		Name: "admission-outage", Level: Critical, Title: "refuses requests that keep the cluster running",
		Why:    "Nodes renew Leases and report their status, and controllers elect leaders, every few seconds. If these requests are refused, nodes count as lost within a minute, and nothing can be created, changed or removed, not even by this program, until an administrator deletes the binding or the webhook configuration; no policy or webhook can refuse that.",
		Reduce: "Exclude the namespaces kube-system and kube-node-lease and the group system:nodes with a namespaceSelector and matchConditions, or name only the resources that are meant.",
		Looks:  "ValidatingAdmissionPolicies with a binding in the plan that denies requests of nodes, of control plane controllers, or every new pod of kube-system: their rules, selectors, conditions and expressions are evaluated on such requests, with the parameters in the package; a policy without its parameters in the package refuses if its binding says so (parameterNotFoundAction Deny). Also webhooks with failurePolicy Fail that receive these requests, and so refuse them while they do not answer.",
	})
	WebhookWithoutCA = row(Rule{
		Name: "webhook-without-ca", Level: High, Title: "names a server that cannot be verified (empty caBundle)",
		Why:    "Without a caBundle the API server cannot verify the server it calls: the calls fail until one is filled in, and with failurePolicy Ignore the check is skipped.",
		Reduce: "Install a bundle with --certs cert-manager, service-ca or generated; for a chart, make sure that a hook or an annotation fills in the caBundle.",
		Looks:  "Webhooks, conversion webhooks of CustomResourceDefinitions with several versions, and APIServices that call a Service and have neither a caBundle nor an annotation that makes a controller fill one in. One finding for each package.",
		When:   "A warning; info where a ServiceAccount of the plan may update each of these objects, as a Job that fills in the caBundle does.",
	})
	AdmissionAdds = row(Rule{
		Name: "admission-adds", Level: Medium, Title: "is changed by admission in the cluster",
		Why:    "A webhook or an admission policy of the cluster changes the object when it is created. The evidence lists the fields that then differ from the package; they are judged, approved and compared like the package's own content.",
		Reduce: "Check the mutating webhooks and admission policies of the cluster, and which namespaces and objects they select.",
		Looks:  "Objects of built-in kinds that the plan creates, whose dry run returns more than what was sent and the API server's own defaults. If the plan creates the namespace too, the dry run is of a copy in namespace default.",
		Example: Example{
			Of:       "Deployment web",
			Evidence: "apps/Deployment/demo/web: .spec.template.spec.hostNetwork: true",
		},
	})
	CAChanged = row(Rule{
		Name: "ca-changed", Level: High, Title: "makes the API server trust another CA",
		Why:    "The API server uses the caBundle to verify the server that it calls: a server with a certificate of the new CA gets the requests, and calls to a server with a certificate of the old CA fail.",
		Reduce: "Make sure that the certificate of the server changes too, and find out who has the key of the new CA.",
		Looks:  "Updates that change or remove the caBundle of a webhook, of the conversion webhook of a CustomResourceDefinition, or of an APIService.",
		Example: Example{
			Of:       "ValidatingWebhookConfiguration shop:",
			Evidence: "admissionregistration.k8s.io/ValidatingWebhookConfiguration/-/shop: .webhooks[name=\"orders.shop.example.com\"].clientConfig.caBundle: certificate of CN=shop-ca, SHA-256 6f8d0c2b91e57a4410d3 -> certificate of CN=ca, SHA-256 b1794e03fa265c8dd902",
		},
	})
	AdmissionBinding = row(Rule{
		Name: "admission-binding", Level: Critical, Title: "puts an admission policy into effect for other users",
		Why:    "An admission policy has no effect until it is bound; the binding decides which requests it refuses or changes, and with which parameters.",
		Reduce: "Restrict the binding's matchResources to the namespaces it is meant for.",
		Looks:  "Bindings of ValidatingAdmissionPolicies and MutatingAdmissionPolicies on more than the plan's own kinds, with the policy from the plan or the cluster.",
		When:   "As severe as the policy; info for a validating binding without Deny.",
	})
)
