package rules

// The rules about fields of the kinds that Kubernetes itself serves.
var (
	FieldNotJudged = row(Rule{
		Name: "field-not-judged", Level: Low, Title: "has fields that no rule judges",
		Why:    "This version of the program does not know the field, so its effect was not judged: it comes from a newer Kubernetes, or does not exist.",
		Reduce: "Correct or remove the field, or use a version of the program that knows it.",
		Looks:  "Every field of built-in kinds, compared with the table of Kubernetes fields; kinds and versions in Kubernetes API groups that the table does not list.",
	})
	ProtectionWeakened = row(Rule{
		Name: "protection-weakened", Level: High, Title: "protects less than before",
		Why:    "The plan removes a setting that limits what the workload, its users or an attacker can do.",
		Reduce: "Keep the setting; ask the publisher why it was dropped.",
		Looks: "Existing objects that the plan changes or deletes: hardening in security contexts, tokens that were not mounted, NetworkPolicies, ResourceQuotas and LimitRanges, " +
			"failurePolicy of webhooks and admission policies, verification of TLS, validation in CustomResourceDefinitions, volumes that were kept.",
		When: "Info for CustomResourceDefinitions, else a warning.",
		Example: Example{
			Of:       "Deployment op:",
			Evidence: "apps/Deployment/app/op: spec.template.spec.containers[op].securityContext.runAsNonRoot: true → not set",
		},
	})
	PodForeignSecret = row(Rule{
		Name: "pod-foreign-secret", Level: Critical, Title: "uses Secrets or volumes of a namespace outside the release",
		Why:    "The pod can read them without RBAC permission to read Secrets.",
		Reduce: "Run the pod in the namespace of the release, with Secrets and PersistentVolumeClaims of the package.",
		Looks:  "Secrets and PersistentVolumeClaims that pods outside the release's namespaces mount or read into variables, and that the plan does not include.",
		When:   "Critical in namespaces of the control plane, else a warning.",
	})
)
