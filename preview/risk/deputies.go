package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/content"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/orders"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// deputyRules returns the rules about permissions to write or delete custom resources
// that controllers of others carry out: one rule for each effect that the controllers
// have.
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

// contentDecides returns a function for [grantMatch.fixed]. For the worst effects, such
// as Installs, resourceNames do not lower the level: the content of any one object
// decides what its controller does.
func contentDecides(effect deputy.Effect) func(*scan, preview.Grant) bool {
	whole := slices.Contains([]deputy.Effect{deputy.Installs, deputy.RBAC, deputy.Node, deputy.Mutates}, effect)
	return func(*scan, preview.Grant) bool { return whole }
}

// baseLevel returns the level of the rule of an effect. It is High for Pods and IAM,
// which are Critical only by what they lead to.
func baseLevel(effect deputy.Effect, rule rules.Rule) Level {
	if effect == deputy.Pods || effect == deputy.IAM {
		return High
	}
	return rule.Level
}

// effectRules are the rules of each effect, the worst effect first. A wildcard over the
// kinds of an API group is judged by the first effect that one of them has.
var effectRules = []struct {
	effect deputy.Effect
	grant  rules.Rule
	order  rules.Rule // no name: an object of the kind is no danger by itself
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
	{deputy.Images, rules.RBACOperandsWrite, rules.OrderImages},
	{deputy.Scrapes, rules.RBACMonitorsWrite, rules.OrderMonitors},
	{deputy.Scales, rules.RBACScalersWrite, rules.OrderScales},
}

// rankOf returns the index of an effect in effectRules, and their number for effects
// without a rule, which are harmless.
func rankOf(effect deputy.Effect) int {
	for i, row := range effectRules {
		if row.effect == effect {
			return i
		}
	}
	return len(effectRules)
}

// deputyLevel returns a function for the level of a match: the level of the effect's
// rule, one less for kinds that have the effect within bounds only, and Critical for
// kinds that equal cluster-admin, or that run programs in every proxy of a mesh, or
// that get any cloud permission.
func deputyLevel(level Level) func(*scan, preview.Grant, shape) Level {
	return func(c *scan, g preview.Grant, part shape) Level {
		worst := None
		for _, group := range part.groups {
			for _, resource := range part.resources {
				if k, ok := c.kinds.worstKind(group, resource); ok {
					worst = max(worst, levelOfKind(k, level))
					if k.Order == "high" && orders.MeshWide(k.GroupKind()) && (g.Scope == preview.ScopeCluster || g.Namespace == orders.MeshRoot) {
						worst = Critical
					}
					if effectOf(k) == deputy.Requests && c.grantsRequests() {
						worst = Critical
					}
				}
			}
		}
		return worst
	}
}

// levelOfKind returns the level of the right to write a kind, where level is the level
// of its effect's rule.
func levelOfKind(k deputy.Kind, level Level) Level {
	switch {
	case k.Order == "critical":
		return Critical
	case level == Critical && (k.Order == "low" || k.Order == "medium"):
		return High
	}
	return level
}

// actedOn reports whether a controller that the table knows acts on a kind of the API
// group, with an effect that has a rule.
func actedOn(group string) bool {
	return slices.ContainsFunc(deputy.Resources(group, all), func(k deputy.Kind) bool { return rankOf(effectOf(k)) < len(effectRules) })
}

// enforcing are the effects where deleting an object is as bad as writing one: a policy,
// for example, no longer holds.
var enforcing = []deputy.Effect{deputy.Refuses, deputy.Mutates, deputy.Exports}

// deputyPart returns a matcher for permissions to write kinds whose controller has the
// effect. A wildcard over resources counts for its worst effect only.
func deputyPart(effect deputy.Effect) func(*scan, preview.Grant) (shape, bool) {
	verbs := []string{"create", "update", "patch"}
	if slices.Contains(enforcing, effect) {
		verbs = append(verbs, "delete", "deletecollection")
	}
	return func(c *scan, g preview.Grant) (shape, bool) {
		return c.kinds.kindsPart(g, verbs, func(k deputy.Kind) bool { return effectOf(k) == effect })
	}
}

// usable returns the verbs of a grant that are in the shape and take effect on the
// resources, as [usableVerbs] says. The verb "*" stands for all of them.
func (s shape) usable(g preview.Grant, resources []string) []string {
	verbs := usableVerbs(s.verbs, g, resources)
	if len(verbs) == 0 {
		return nil
	}
	var out []string
	for _, verb := range g.Verbs {
		if verb == all || slices.Contains(verbs, verb) {
			out = append(out, verb)
		}
	}
	return out
}

// effectOf returns the effect of a row of the table, which is Plain, harmless, if the
// row has none.
func effectOf(k deputy.Kind) deputy.Effect {
	if k.Effect == "" {
		return deputy.Plain
	}
	return k.Effect
}

// customExec finds permissions on subresources that run commands, such as
// virtualmachineinstances/console, of custom resources of any kind but the plan's own.
func customExec(c *scan, g preview.Grant) (shape, bool) {
	part := shape{verbs: shape{verbs: []string{"get", "create", "update", "patch"}}.usable(g, g.Resources)}
	for _, group := range g.APIGroups {
		if content.BuiltInGroup(group) && group != all {
			continue
		}
		for _, resource := range g.Resources {
			of, sub, _ := strings.Cut(resource, "/")
			if group == all && of != all || c.kinds.resources[group+"/"+of] {
				continue
			}
			worst, _ := c.kinds.worstKind(group, resource)
			if worst.Effect == deputy.Exec || slices.Contains(execSubresources, sub) {
				part.groups, part.resources = append(part.groups, group), append(part.resources, resource)
			}
		}
	}
	return part.join(shape{}), len(part.resources) > 0 && len(part.verbs) > 0
}

var execSubresources = []string{"exec", "attach", "console", "vnc", "proxy", "portforward", "ssh", "shell", "terminal", "usbredir"}

// deletedOrders finds permissions to delete, but not to write, custom resources whose
// controllers then delete what the resources stand for.
func deletedOrders(c *scan, g preview.Grant) (shape, bool) {
	if len(shape{verbs: strings.Fields(write)}.usable(g, g.Resources)) > 0 {
		return shape{}, false // said by the rule about writing
	}
	return c.kinds.kindsPart(g, []string{"delete", "deletecollection"}, func(k deputy.Kind) bool {
		return rankOf(effectOf(k)) < len(effectRules) && !slices.Contains(enforcing, effectOf(k)) && effectOf(k) != deputy.Scrapes && effectOf(k) != deputy.Scales
	})
}

// credentialKinds returns shapes for the custom resources and subresources whose
// readers get credentials.
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

// groupsOf returns the API groups of a match. They choose the case of its rule.
func groupsOf(_ *scan, _ preview.Grant, part shape) []string { return part.groups }

// deputyLines returns what the controllers do that act on the kinds of a match.
func (x *kindIndex) deputyLines(m match) []preview.Seen {
	if m.rule.grant.effect == "" || m.rule.grant.effect == deputy.Requests {
		return nil
	}
	var lines []preview.Seen
	for _, group := range m.part.groups {
		for _, resource := range m.part.resources {
			worst, ok := x.worstKind(group, resource)
			if ok && worst.Operator != "" && effectOf(worst) == m.rule.grant.effect && slices.Contains(m.grant.APIGroups, group) {
				lines = append(lines, words.ControllerDoes.Of(strings.ReplaceAll(resource, all, worst.Plural), worst.Group, worst.Says()))
			}
		}
	}
	return lines
}
