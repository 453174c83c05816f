package risk

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pods"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// clusterRules returns the rules about objects that affect workloads and users outside
// the release.
func clusterRules() []entry {
	return []entry{
		{Rule: rules.WebhookOutsideCluster, object: facts(outsideWebhooks)},
		{Rule: rules.APIService, object: facts(apiService)},
		{Rule: rules.PriorityClass, object: facts(priorityClass)},
		{Rule: rules.VolumeHostPath, object: facts(hostPathVolume)},
		{Rule: rules.TokenOfForeignAccount, object: tokenSecret(false)},
		{Rule: rules.TokenStored, object: tokenSecret(true)},
	}
}

func outsideWebhooks(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil {
		return None, nil
	}
	var lines []preview.Seen
	check := func(client map[string]any, of string) {
		if text := preview.String(client, "url"); text != "" && !inCluster(text) {
			lines = append(lines, words.CallsURL.Of(of, pods.WithoutUser(text)))
		}
	}
	switch {
	case isWebhook(o):
		for _, webhook := range preview.Maps(o.Planned, "webhooks") {
			check(preview.Map(webhook, "clientConfig"), "webhook "+preview.String(webhook, "name"))
		}
	case o.Is(preview.KindCustomResourceDefinition):
		check(preview.Map(o.Planned, "spec", "conversion", "webhook", "clientConfig"), "the conversion webhook")
	}
	return None, lines
}

// inCluster reports whether the host of a URL is a Service of the cluster or the
// loopback address.
func inCluster(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".svc") || strings.HasSuffix(host, ".svc.cluster.local")
}

func apiService(c *scan, o *preview.Object) (Level, []preview.Seen) {
	service := preview.Map(o.Planned, "spec", "service")
	if !o.Is(preview.KindAPIService) || service == nil {
		return None, nil
	}
	lines := []preview.Seen{words.IsAnsweredByService.Of(preview.String(o.Planned, "spec", "group"), preview.String(o.Planned, "spec", "version"), preview.String(service, "namespace"), preview.String(service, "name"))}
	if preview.Value(o.Planned, "spec", "insecureSkipTLSVerify") == true {
		lines = append(lines, words.InsecureSkipTLSVerifyTheAPIServerDoesNot.Of())
	}
	if priority, _ := preview.Value(o.Planned, "spec", "groupPriorityMinimum").(int64); priority > leastOwnPriority {
		lines = append(lines, words.GroupPriorityMinimumNamesWithoutAGroupMean.Of())
	}
	group, level := preview.String(o.Planned, "spec", "group"), High
	switch {
	case slices.Contains(projectGroups, group):
	case builtInGroup(group):
		level, lines = Critical, append(lines, words.GroupIsAPartOfKubernetes.Of(group))
	case (c.kinds.named[group] != nil || actedOn(group)) && !c.kinds.resources[group+"/*"]:
		level, lines = Critical, append(lines, words.GroupBelongsToAnotherSystem.Of(group))
	}
	return level, lines
}

// leastOwnPriority is the groupPriorityMinimum above which an APIService takes
// precedence over API groups of Kubernetes: those have 16,000 and more in Kubernetes
// 1.37, and CRDs have 1,000.
const leastOwnPriority = 15_000

func operations(rule map[string]any) string {
	if list := wording.Strings(rule["operations"]); len(list) > 0 && !slices.Contains(list, all) {
		return strings.Join(list, ",")
	}
	return "every change"
}

// maxUserPriority is the highest value that Kubernetes permits users for a
// PriorityClass.
const maxUserPriority = 1_000_000_000

func priorityClass(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil || !o.Is(preview.KindPriorityClass) {
		return None, nil
	}
	var lines []preview.Seen
	level := Notice
	if o.Planned["globalDefault"] == true {
		level, lines = High, append(lines, words.GlobalDefault.Of())
	}
	value, _ := o.Planned["value"].(int64)
	if value > 0 && preview.String(o.Planned, "preemptionPolicy") != "Never" {
		lines = append(lines, words.ValuePreempts.Of(value))
	}
	if value >= maxUserPriority || strings.HasPrefix(o.Name, "system-") {
		level, lines = High, append(lines, words.ValueAsPodsOfTheControl.Of(value))
	}
	return level, lines
}

func hostPathVolume(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil || !o.Is(preview.KindPersistentVolume) {
		return None, nil
	}
	level := Medium
	text := preview.String(o.Planned, "spec", "local", "path")
	if p := preview.Map(o.Planned, "spec", "hostPath"); p != nil {
		level, text = High, preview.String(p, "path")
	}
	if text == "" {
		return None, nil
	}
	if controlsNode(text) {
		level = Critical
	}
	return level, []preview.Seen{words.PathOfTheNode.Of(text)}
}

// controlsNode reports whether write access to a path on a node gives control of the
// node.
func controlsNode(text string) bool { return pods.NodePaths.Judge(text).Writable == Critical }

// tokenSecret returns a matcher for Secrets that the cluster fills with the token of a
// ServiceAccount: of one in the plan if own is true, else of any other.
func tokenSecret(own bool) objectMatch {
	return facts(func(c *scan, o *preview.Object) (Level, []preview.Seen) {
		if o.Planned == nil || !o.Is(preview.KindSecret) || preview.String(o.Planned, "type") != "kubernetes.io/service-account-token" {
			return None, nil
		}
		account := preview.String(o.Planned, "metadata", "annotations", "kubernetes.io/service-account.name")
		if account == "" || c.accounts[o.Namespace+"/"+account] != own {
			return None, nil
		}
		return None, []preview.Seen{words.ATokenOfServiceAccount.Of(o.Namespace, account)}
	})
}
