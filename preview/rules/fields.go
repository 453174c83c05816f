package rules

// The rules about fields of the kinds that Kubernetes itself serves.
var (
	FieldNotJudged = row(Rule{
		Name: "field-not-judged", Level: Low, Title: "has fields that no rule judges",
		Why:    "This version of the program does not know the field, so what it does was not judged: it is one of a later Kubernetes, or none.",
		Reduce: "Correct or remove the field, or use a version of the program that knows it.",
		Looks:  "Every field of objects of the kinds that Kubernetes serves, against the table of its fields; kinds and versions of its API groups that the table does not have.",
	})
	ProtectionWeakened = row(Rule{
		Name: "protection-weakened", Level: High, Title: "protects less than before",
		Why:    "A setting that the cluster has limits what the workload, its users or an attacker can do, and the plan takes it away.",
		Reduce: "Keep the setting; ask the publisher why it was dropped.",
		Looks: "Objects that the cluster has and the plan changes or deletes: hardening in security contexts, tokens that were not mounted, NetworkPolicies, ResourceQuotas and LimitRanges, " +
			"failurePolicy of webhooks and admission policies, verification of TLS, validation in CustomResourceDefinitions, volumes that were kept.",
		When: "Info for CustomResourceDefinitions, else a warning.",
		Example: Example{
			Of:       "Deployment op:",
			Evidence: "apps/Deployment/app/op: spec.template.spec.containers[op].securityContext.runAsNonRoot: true → not set",
		},
	})
	PodForeignSecret = row(Rule{
		Name: "pod-foreign-secret", Level: Critical, Title: "takes Secrets or volumes of a namespace of others",
		Why:    "The pod reads them without any right to read Secrets.",
		Reduce: "Run the pod in the namespace of the release, with Secrets and claims of the package.",
		Looks:  "Secrets and PersistentVolumeClaims that pods outside the release's namespaces mount or read into variables, and that the plan does not bring.",
		When:   "Critical in namespaces of the control plane, else a warning.",
	})
)
