package pages

import "github.com/kubectl-operator/kubectl-operator/preview"

// policyRules are the pages of what a policy of the user's own raises.
func policyRules() []Page {
	return []Page{
		{
			Rule: "policy-rule", Severity: preview.Critical, Title: "breaks a rule of the policy",
			Looks: "The plan, with the CEL expression of each rule in the file that --policy names.",
			Why:   "The policy that this plan is held to says so.",
			When: "What the rule in the policy says: critical, warning or info. Where it is critical, a person accepts it by name, on the screen or with --accept; " +
				"neither a plan file nor a digest covers it.",
			Reduce:  "Change what the rule is about, or add a waiver with an owner, a reason and a last day to the policy.",
			Example: Example{preview.Critical, "policy no-secrets: op reads Secrets", "op reads Secrets (no-secrets, content sha256:...)"},
		},
		{
			Rule: "policy-waiver-expired", Severity: preview.Warning, Title: "needs a waiver that has ended",
			Looks:   "Waivers of the policy whose last day is over and that a finding of this plan would need.",
			Why:     "What it let pass counts again.",
			Reduce:  "Let its owner settle the finding, or extend the waiver.",
			Example: Example{preview.Warning, "the waiver of pod-privileged ended with 2026-06-30", "pod-privileged, owner team-a, ended with 2026-06-30: pod-privileged/apps/Deployment/app/op"},
		},
	}
}
