package rules

// reachOfWebhooks is the sentence of several rules on how the selectors of a webhook
// change the severity.
const reachOfWebhooks = "Critical where namespaces are covered that were not selected by a label, a warning where namespaces or objects are selected by label, info for the release's own namespaces; one level more where the webhook is answered outside the cluster, or by a Service that is not in the plan. Conditions (matchConditions) are not evaluated and change nothing."

// The rules about what webhooks and admission policies intercept.
var (
	WebhookSeesSecrets = row(Rule{
		Name: "webhook-sees-secrets", Ref: "WH-03", Level: Critical, Title: "can read Secrets, tokens or configuration in requests (webhook)",
		Why:    "The API server sends a webhook the whole object of every request that it covers, and of a deletion the old object; no right in RBAC is needed to read them.",
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
		Why:    "What the webhook writes into a request is done with the rights of the user who sent the request.",
		Reduce: "Restrict the webhook's rules to the package's own kinds, or its namespaceSelector.",
		Looks:  "Mutating webhooks on other kinds that the plan does not bring, as severe as the right to write them.",
		When:   reachOfWebhooks,
	})
	AdmissionOutage = row(Rule{
		Name: "admission-outage", Level: Critical, Title: "refuses what keeps the cluster running",
		Why:    "Nodes renew Leases and report their status, and controllers elect leaders, every few seconds. Where these requests are refused, nodes count as gone within a minute, and nothing is created, changed or removed any more, by this program neither, until an administrator deletes the binding or the webhook configuration, which no policy and no webhook is asked about.",
		Reduce: "Leave out the namespaces kube-system and kube-node-lease and the group system:nodes, by a namespaceSelector and matchConditions, or name the resources that are meant.",
		Looks:  "ValidatingAdmissionPolicies that a binding of the plan has deny requests of nodes, of the controllers of the control plane, or every new pod of kube-system: their rules, selectors, conditions and expressions are evaluated on such requests, with the parameters that the package brings; one whose parameters it does not bring refuses where its binding says so (parameterNotFoundAction Deny). And webhooks with failurePolicy Fail that these requests are sent to, so that they are refused while it does not answer.",
	})
	WebhookWithoutCA = row(Rule{
		Name: "webhook-without-ca", Level: High, Title: "names a server that cannot be verified (empty caBundle)",
		Why:    "Without a caBundle the API server cannot verify the server it calls: the calls fail until one is filled in, and with failurePolicy Ignore the check is skipped.",
		Reduce: "Install a bundle with --certs cert-manager, service-ca or generated; for a chart, make sure that a hook or an annotation fills in the caBundle.",
		Looks:  "Webhooks, conversion webhooks of CustomResourceDefinitions with several versions, and APIServices that call a Service, have no caBundle and no annotation by which a controller fills one in. One finding for each package.",
		When:   "A warning; info where a ServiceAccount of the plan may update each of these objects, as a job that fills the caBundle in.",
	})
	AdmissionAdds = row(Rule{
		Name: "admission-adds", Level: Medium, Title: "is changed by admission of the cluster",
		Why:    "A webhook or an admission policy of the cluster changes the object when it is created: the evidence lists the fields that the package does not set so. They are judged, approved and compared like the package's own content.",
		Reduce: "Look at the mutating webhooks and admission policies of the cluster, and at the namespaces and objects that they select.",
		Looks:  "Objects of built-in kinds that are created, whose dry run answers with more than what is sent and the API server's own defaults. Where the namespace comes with the plan, it is a dry run of a copy in namespace default.",
		Example: Example{
			Of:       "Deployment web",
			Evidence: "apps/Deployment/demo/web: .spec.template.spec.hostNetwork: true",
		},
	})
	CAChanged = row(Rule{
		Name: "ca-changed", Level: High, Title: "makes the API server trust another CA",
		Why:    "By the caBundle the API server verifies the server that it sends requests to: one with a certificate of the new CA gets them, and calls to one with a certificate of the CA before fail.",
		Reduce: "Make sure that the certificate of the server changes with it, and who has the key of the new CA.",
		Looks:  "Updates that change or remove a caBundle: of a webhook, of the conversion webhook of a CustomResourceDefinition, or of an APIService.",
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
