package risk

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudtable"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// judgeCloud matches every cloud permission of the plan and makes one finding of the
// matches that have the same rule and origin.
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
			if strings.HasPrefix(p.Origin, "ConfigMap/") || strings.HasPrefix(p.Origin, "Secret/") {
				level = min(level, High) // nothing says that it is applied
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

// cloudCases returns the indexes of the cases of a rule that apply to a cloud
// permission, by the words of [rules.Case.For]: an action that the permission includes,
// or the end of an action, such as ":*". Where none applies it returns noCase alone.
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

// originID returns the id of the plan's object that the origin of a cloud permission
// names, as KIND/NAMESPACE/NAME or "X in KIND/NAMESPACE/NAME". It returns the origin
// itself where the plan has no such object.
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

// cloudLine returns a cloud permission as one line of evidence: origin, provider,
// effect, actions, roles, resources and conditions.
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
	return slices.ContainsFunc(actions, func(action string) bool { return cloud.Permits(p, action) })
}

func unlimitedActions(p preview.CloudPermission) bool {
	return slices.ContainsFunc(p.Actions, cloud.EveryAction)
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

// tabled returns a matcher that takes the level of a cloud permission from the rule's
// rows in package cloudtable. An AWS statement that allows every action does not match:
// the rule about wildcards has a finding for it.
func tabled(rule rules.Rule) cloudMatch {
	return func(_ *scan, p preview.CloudPermission) Level {
		if p.Provider == cloud.AWS && unlimitedActions(p) && len(p.Roles) == 0 {
			return None
		}
		return cloudtable.Judge(rule.Name, p)
	}
}

// highest returns a matcher with the highest level of several matchers.
func highest(matchers ...cloudMatch) cloudMatch {
	return func(c *scan, p preview.CloudPermission) Level {
		level := None
		for _, match := range matchers {
			level = max(level, match(c, p))
		}
		return level
	}
}

// wildcardAction matches AWS permissions for every action ("*"), for every action but
// a list (NotAction), and for every action of a service ("SERVICE:*").
func wildcardAction(_ *scan, p preview.CloudPermission) Level {
	if p.Provider != cloud.AWS {
		return None
	}
	if unlimitedActions(p) {
		if p.Conditions["NotAction"] == nil {
			return Critical
		}
		return max(High, cloudtable.Worst(p)) // of what the list leaves
	}
	for _, action := range p.Actions {
		if strings.HasSuffix(strings.TrimRight(action, "*")+"*", ":*") && strings.HasSuffix(action, "*") {
			return Medium
		}
	}
	return None
}

// passRole matches iam:PassRole. It is Critical where the same holder can also start
// workloads that run with the role that is passed.
func passRole(c *scan, p preview.CloudPermission) Level {
	switch {
	case !permits(p, "iam:PassRole") || !cloud.Wide(p) && passesTo(p.Conditions):
		return None
	case c.starters[holderOf(p)]:
		return Critical
	}
	return High
}

// passesTo reports whether a condition limits iam:PassRole to named services
// (iam:PassedToService).
func passesTo(conditions map[string]any) bool {
	for operator, keys := range conditions {
		byKey, _ := keys.(map[string]any)
		for key, v := range byKey {
			if strings.EqualFold(key, "iam:PassedToService") && !cloud.Vacuous(map[string]any{operator: map[string]any{key: v}}) {
				return true
			}
		}
	}
	return false
}

// holderOf returns a key for the identity that has a permission. Each
// CredentialsRequest has an identity of its own; policies from all other objects share
// the key "", as several may be attached to one identity.
func holderOf(p preview.CloudPermission) string {
	if strings.HasPrefix(p.Origin, "CredentialsRequest/") {
		return p.Origin
	}
	return ""
}

// mutatesEverything matches AWS actions on every resource without condition, except
// those that only read, such as Describe and List.
func mutatesEverything(_ *scan, p preview.CloudPermission) Level {
	if !appliesEverywhere(p) || !cloud.Vacuous(p.Conditions) {
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

// actionOf returns a matcher that gives the level to permissions for any of a
// provider's actions.
func actionOf(provider string, level Level, actions ...string) cloudMatch {
	return func(_ *scan, p preview.CloudPermission) Level {
		if p.Provider == provider && permits(p, actions...) {
			return level
		}
		return None
	}
}

// actionLike returns a matcher that gives the level to permissions for any of a
// provider's actions, or for an action with one of the prefixes or suffixes.
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

// gcpEscalation matches actions of Google Cloud that lead to more access, those ending
// in .setIamPolicy among them, which set who has access to a resource. It is Critical
// where the identity may also act as service accounts.
func gcpEscalation(_ *scan, p preview.CloudPermission) Level {
	const actAs = "iam.serviceAccounts.actAs"
	if p.Provider != cloud.GCP {
		return None
	}
	level := cloudtable.Judge(rules.CloudEscalation.Name, p)
	if slices.ContainsFunc(p.Actions, func(a string) bool { return strings.HasSuffix(strings.ToLower(a), ".setiampolicy") }) {
		level = max(level, High)
	}
	alone := p
	alone.Actions = slices.DeleteFunc(slices.Clone(p.Actions), func(a string) bool { return a == actAs })
	if level > None && permits(p, actAs) && cloudtable.Judge(rules.CloudEscalation.Name, alone) > None {
		return Critical
	}
	return level
}

// azureContributor matches Azure roles that give control of the resources in their
// scope. Contributor is Critical for a subscription or a management group.
func azureContributor(_ *scan, p preview.CloudPermission) Level {
	level := cloudtable.Judge(rules.CloudAzureContributor.Name, p)
	if level > None && cloudtable.Holds(p, "Contributor") && slices.ContainsFunc(p.Resources, wideScope) {
		return Critical
	}
	return level
}

// wideScope reports whether an Azure scope is a whole subscription or a management
// group, and no resource group.
func wideScope(scope string) bool {
	scope = strings.ToLower(strings.TrimRight(scope, "/"))
	return scope == "" || strings.HasPrefix(scope, "/subscriptions/") && strings.Count(scope, "/") == 2 ||
		strings.Contains(scope, "/microsoft.management/managementgroups/") && !strings.Contains(scope, "/resourcegroups/")
}

// publicMembers matches roles of Google Cloud that are bound to everyone (allUsers), to
// every Google account, or to every identity of a workload identity pool.
func publicMembers(_ *scan, p preview.CloudPermission) Level {
	if p.Provider != cloud.GCP {
		return None
	}
	level := None
	for _, member := range preview.Texts(p.Conditions["members"]) {
		if member == "allUsers" || member == "allAuthenticatedUsers" || strings.HasPrefix(member, "principalSet://") && strings.HasSuffix(member, "/*") {
			level = High
		}
	}
	for _, rule := range []rules.Rule{rules.CloudBasicRole, rules.CloudIAMRole, rules.CloudServiceAdmin} {
		if level > None && cloudtable.Judge(rule.Name, p) > None {
			level = Critical
		}
	}
	return level
}

// admissions matches objects that carry a cloud trust policy or resource policy which
// admits more identities than it seems to. In a ConfigMap or Secret it is High at most,
// as nothing says that the policy is applied.
func admissions(_ *scan, o *preview.Object) (Level, []string) {
	if o.Planned == nil || o.Is(preview.KindCustomResourceDefinition) {
		return None, nil
	}
	level, lines := None, []string(nil)
	for _, admission := range cloud.Admissions(o.Planned) {
		of := High
		if admission.Everyone && admission.Takes && !stored(o.GroupKind()) {
			of = Critical
		}
		level, lines = max(level, of), append(lines, admission.Text)
	}
	return level, lines
}

// stored reports whether objects of a kind only hold text (ConfigMap and Secret).
func stored(kind preview.GroupKind) bool {
	return kind == preview.KindConfigMap || kind == preview.KindSecret
}

// ibmAdministrator matches the roles Administrator and Manager of IBM Cloud, for every
// service or for IAM itself.
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

// unscopedProvider matches requests for every action on every resource of a provider
// other than AWS.
func unscopedProvider(_ *scan, p preview.CloudPermission) Level {
	if p.Provider != cloud.AWS && unlimitedActions(p) && slices.Contains(p.Resources, all) {
		return High
	}
	return None
}

// staticCredentials matches Secrets with long-lived cloud keys in packages that declare
// support for short-lived tokens.
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

// sharedIdentity matches ServiceAccounts with a cloud identity that are named default,
// or that several workloads use.
func sharedIdentity(c *scan, o *preview.Object) (Level, []string) {
	if !o.Is(preview.KindServiceAccount) || o.Planned == nil || !c.clouds["ServiceAccount/"+o.Namespace+"/"+o.Name] {
		return None, nil
	}
	if o.Name == "default" {
		return None, []string{"cloud identity of the ServiceAccount default"}
	}
	if len(c.users[o.Namespace+"/"+o.Name]) < 2 {
		return None, nil
	}
	return None, []string{"cloud identity that several workloads use"}
}

// wider matches cloud permissions that an upgrade adds or widens, and Deny statements
// that it removes or narrows.
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

// judgeDeclared makes one finding of all the cloud access that the package declares
// without naming actions. CredentialsRequests made at run time, and tokens for services
// other than clouds, have findings of other rules.
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
