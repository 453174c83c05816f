package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/content"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// deputyRules returns the rules about permissions to write, or delete, custom
// resources that controllers of others act on: one for each effect.
func deputyRules() []entry {
	out := []entry{
		{Rule: rules.RBACCustomExec, grant: &grantMatch{custom: customExec}},
		{Rule: rules.RBACCustomCredentialsRead, grant: &grantMatch{unlike: exceptOwn, shapes: credentialKinds()}},
	}
	for _, row := range effectRules {
		out = append(out, entry{Rule: row.grant, grant: &grantMatch{effect: row.effect, custom: deputyPart(row.effect), level: deputyLevel(baseLevel(row.effect, row.grant)), items: groupsOf, fixed: contentDecides(row.effect)}})
	}
	return append(out, entry{Rule: rules.RBACOrdersDelete, grant: &grantMatch{custom: deletedOrders}})
}

// contentDecides reports whether the names of objects restrict nothing: a
// subject that changes one decides what its controller does, whichever it is.
func contentDecides(effect deputy.Effect) func(preview.Grant) bool {
	whole := slices.Contains([]deputy.Effect{deputy.Installs, deputy.RBAC, deputy.Node, deputy.Mutates}, effect)
	return func(preview.Grant) bool { return whole }
}

// baseLevel returns the level of an effect's rule. Pods and cloud permissions are
// Critical only by what they lead to.
func baseLevel(effect deputy.Effect, rule rules.Rule) Level {
	if effect == deputy.Pods || effect == deputy.IAM {
		return High
	}
	return rule.Level
}

// effectRules are the rules of each effect, the worst first: of a wildcard over
// the kinds of a group the first is said.
var effectRules = []struct {
	effect deputy.Effect
	grant  rules.Rule
	order  rules.Rule // without a name where an object of the kind is no danger by itself
}{
	{deputy.Installs, rules.RBACInstallersWrite, rules.OrderInstalls},
	{deputy.RBAC, rules.RBACGrantersWrite, rules.OrderGrants},
	{deputy.Node, rules.RBACNodeOrdersWrite, rules.OrderNodes},
	{deputy.Mutates, rules.RBACMutatorsWrite, rules.OrderMutates},
	{deputy.IAM, rules.RBACCloudIAMWrite, rules.OrderCloud},
	{deputy.Mints, rules.RBACSecretSourcesWrite, rules.OrderCredentials},
	{deputy.Requests, rules.CloudCredentialsRequested, rules.Rule{}},
	{deputy.Exports, rules.RBACExportersWrite, rules.OrderExports},
	{deputy.Pods, rules.RBACPodMakersWrite, rules.OrderPods},
	{deputy.Refuses, rules.RBACPoliciesWrite, rules.OrderRefuses},
	{deputy.Deletes, rules.RBACDeletersWrite, rules.OrderDeletes},
	{deputy.Network, rules.RBACTrafficWrite, rules.OrderTraffic},
	{deputy.Cloud, rules.RBACCloudResourcesWrite, rules.OrderCloud},
	{deputy.Storage, rules.RBACDisksWrite, rules.OrderDisks},
	{deputy.Images, rules.RBACOperandsWrite, rules.Rule{}},
	{deputy.Scrapes, rules.RBACMonitorsWrite, rules.OrderMonitors},
	{deputy.Scales, rules.RBACScalersWrite, rules.OrderScales},
}

// rankOf returns the place of an effect among effectRules; those that are no
// danger come last.
func rankOf(effect deputy.Effect) int {
	for i, row := range effectRules {
		if row.effect == effect {
			return i
		}
	}
	return len(effectRules)
}

// deputyLevel returns the level of a match: that of the effect's rule, one less for
// kinds that do it within bounds, and critical for those that equal cluster-admin.
func deputyLevel(level Level) func(*scan, preview.Grant, shape) Level {
	return func(c *scan, _ preview.Grant, part shape) Level {
		worst := None
		for _, group := range part.groups {
			for _, resource := range part.resources {
				if k, ok := c.worstKind(group, resource); ok {
					worst = max(worst, levelOfKind(k, level))
				}
			}
		}
		return worst
	}
}

// levelOfKind returns the level of writing a kind, by that of its effect.
func levelOfKind(k deputy.Kind, level Level) Level {
	switch {
	case k.Order == "critical":
		return Critical
	case level == Critical && (k.Order == "low" || k.Order == "medium"):
		return High
	}
	return level
}

// actedOn reports whether a group has kinds that are orders to a controller.
func actedOn(group string) bool {
	return slices.ContainsFunc(deputy.Resources(group, all), func(k deputy.Kind) bool { return rankOf(effectOf(k)) < len(effectRules) })
}

// enforcing are effects of which deleting an object is as bad as writing one: what
// it enforced, or kept, is gone.
var enforcing = []deputy.Effect{deputy.Refuses, deputy.Mutates, deputy.Exports}

// deputyPart returns a matcher for permissions to write kinds of one effect. Of a
// wildcard the worst effect counts.
func deputyPart(effect deputy.Effect) func(*scan, preview.Grant) (shape, bool) {
	verbs := []string{"create", "update", "patch"}
	if slices.Contains(enforcing, effect) {
		verbs = append(verbs, "delete", "deletecollection")
	}
	return func(c *scan, g preview.Grant) (shape, bool) {
		return c.kindsPart(g, verbs, func(k deputy.Kind) bool { return effectOf(k) == effect })
	}
}

// kindsPart returns the part of a grant with any of the verbs on foreign kinds of
// which the worst, for each resource that it names, is as wanted.
func (c *scan) kindsPart(g preview.Grant, verbs []string, wanted func(deputy.Kind) bool) (shape, bool) {
	part := shape{}
	usable := shape{verbs: verbs}.usable(g)
	if len(usable) == 0 {
		return part, false
	}
	for _, group := range g.APIGroups {
		for _, resource := range g.Resources {
			if worst, ok := c.worstKind(group, resource); ok && wanted(worst) {
				part.groups, part.resources = append(part.groups, group), append(part.resources, resource)
			}
		}
	}
	part.verbs = usable
	return part.join(shape{}), len(part.resources) > 0
}

// usable returns the verbs of a shape that a grant has. Those that name no object
// do not go with names of objects.
func (s shape) usable(g preview.Grant) []string {
	var out []string
	for _, verb := range g.Verbs {
		named := len(g.ResourceNames) == 0 || verb != "create" && verb != "deletecollection"
		if verb == all || named && slices.Contains(s.verbs, verb) {
			out = append(out, verb)
		}
	}
	return out
}

// worstKind returns the kind of the worst effect that a resource of a role
// reaches, without the plan's own and those of other rules.
func (c *scan) worstKind(group, resource string) (worst deputy.Kind, ok bool) {
	for _, k := range deputy.Resources(group, resource) {
		plural := k.Plural
		if plural == all {
			plural = resource
		}
		if c.own[k.Group+"/"+plural] || c.own[group+"/"+plural] || c.named[group][plural] || effectOf(k) == deputy.Elsewhere {
			continue
		}
		if !ok || rankOf(effectOf(k)) < rankOf(effectOf(worst)) {
			worst, ok = k, true
		}
	}
	if provider, iam := cloud.IAMResource(group, resource); iam && provider != cloud.Openshift && !strings.Contains(resource, "/") && rankOf(deputy.IAM) < rankOf(effectOf(worst)) {
		return deputy.Kind{Group: group, Plural: resource, Effect: deputy.IAM}, true
	}
	return worst, ok
}

// effectOf returns the effect of a row; that of none is harmless.
func effectOf(k deputy.Kind) deputy.Effect {
	if k.Effect == "" {
		return deputy.Plain
	}
	return k.Effect
}

// customExec finds sub-resources by which commands run, of every kind: a name is
// all that such a right needs.
func customExec(c *scan, g preview.Grant) (shape, bool) {
	part := shape{verbs: shape{verbs: []string{"get", "create", "update", "patch"}}.usable(g)}
	for _, group := range g.APIGroups {
		if content.BuiltInGroup(group) && group != all {
			continue
		}
		for _, resource := range g.Resources {
			of, sub, _ := strings.Cut(resource, "/")
			if group == all && of != all || c.own[group+"/"+of] {
				continue
			}
			worst, _ := c.worstKind(group, resource)
			if worst.Effect == deputy.Exec || slices.Contains(execSubresources, sub) {
				part.groups, part.resources = append(part.groups, group), append(part.resources, resource)
			}
		}
	}
	return part.join(shape{}), len(part.resources) > 0 && len(part.verbs) > 0
}

var execSubresources = []string{"exec", "attach", "console", "vnc", "proxy", "portforward", "ssh", "shell", "terminal", "usbredir"}

// deletedOrders finds permissions to delete, and not to write, objects whose
// controllers delete what they stand for.
func deletedOrders(c *scan, g preview.Grant) (shape, bool) {
	if len(shape{verbs: strings.Fields(write)}.usable(g)) > 0 {
		return shape{}, false // said by the rule about writing
	}
	return c.kindsPart(g, []string{"delete", "deletecollection"}, func(k deputy.Kind) bool {
		return rankOf(effectOf(k)) < len(effectRules) && !slices.Contains(enforcing, effectOf(k)) && effectOf(k) != deputy.Scrapes && effectOf(k) != deputy.Scales
	})
}

// credentialKinds are custom resources and sub-resources that hold credentials, or
// return them, to whom may read them.
func credentialKinds() []shape {
	return []shape{
		newShape("machineconfiguration.openshift.io", "machineconfigs controllerconfigs", read),
		newShape("image.openshift.io", "imagestreams/secrets", "get"),
		newShape("oauth.openshift.io", "oauthclients oauthaccesstokens oauthauthorizetokens", read),
		newShape("template.openshift.io", "templateinstances", read),
		newShape("management.cattle.io", "tokens authconfigs cloudcredentials clusterregistrationtokens nodetemplates", read),
		newShape("fleet.cattle.io", "contents bundles clusterregistrationtokens", read),
		newShape("helm.cattle.io", "helmcharts helmchartconfigs", read),
		newShape("bootstrap.cluster.x-k8s.io", "kubeadmconfigs kubeadmconfigtemplates", read),
		newShape("machine.openshift.io", "machinesets machines", read),
		newShape("dex.coreos.com", "passwords connectors oauth2clients refreshtokens signingkeies offlinesessionses authcodes", read),
		newShape("work.open-cluster-management.io", "manifestworks", read),
		newShape("work.karmada.io", "works", read),
		newShape("k0smotron.io", "jointokenrequests", read),
		newShape("trident.netapp.io", "tridentbackends", read),
	}
}

// groupsOf returns the API groups of a match, which the cases of a rule are about.
func groupsOf(_ *scan, _ preview.Grant, part shape) []string { return part.groups }

// deputyLines says what the controllers do that act on the kinds of a match.
func (c *scan) deputyLines(m match) []string {
	if m.rule.grant.effect == "" || m.rule.grant.effect == deputy.Requests {
		return nil
	}
	var lines []string
	for _, group := range m.part.groups {
		for _, resource := range m.part.resources {
			worst, ok := c.worstKind(group, resource)
			if ok && worst.Operator != "" && effectOf(worst) == m.rule.grant.effect && slices.Contains(m.grant.APIGroups, group) {
				lines = append(lines, strings.ReplaceAll(resource, all, worst.Plural)+"."+worst.Group+": "+worst.Says())
			}
		}
	}
	return lines
}
