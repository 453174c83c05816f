package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
)

// judgeCloud matches every cloud permission and makes one finding of each
// rule and origin.
func (c *scan) judgeCloud() {
	permissions := c.plan.Cloud.Permissions
	for i := range permissions {
		p := &permissions[i]
		p.Rules = []string{}
		if p.Change == preview.GrantRemoved || p.Effect == "Deny" {
			continue
		}
		for _, rule := range c.rules {
			if rule.cloud == nil {
				continue
			}
			level := rule.cloud(c, *p)
			if level == None {
				continue
			}
			p.Rules = append(p.Rules, rule.Name)
			c.hit(rule.Rule, hit{
				object: c.originID(p.Origin), level: level, evidence: []string{cloudLine(*p)},
				title: p.Origin + ": " + rule.Title, known: p.Change == preview.GrantSame || p.Change == preview.GrantNarrowed,
			})
		}
		slices.Sort(p.Rules)
	}
}

// originID is the object an origin such as KIND/NAMESPACE/NAME, or "X in
// KIND/NAMESPACE/NAME", names; the origin itself when the plan has none.
func (c *scan) originID(origin string) string {
	if i := strings.LastIndex(origin, " in "); i >= 0 {
		if id, ok := c.origins[origin[i+len(" in "):]]; ok {
			return id
		}
	}
	if id, ok := c.origins[origin]; ok {
		return id
	}
	return origin
}

// cloudLine is the evidence of a cloud permission.
func cloudLine(p preview.CloudPermission) string {
	text := p.Origin + ": " + p.Provider + " " + p.Effect
	for _, part := range []struct {
		word string
		list []string
	}{{"", p.Actions}, {" as", p.Roles}, {" on", p.Resources}} {
		if len(part.list) > 0 {
			text += part.word + " " + strings.Join(part.list, ",")
		}
	}
	if len(p.Conditions) > 0 {
		conditions, err := preview.Canonical(p.Conditions)
		if err != nil {
			return text + " if something unreadable"
		}
		text += " if " + string(conditions)
	}
	return text
}

// everywhere reports whether a permission is limited to no resource.
func everywhere(p preview.CloudPermission) bool {
	return slices.Contains(p.Resources, all) || slices.ContainsFunc(p.Resources, func(r string) bool {
		return strings.HasPrefix(r, "arn:") && (strings.HasSuffix(r, ":::*") || strings.HasSuffix(r, ":*:*"))
	})
}

// permits reports whether a permission includes any of the actions.
func permits(p preview.CloudPermission, actions ...string) bool {
	return slices.ContainsFunc(actions, func(action string) bool { return cloud.Covers(p, action) })
}

func unlimitedActions(p preview.CloudPermission) bool {
	return slices.Contains(p.Actions, all) || slices.Contains(p.Actions, "*:*")
}

// aws makes a matcher for AWS permissions that are less than everything.
func aws(judge func(c *scan, p preview.CloudPermission) Level) cloudMatch {
	return func(c *scan, p preview.CloudPermission) Level {
		if p.Provider != cloud.AWS || unlimitedActions(p) {
			return None
		}
		return judge(c, p)
	}
}

// awsActions matches any of the actions, of one level everywhere and another
// (None: not at all) on limited resources.
func awsActions(open, limited Level, actions ...string) cloudMatch {
	return aws(func(_ *scan, p preview.CloudPermission) Level {
		switch {
		case !permits(p, actions...):
			return None
		case everywhere(p):
			return open
		}
		return limited
	})
}

// wildcardAction matches "*" and "SERVICE:*".
func wildcardAction(_ *scan, p preview.CloudPermission) Level {
	if p.Provider != cloud.AWS {
		return None
	}
	if unlimitedActions(p) {
		if p.Conditions["NotAction"] != nil {
			return High
		}
		return Critical
	}
	for _, action := range p.Actions {
		if strings.HasSuffix(action, ":*") {
			return Medium
		}
	}
	return None
}

// roleStarters are actions that start something as a passed role.
var roleStarters = []string{
	"ec2:RunInstances", "lambda:CreateFunction", "lambda:UpdateFunctionConfiguration", "ecs:RunTask", "ecs:RegisterTaskDefinition",
	"glue:CreateDevEndpoint", "cloudformation:CreateStack", "sagemaker:CreateNotebookInstance", "sagemaker:CreateTrainingJob",
	"sagemaker:CreateProcessingJob",
}

// passRole is Critical together with an action that starts something as the
// role.
func passRole(c *scan, p preview.CloudPermission) Level {
	limited := strings.Contains(cloudLine(preview.CloudPermission{Conditions: p.Conditions}), "PassedToService")
	switch {
	case !permits(p, "iam:PassRole") || !everywhere(p) && limited:
		return None
	case c.starters[p.Origin]:
		return Critical
	}
	return High
}

// mutatesEverything matches writing actions on every resource without
// condition. Those that only describe are left out.
func mutatesEverything(_ *scan, p preview.CloudPermission) Level {
	if !everywhere(p) || len(p.Conditions) > 0 {
		return None
	}
	for _, action := range p.Actions {
		_, verb, ok := strings.Cut(strings.ToLower(action), ":")
		if ok && !slices.ContainsFunc([]string{"describe", "list", "get", "batchget", "lookup", "head", "search", "simulate"}, func(reading string) bool {
			return strings.HasPrefix(verb, reading)
		}) {
			return Medium
		}
	}
	return None
}

// exceptions matches statements that permit all but a list (AWS-10).
func exceptions(_ *scan, p preview.CloudPermission) Level {
	if p.Conditions["NotAction"] != nil || p.Conditions["NotResource"] != nil {
		return High
	}
	return None
}

// roleOf matches any of a provider's roles, compared without case.
func roleOf(provider string, level Level, roles ...string) cloudMatch {
	return func(_ *scan, p preview.CloudPermission) Level {
		if p.Provider == provider && slices.ContainsFunc(p.Roles, func(have string) bool {
			return slices.ContainsFunc(roles, func(want string) bool { return strings.EqualFold(have, want) })
		}) {
			return level
		}
		return None
	}
}

// actionOf matches any of a provider's actions.
func actionOf(provider string, level Level, actions ...string) cloudMatch {
	return func(_ *scan, p preview.CloudPermission) Level {
		if p.Provider == provider && permits(p, actions...) {
			return level
		}
		return None
	}
}

// gcpEscalation is Critical when the identity may also act as others.
func gcpEscalation(_ *scan, p preview.CloudPermission) Level {
	const actAs = "iam.serviceAccounts.actAs"
	if p.Provider != cloud.GCP {
		return None
	}
	others := permits(p,
		"iam.roles.update", "iam.roles.create", "iam.serviceAccounts.getAccessToken", "iam.serviceAccounts.getOpenIdToken",
		"iam.serviceAccounts.signBlob", "iam.serviceAccounts.signJwt", "iam.serviceAccounts.implicitDelegation",
		"iam.serviceAccountKeys.create", "deploymentmanager.deployments.create", "cloudbuild.builds.create",
		"cloudfunctions.functions.create", "cloudfunctions.functions.update", "run.services.create", "compute.instances.create",
		"compute.instances.setMetadata", "compute.instances.setServiceAccount", "orgpolicy.policy.set", "storage.hmacKeys.create",
	) || slices.ContainsFunc(p.Actions, func(a string) bool { return strings.HasSuffix(a, ".setIamPolicy") })
	switch {
	case others && permits(p, actAs):
		return Critical
	case others || permits(p, actAs):
		return High
	}
	return None
}

// azureContributor is Critical for Contributor of a whole subscription.
func azureContributor(c *scan, p preview.CloudPermission) Level {
	level := roleOf(cloud.Azure, High, "Contributor", "Managed Identity Contributor", "Managed Identity Operator", "Key Vault Administrator",
		"Storage Account Contributor", "Virtual Machine Contributor", "Azure Kubernetes Service Contributor Role",
		"Azure Kubernetes Service Cluster Admin Role")(c, p)
	if level == High && roleOf(cloud.Azure, High, "Contributor")(c, p) == High && slices.ContainsFunc(p.Resources, func(r string) bool {
		return strings.HasPrefix(r, "/subscriptions/") && strings.Count(strings.TrimRight(r, "/"), "/") == 2
	}) {
		return Critical
	}
	return level
}

// ibmAdministrator matches administrators of every service or of IAM itself.
func ibmAdministrator(_ *scan, p preview.CloudPermission) Level {
	if p.Provider != cloud.IBM && p.Provider != cloud.PowerVS || !slices.ContainsFunc(p.Roles, func(r string) bool {
		return strings.HasSuffix(r, ":Administrator") || strings.HasSuffix(r, ":Manager")
	}) {
		return None
	}
	limited := slices.ContainsFunc(p.Resources, func(r string) bool {
		return strings.HasPrefix(r, "serviceName=") && !strings.HasPrefix(r, "serviceName=iam-")
	})
	if limited {
		return None
	}
	return Critical
}

// unscopedProvider matches requests without any limit.
func unscopedProvider(_ *scan, p preview.CloudPermission) Level {
	if p.Provider != cloud.AWS && unlimitedActions(p) && slices.Contains(p.Resources, all) {
		return High
	}
	return None
}

// staticCredentials matches Secrets with long-lived keys of a package that
// says it can do with tokens.
func staticCredentials(c *scan, o *preview.Object) (Level, []string) {
	if o.Kind != "Secret" || o.Sealed == nil {
		return None, nil
	}
	tokens := slices.ContainsFunc([]string{cloud.AWS, cloud.Azure, cloud.GCP}, func(provider string) bool {
		return c.declared["annotation features.operators.openshift.io/token-auth-"+provider]
	})
	if !tokens || !c.declared["static credentials in Secret/"+o.Namespace+"/"+o.Name] {
		return None, nil
	}
	return None, []string{"static credentials beside token support"}
}

// sharedIdentity matches cloud identities of default or shared accounts.
func sharedIdentity(c *scan, o *preview.Object) (Level, []string) {
	if o.Kind != "ServiceAccount" || o.Sealed == nil || !c.clouds["ServiceAccount/"+o.Namespace+"/"+o.Name] {
		return None, nil
	}
	if o.Name == "default" {
		return None, []string{"a cloud identity on the default account"}
	}
	if c.users[o.Namespace+"/"+o.Name] < 2 {
		return None, nil
	}
	return None, []string{"a cloud identity that several workloads share"}
}

// wider marks cloud access that an upgrade adds.
func wider(c *scan, p preview.CloudPermission) Level {
	if c.plan.Base.Revision > 0 && (p.Change == preview.GrantNew || p.Change == preview.GrantWidened) {
		return Medium
	}
	return None
}
