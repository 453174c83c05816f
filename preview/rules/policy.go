package rules

// The rules of findings that a policy adds: its own rules, and expired waivers.
var (
	PolicyRule = row(Rule{
		Name: "policy-rule", Level: Critical, Title: "breaks a rule of the policy",
		Why:     "The plan breaks a rule of the policy file that --policy names.",
		Reduce:  "Change what the rule objects to, or add a waiver with an owner, a reason and a last day to the policy file.",
		Looks:   "The whole plan, evaluated with the CEL expression of each rule in the file that --policy names.",
		When:    "As the rule in the policy says: critical, warning or info. A critical finding must be accepted by name, on the screen or with --accept; neither a plan file nor a digest covers it.",
		Example: Example{Title: "policy no-secrets: op reads Secrets", Evidence: "op reads Secrets (no-secrets, content sha256:...)"},
	})
	PolicyWaiverExpired = row(Rule{
		Name: "policy-waiver-expired", Level: Medium, Title: "needs a waiver that has expired",
		Why:    "The finding that the waiver accepted counts again.",
		Reason: "The finding that the waiver accepted counts again; the owner of the waiver is %s.",
		Reduce: "Have the owner of the waiver resolve the finding, or extend the waiver in the policy file.",
		Looks:  "Waivers in the policy that have expired and that a finding of this plan would need.",
		Example: Example{
			Title:    "the waiver of pod-privileged ended with 2026-06-30",
			Evidence: "pod-privileged, owner team-a, ended with 2026-06-30: pod-privileged/apps/Deployment/app/op",
		},
	})
)
