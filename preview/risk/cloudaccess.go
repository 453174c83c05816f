package risk

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudmatch"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudtable"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// judgeCloud matches every cloud permission of the plan and makes one finding of the
// matches that have the same rule and origin.
func (c *scan) judgeCloud() {
	permissions, identity := c.plan.Cloud.Permissions, map[string]bool{} // of providers whose roles accounts of the plan take
	for _, p := range permissions {
		if strings.HasPrefix(p.Origin, "ServiceAccount/") && p.Change != preview.GrantRemoved && cloud.IsIdentity(p) {
			identity[p.Provider] = true
		}
	}
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
			if (strings.HasPrefix(p.Origin, "ConfigMap/") || strings.HasPrefix(p.Origin, "Secret/")) && !identity[p.Provider] {
				level = min(level, High) // nothing says that it is applied
			}
			p.Rules = append(p.Rules, rule.Name)
			c.hit(rule.Rule, ruleHit{
				object: c.originID(p.Origin), level: level, evidence: rules.Said(cloudmatch.Line(*p)),
				claim: preview.Claim{Subject: p.Origin}, cases: cloudCases(rule.Rule, *p), known: p.Change == preview.GrantSame || p.Change == preview.GrantNarrowed,
				held: c.permissionHeld(*p),
			})
		}
		if !limits {
			nameUnjudged(c, p)
		}
		slices.Sort(p.Rules)
	}
	c.judgeDeclared()
}

// nameUnjudged makes a finding of what no rule judges in a permission, one for each
// origin. A role with unknown permissions is a warning.
func nameUnjudged(c *scan, p *preview.CloudPermission) {
	u := cloudtable.UnjudgedOf(*p, cloudtable.DefinedBy(p.Provider, c.plan.Cloud.Permissions))
	level := Notice
	if len(u.Unknown) > 0 {
		level = Medium
	}
	if lines := cloudmatch.UnjudgedLines(*p, u); len(lines) > 0 {
		p.Rules = append(p.Rules, rules.CloudNotJudged.Name)
		c.hit(rules.CloudNotJudged, ruleHit{
			object: c.originID(p.Origin), level: level, evidence: rules.Said(lines...), claim: preview.Claim{Subject: p.Origin}, held: c.permissionHeld(*p),
			known: p.Change == preview.GrantSame || p.Change == preview.GrantNarrowed,
		})
	}
}

// permissionHeld reports whether a permission is as it was, and so is the object that
// states it: who receives it, and of what, is not all in the evidence.
func (c *scan) permissionHeld(p preview.CloudPermission) bool {
	o := c.objects[c.originID(p.Origin)]
	return p.Change == preview.GrantSame && (o == nil || c.untouched(o))
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
				return cloudtable.Includes(p, word)
			}
			return !cloudmatch.Unlimited(p) && slices.ContainsFunc(p.Actions, func(a string) bool { return strings.HasSuffix(a, word) })
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

// passRole matches iam:PassRole. It is Critical where the same holder can also start
// workloads that run with the role that is passed.
func passRole(c *scan, p preview.CloudPermission) Level {
	switch {
	case p.Provider != cloud.AWS || cloudmatch.Unlimited(p) || !cloudtable.Includes(p, "iam:PassRole") || !cloud.Wide(p) && cloudmatch.PassesTo(p.Conditions):
		return None
	case c.starters[holderOf(p)]:
		return Critical
	}
	return High
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

// admissions matches objects that carry a cloud trust policy or resource policy which
// admits more identities than it seems to. In a ConfigMap or Secret it is High at most,
// as nothing says that the policy is applied.
func admissions(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil || o.Is(preview.KindCustomResourceDefinition) {
		return None, nil
	}
	level, lines := None, []preview.Seen(nil)
	for _, admission := range cloud.Admissions(o.Planned) {
		of := High
		if admission.Everyone && admission.Takes && !stored(o.GroupKind()) {
			of = Critical
		}
		level, lines = max(level, of), append(lines, words.Sentence.Of(admission.Text))
	}
	return level, lines
}

// stored reports whether objects of a kind only hold text (ConfigMap and Secret).
func stored(kind preview.GroupKind) bool {
	return kind == preview.KindConfigMap || kind == preview.KindSecret
}

// staticCredentials matches Secrets with long-lived cloud keys in packages that declare
// support for short-lived tokens.
func staticCredentials(c *scan, o *preview.Object) (Level, []preview.Seen) {
	if !o.Is(preview.KindSecret) || o.Planned == nil {
		return None, nil
	}
	tokens := slices.ContainsFunc([]string{cloud.AWS, cloud.Azure, cloud.GCP}, func(provider string) bool {
		return c.declared[cloud.AnnotationOrigin(cloud.TokenAuth(provider), o.Package)]
	})
	if !tokens || !c.declared[cloud.StaticOrigin(o.Namespace, o.Name)] {
		return None, nil
	}
	return None, []preview.Seen{words.LongLivedCloudKeysAlthoughThe.Of()}
}

// sharedIdentity matches ServiceAccounts with a cloud identity that are named default,
// or that several workloads use.
func sharedIdentity(c *scan, o *preview.Object) (Level, []preview.Seen) {
	if !o.Is(preview.KindServiceAccount) || o.Planned == nil || !c.clouds["ServiceAccount/"+o.Namespace+"/"+o.Name] {
		return None, nil
	}
	if o.Name == "default" {
		return None, []preview.Seen{words.CloudIdentityOfTheServiceAccountDefault.Of()}
	}
	if len(c.users[o.Namespace+"/"+o.Name]) < 2 {
		return None, nil
	}
	return None, []preview.Seen{words.CloudIdentityThatSeveralWorkloadsUse.Of()}
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
			add(p.Provider, cloudmatch.Line(p))
		}
	}
	if len(lines) == 0 {
		return
	}
	names := strings.Join(slices.Sorted(maps.Keys(clouds)), ", ")
	claim := preview.Claim{Subject: "cloud access to " + names, Predicate: "the package does not declare the permissions"}
	c.hit(rules.CloudAccessUndeclared, ruleHit{object: "cloud/access", evidence: rules.Said(lines...), claim: claim})
}
