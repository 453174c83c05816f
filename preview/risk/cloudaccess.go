package risk

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// judgeCloud matches every cloud permission and makes one finding of each
// rule and origin.
func (c *scan) judgeCloud() {
	permissions := c.plan.Cloud.Permissions
	for i := range permissions {
		p := &permissions[i]
		p.Rules = []string{}
		limits := p.Change == preview.GrantRemoved || p.Effect == denied
		for _, rule := range c.rules {
			if rule.cloud == nil || limits && rule.Name != rules.CloudAccessWidened.Name {
				continue
			}
			level := rule.cloud(c, *p)
			if level == None {
				continue
			}
			p.Rules = append(p.Rules, rule.Name)
			c.hit(rule.Rule, ruleHit{
				object: c.originID(p.Origin), level: level, evidence: []string{cloudLine(*p)},
				about: p.Origin, cases: cloudCases(rule.Rule, *p), known: p.Change == preview.GrantSame || p.Change == preview.GrantNarrowed,
				held: p.Change == preview.GrantSame,
			})
		}
		slices.Sort(p.Rules)
	}
	c.judgeDeclared()
}

const denied = "Deny"

// cloudCases returns the cases of a rule that apply to a cloud permission: those
// with an action that it includes, or with the end of an action, such as ":*".
func cloudCases(rule rules.Rule, p preview.CloudPermission) map[int]bool {
	found := map[int]bool{}
	for at, of := range rule.Cases {
		if slices.ContainsFunc(strings.Fields(of.For), func(word string) bool {
			if !strings.HasPrefix(word, ":") {
				return permits(p, word)
			}
			return !unlimitedActions(p) && slices.ContainsFunc(p.Actions, func(a string) bool { return strings.HasSuffix(a, word) })
		}) {
			found[at] = true
		}
	}
	if len(found) == 0 {
		found[noCase] = true
	}
	return found
}

// originID returns the id of the object that an origin such as
// KIND/NAMESPACE/NAME, or "X in KIND/NAMESPACE/NAME", names; the origin itself
// when the plan has none.
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

// cloudLine returns the evidence of a cloud permission.
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

// appliesEverywhere reports whether a permission is not limited to certain
// resources. An AWS statement without resources is not limited.
func appliesEverywhere(p preview.CloudPermission) bool {
	if p.Provider == cloud.AWS && len(p.Actions) > 0 && len(p.Resources) == 0 {
		return true
	}
	return slices.ContainsFunc(p.Resources, func(r string) bool {
		return strings.Trim(r, "*") == "" || strings.HasPrefix(r, "arn:") && (strings.HasSuffix(r, ":::*") || strings.HasSuffix(r, ":*:*"))
	})
}

// permits reports whether a permission includes any of the actions.
func permits(p preview.CloudPermission, actions ...string) bool {
	return slices.ContainsFunc(actions, func(action string) bool { return cloud.Covers(p, action) })
}

func unlimitedActions(p preview.CloudPermission) bool {
	return slices.ContainsFunc(p.Actions, func(a string) bool { return a != "" && strings.Trim(a, "*:") == "" })
}

// awsMatch returns a matcher for AWS permissions, except those for all actions,
// which have their own rule.
func awsMatch(judge func(c *scan, p preview.CloudPermission) Level) cloudMatch {
	return func(c *scan, p preview.CloudPermission) Level {
		if p.Provider != cloud.AWS || unlimitedActions(p) {
			return None
		}
		return judge(c, p)
	}
}

// awsActions returns a matcher for any of the actions, with one level for all
// resources and another for limited ones (None: no match).
func awsActions(open, limited Level, actions ...string) cloudMatch {
	return awsMatch(func(_ *scan, p preview.CloudPermission) Level {
		switch {
		case !permits(p, actions...):
			return None
		case appliesEverywhere(p):
			return open
		}
		return limited
	})
}

// managedPolicy matches AWS policies by the end of their ARN, such as
// ":policy/AdministratorAccess"; the rest names the partition.
func managedPolicy(level Level, or cloudMatch, names ...string) cloudMatch {
	return func(c *scan, p preview.CloudPermission) Level {
		if p.Provider == cloud.AWS && slices.ContainsFunc(p.Roles, func(have string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(have, "policy/"+name) })
		}) {
			return level
		}
		return or(c, p)
	}
}

// wildcardAction matches "*" and "SERVICE:*".
func wildcardAction(_ *scan, p preview.CloudPermission) Level {
	if p.Provider != cloud.AWS {
		return None
	}
	if slices.ContainsFunc(p.Roles, func(r string) bool { return strings.HasSuffix(r, ":policy/PowerUserAccess") }) {
		return High
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

// passRole matches iam:PassRole. It is critical if the same origin can also start
// something with the role.
func passRole(c *scan, p preview.CloudPermission) Level {
	limited := strings.Contains(cloudLine(preview.CloudPermission{Conditions: p.Conditions}), "PassedToService")
	switch {
	case !permits(p, "iam:PassRole") || !appliesEverywhere(p) && limited:
		return None
	case c.starters[p.Origin]:
		return Critical
	}
	return High
}

// mutatesEverything matches writing actions on every resource without
// condition. Those that only describe are left out.
func mutatesEverything(_ *scan, p preview.CloudPermission) Level {
	if !appliesEverywhere(p) || len(p.Conditions) > 0 {
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

// exceptions matches statements with NotAction or NotResource (AWS-10).
func exceptions(_ *scan, p preview.CloudPermission) Level {
	if p.Conditions["NotAction"] != nil || p.Conditions["NotResource"] != nil {
		return High
	}
	return None
}

// azureRoles are the ids of built-in roles, which assignments name them by
// (Azure built-in roles, privileged).
var azureRoles = map[string]string{
	"8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
	"b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
	"18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": "User Access Administrator",
	"f58310d9-a9f6-439a-9e8d-f62e7b41a168": "Role Based Access Control Administrator",
}

// roleOf matches any of a provider's roles, compared without case, those of
// Azure by their id too.
func roleOf(provider string, level Level, roles ...string) cloudMatch {
	return func(_ *scan, p preview.CloudPermission) Level {
		if p.Provider == provider && slices.ContainsFunc(p.Roles, func(have string) bool {
			if name, ok := azureRoles[strings.ToLower(have[strings.LastIndex(have, "/")+1:])]; ok && provider == cloud.Azure {
				have = name
			}
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

// actionLike returns a matcher for a provider's actions, also by prefix or suffix.
func actionLike(provider string, level Level, prefixes, suffixes []string, actions ...string) cloudMatch {
	exact := actionOf(provider, level, actions...)
	return func(c *scan, p preview.CloudPermission) Level {
		if p.Provider == provider && slices.ContainsFunc(p.Actions, func(action string) bool {
			action = strings.ToLower(action)
			return slices.ContainsFunc(prefixes, func(s string) bool { return strings.HasPrefix(action, strings.ToLower(s)) }) ||
				slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(action, strings.ToLower(s)) })
		}) {
			return level
		}
		return exact(c, p)
	}
}

// gcpEscalation matches actions that lead to more access; it is Critical when
// the identity may also act as others.
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

// azureContributor matches the role Contributor; it is Critical for a whole
// subscription.
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
	if !o.Is(preview.KindSecret) || o.Planned == nil {
		return None, nil
	}
	tokens := slices.ContainsFunc([]string{cloud.AWS, cloud.Azure, cloud.GCP}, func(provider string) bool {
		return c.declared[cloud.AnnotationOrigin(cloud.TokenAuth(provider), o.Package)]
	})
	if !tokens || !c.declared[cloud.StaticOrigin(o.Namespace, o.Name)] {
		return None, nil
	}
	return None, []string{"long-lived cloud keys, although the package supports short-lived tokens"}
}

// sharedIdentity matches cloud identities of default or shared accounts.
func sharedIdentity(c *scan, o *preview.Object) (Level, []string) {
	if !o.Is(preview.KindServiceAccount) || o.Planned == nil || !c.clouds["ServiceAccount/"+o.Namespace+"/"+o.Name] {
		return None, nil
	}
	if o.Name == "default" {
		return None, []string{"cloud identity of the ServiceAccount default"}
	}
	if c.users[o.Namespace+"/"+o.Name] < 2 {
		return None, nil
	}
	return None, []string{"cloud identity that several workloads use"}
}

// wider matches cloud permissions that an upgrade adds, and denials that it
// removes.
func wider(c *scan, p preview.CloudPermission) Level {
	if c.plan.Base.Revision == 0 {
		return None
	}
	more := []string{preview.GrantNew, preview.GrantWidened}
	if p.Effect == denied {
		more = []string{preview.GrantRemoved, preview.GrantNarrowed}
	}
	if slices.Contains(more, p.Change) {
		return Medium
	}
	return None
}

// judgeDeclared makes one finding of all cloud access whose actions are not known.
// Requests made at run time, and tokens for services other than clouds, have other
// findings.
func (c *scan) judgeDeclared() {
	stated := map[string]bool{}
	for _, p := range c.plan.Cloud.Permissions {
		if p.Change != preview.GrantRemoved && len(p.Actions) > 0 {
			stated[p.Provider] = true
		}
	}
	var lines []string
	clouds := map[string]bool{}
	add := func(provider, line string) {
		lines = append(lines, provider+": "+line)
		clouds[provider] = true
	}
	for _, d := range c.plan.Cloud.Declared {
		elsewhere := d.Provider == "external" || d.Provider == cloud.Openshift || strings.HasPrefix(d.Origin, cloud.RunTime) || stated[d.Provider]
		if !elsewhere || strings.Contains(d.Origin, cloud.Unread) {
			add(d.Provider, d.Origin)
		}
	}
	for _, p := range c.plan.Cloud.Permissions {
		if p.Change != preview.GrantRemoved && cloud.IsIdentity(p) && !stated[p.Provider] {
			add(p.Provider, cloudLine(p))
		}
	}
	if len(lines) == 0 {
		return
	}
	names := strings.Join(slices.Sorted(maps.Keys(clouds)), ", ")
	c.hit(rules.CloudAccessUndeclared, ruleHit{object: "cloud/access", evidence: lines, title: "cloud access to " + names + ": the package does not declare the permissions"})
}
