// Package cloudmatch has the matchers of the rules about cloud permissions: each judges
// one permission by itself.
package cloudmatch

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudtable"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Matcher returns the level of a cloud permission, None if it does not match.
type Matcher func(p preview.CloudPermission) rules.Level

// Line returns a cloud permission as one line of evidence: origin, provider,
// effect, actions, roles, resources and conditions.
func Line(p preview.CloudPermission) string {
	text := p.Origin + ": " + p.Provider + " " + p.Effect
	for _, part := range []struct {
		word string
		list []string
	}{{"", p.Actions}, {" as", p.Roles}, {" on", p.Resources}} {
		if len(part.list) > 0 {
			text += part.word + " " + strings.Join(part.list, ",")
		}
	}
	text += behindLine(p)
	if len(p.Conditions) > 0 {
		conditions, err := preview.Canonical(p.Conditions)
		if err != nil {
			return text + " if something unreadable"
		}
		text += " if " + string(conditions)
	}
	return text
}

// somewhere are resources so different that a pattern which matches both of them matches
// every resource.
var somewhere = []string{"arn:aws:ec2:us-east-1:123456789012:instance/i-1", "arn:aws:s3:::bucket/key"}

// appliesEverywhere reports whether a permission is not limited to certain
// resources. An AWS statement without resources is not limited.
func appliesEverywhere(p preview.CloudPermission) bool {
	if p.Provider == cloud.AWS && len(p.Actions) > 0 && len(p.Resources) == 0 {
		return true
	}
	return slices.ContainsFunc(p.Resources, func(r string) bool {
		return strings.Trim(r, "*") == "" || strings.HasPrefix(r, "arn:") && (strings.HasSuffix(r, ":::*") || strings.HasSuffix(r, ":*:*")) ||
			!slices.ContainsFunc(somewhere, func(arn string) bool { return !cloud.Glob(r, arn) })
	})
}

// Unlimited reports whether a permission is for every action.
func Unlimited(p preview.CloudPermission) bool {
	return slices.ContainsFunc(p.Actions, cloud.EveryAction)
}

// Tabled returns a matcher that takes the level of a cloud permission from the rule's
// rows in package cloudtable. An AWS statement that allows every action does not match:
// the rule about wildcards has a finding for it.
func Tabled(rule rules.Rule) Matcher {
	return func(p preview.CloudPermission) rules.Level {
		if p.Provider == cloud.AWS && Unlimited(p) && len(p.Roles) == 0 {
			return rules.None
		}
		return cloudtable.Judge(rule.Name, p)
	}
}

// Highest returns a matcher with the highest level of several matchers.
func Highest(matchers ...Matcher) Matcher {
	return func(p preview.CloudPermission) rules.Level {
		level := rules.None
		for _, match := range matchers {
			level = max(level, match(p))
		}
		return level
	}
}

// WildcardAction matches AWS permissions for every action ("*"), for every action but
// a list (NotAction), and for every action of a service ("SERVICE:*").
func WildcardAction(p preview.CloudPermission) rules.Level {
	if p.Provider != cloud.AWS {
		return rules.None
	}
	if Unlimited(p) {
		if p.Conditions["NotAction"] == nil {
			return rules.Critical
		}
		return max(rules.High, cloudtable.Worst(p)) // of what the list leaves
	}
	for _, action := range p.Actions {
		if strings.HasSuffix(strings.TrimRight(action, "*")+"*", ":*") && strings.HasSuffix(action, "*") {
			return rules.Medium
		}
	}
	return rules.None
}

// PassesTo reports whether a condition limits iam:PassRole to named services
// (iam:PassedToService).
func PassesTo(conditions map[string]any) bool {
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

// MutatesEverything matches AWS actions on every resource without condition, except
// those that only read, such as Describe and List.
func MutatesEverything(p preview.CloudPermission) rules.Level {
	if !appliesEverywhere(p) || !cloud.Vacuous(p.Conditions) {
		return rules.None
	}
	for _, action := range p.Actions {
		_, verb, ok := strings.Cut(strings.ToLower(action), ":")
		if ok && !cloudtable.IsRead(verb) {
			return rules.Medium
		}
	}
	return rules.None
}

// Exceptions matches statements with NotAction or NotResource (AWS-10).
func Exceptions(p preview.CloudPermission) rules.Level {
	if p.Conditions["NotAction"] != nil || p.Conditions["NotResource"] != nil {
		return rules.High
	}
	return rules.None
}

// actionOf returns a matcher that gives the level to permissions for any of a
// provider's actions.
func actionOf(provider string, level rules.Level, actions ...string) Matcher {
	return func(p preview.CloudPermission) rules.Level {
		if p.Provider == provider && cloudtable.Includes(p, actions...) {
			return level
		}
		return rules.None
	}
}

// ActionLike returns a matcher that gives the level to permissions for any of a
// provider's actions, or for an action with one of the prefixes or suffixes.
func ActionLike(provider string, level rules.Level, prefixes, suffixes []string, actions ...string) Matcher {
	exact := actionOf(provider, level, actions...)
	return func(p preview.CloudPermission) rules.Level {
		if p.Provider == provider && slices.ContainsFunc(cloudtable.Given(p), func(action string) bool {
			action = strings.ToLower(action)
			return slices.ContainsFunc(prefixes, func(s string) bool { return strings.HasPrefix(action, strings.ToLower(s)) }) ||
				slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(action, strings.ToLower(s)) })
		}) {
			return level
		}
		return exact(p)
	}
}

// GCPEscalation matches actions of Google Cloud that lead to more access, those ending
// in .setIamPolicy among them, which set who has access to a resource. It is Critical
// where the identity may also act as service accounts.
func GCPEscalation(p preview.CloudPermission) rules.Level {
	const actAs = "iam.serviceAccounts.actAs"
	if p.Provider != cloud.GCP {
		return rules.None
	}
	level := cloudtable.Judge(rules.CloudEscalation.Name, p)
	if slices.ContainsFunc(cloudtable.Given(p), func(a string) bool { return strings.HasSuffix(strings.ToLower(a), ".setiampolicy") }) {
		level = max(level, rules.High)
	}
	alone := p
	alone.Actions = slices.DeleteFunc(slices.Clone(p.Actions), func(a string) bool { return a == actAs })
	if level > rules.None && cloudtable.Includes(p, actAs) && cloudtable.Judge(rules.CloudEscalation.Name, alone) > rules.None {
		return rules.Critical
	}
	return level
}

// AzureContributor matches Azure roles that give control of the resources in their
// scope. Contributor is Critical for a subscription or a management group.
func AzureContributor(p preview.CloudPermission) rules.Level {
	level := cloudtable.Judge(rules.CloudAzureContributor.Name, p)
	if level > rules.None && cloudtable.Holds(p, "Contributor") && slices.ContainsFunc(p.Resources, wideScope) {
		return rules.Critical
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

// PublicMembers matches roles of Google Cloud that are bound to everyone (allUsers), to
// every Google account, or to every identity of a workload identity pool.
func PublicMembers(p preview.CloudPermission) rules.Level {
	if p.Provider != cloud.GCP {
		return rules.None
	}
	level := rules.None
	for _, member := range preview.Texts(p.Conditions["members"]) {
		if member == "allUsers" || member == "allAuthenticatedUsers" || strings.HasPrefix(member, "principalSet://") && strings.HasSuffix(member, "/*") {
			level = rules.High
		}
	}
	for _, rule := range []rules.Rule{rules.CloudBasicRole, rules.CloudIAMRole, rules.CloudServiceAdmin} {
		if level > rules.None && cloudtable.Judge(rule.Name, p) > rules.None {
			level = rules.Critical
		}
	}
	return level
}

// IBMAdministrator matches the roles Administrator and Manager of IBM Cloud, for every
// service or for IAM itself.
func IBMAdministrator(p preview.CloudPermission) rules.Level {
	if p.Provider != cloud.IBM && p.Provider != cloud.PowerVS || !slices.ContainsFunc(p.Roles, func(r string) bool {
		return strings.HasSuffix(r, ":Administrator") || strings.HasSuffix(r, ":Manager")
	}) {
		return rules.None
	}
	limited := slices.ContainsFunc(p.Resources, func(r string) bool {
		return strings.HasPrefix(r, "serviceName=") && !strings.HasPrefix(r, "serviceName=iam-")
	})
	if limited {
		return rules.None
	}
	return rules.Critical
}

// UnscopedProvider matches requests for every action on every resource of a provider
// other than AWS.
func UnscopedProvider(p preview.CloudPermission) rules.Level {
	if p.Provider != cloud.AWS && Unlimited(p) && slices.Contains(p.Resources, "*") {
		return rules.High
	}
	return rules.None
}

// OfAWS returns a matcher for AWS permissions, except those for all actions, which have
// their own rule.
func OfAWS(judge Matcher) Matcher {
	return func(p preview.CloudPermission) rules.Level {
		if p.Provider != cloud.AWS || Unlimited(p) {
			return rules.None
		}
		return judge(p)
	}
}
