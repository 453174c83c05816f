package risk

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

func webhookRules() []entry {
	return []entry{
		{Rule: rules.WebhookFailClosedClusterWide, object: webhookMatch(failsClosed)},
		{Rule: rules.WebhookBlocksItself, object: webhookMatch(blocksItself)},
		{Rule: rules.CAChanged, object: facts(changedCA)},
		{Rule: rules.ServiceExposed, object: facts(exposedService)},
	}
}

func isWebhook(o *preview.Object) bool {
	return o.Planned != nil && o.Is(preview.KindValidatingWebhookConfiguration, preview.KindMutatingWebhookConfiguration)
}

// webhookMatch returns a matcher that calls judge with every webhook of a
// configuration.
func webhookMatch(judge func(c *scan, o *preview.Object, webhook map[string]any) []preview.Seen) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []preview.Piece) {
		if !isWebhook(o) {
			return None, nil
		}
		var evidence []preview.Piece
		for _, webhook := range preview.Maps(o.Planned, "webhooks") {
			for _, fact := range judge(c, o, webhook) {
				evidence = append(evidence, ofWebhook(webhook, fact))
			}
		}
		return None, evidence
	}
}

// ofWebhook returns a piece of evidence about a webhook of a configuration.
func ofWebhook(webhook map[string]any, fact preview.Seen) preview.Piece {
	return preview.Piece{Item: &preview.Item{Kind: "webhook", Name: preview.String(webhook, "name")}, Seen: &fact}
}

// changedCA matches objects whose change makes the API server trust another CA, or none,
// for a server that it calls already.
func changedCA(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	after := o.ResultBody
	if after == nil {
		after = o.Planned
	}
	if after == nil || len(o.Changes) == 0 || len(preview.CAFields(after)) == 0 {
		return None, nil
	}
	from, to := o.Compared(after)
	before := map[string]any{}
	for _, ca := range preview.CAFields(from) {
		before[ca.Path] = ca.Client["caBundle"]
	}
	var lines []preview.Seen
	for _, ca := range preview.CAFields(to) {
		if was, is := before[ca.Path], ca.Client["caBundle"]; preview.IsCA(was) && was != is {
			lines = append(lines, words.Named.Of(ca.Path, preview.Change{Path: ca.Path, From: was, To: is}.Text()))
		}
	}
	return None, lines
}

// failsClosed matches webhooks with failurePolicy Fail, by their rules on the core
// group or on kinds of others in namespaces without special labels.
func failsClosed(c *scan, _ *preview.Object, webhook map[string]any) []preview.Seen {
	if !refusesWhenDown(webhook) {
		return nil
	}
	open := coversUnlabelled(webhook)
	var lines []preview.Seen
	for _, rule := range preview.Maps(webhook, "rules") {
		groups, resources := wording.Strings(rule["apiGroups"]), wording.Strings(rule["resources"])
		core := slices.Contains(groups, "") || slices.Contains(groups, all)
		if !core && (!open || c.kinds.onlyOurs(preview.Grant{APIGroups: groups, Resources: resources})) {
			continue
		}
		lines = append(lines, words.Outage.Of(c.namespaces.outage(webhook, rule)))
	}
	return lines
}

// refusesWhenDown reports whether requests fail while a webhook does not answer: its
// failurePolicy is Fail, which is the default.
func refusesWhenDown(webhook map[string]any) bool {
	policy := preview.String(webhook, "failurePolicy")
	return policy == "Fail" || policy == ""
}

// blocksItself matches webhooks with failurePolicy Fail that cover the pods which serve
// them: when all of these are gone, no new one is admitted (Kubernetes docs, "Admission
// Webhook Good Practices", avoid deadlocks).
func blocksItself(c *scan, _ *preview.Object, webhook map[string]any) []preview.Seen {
	service := preview.Map(webhook, "clientConfig", "service")
	namespace := preview.String(service, "namespace")
	if service == nil || !refusesWhenDown(webhook) || !c.namespaces.covers(webhook, namespace) || !c.coversPodsBehind(webhook, service) {
		return nil
	}
	for _, rule := range preview.Maps(webhook, "rules") {
		if coversNewPods(rule) {
			return []preview.Seen{words.IsServedByServiceAndCovers.Of(namespace, preview.String(service, "name"), namespace)}
		}
	}
	return nil
}

func coversNewPods(rule map[string]any) bool {
	has := func(field string, wanted ...string) bool {
		return slices.ContainsFunc(wording.Strings(rule[field]), func(w string) bool { return slices.Contains(wanted, w) })
	}
	return preview.String(rule, "scope") != "Cluster" && has("apiGroups", "", all) &&
		has("resources", "pods", all, "*/*") && (rule["operations"] == nil || has("operations", "CREATE", all))
}

// podGroups are the API groups of the kinds that make pods.
var podGroups = []string{"", "apps", "batch"}

// coversPodsBehind reports whether a webhook's objectSelector matches a pod of its
// Service. It is true where the plan has no such pods, or too many to compare.
func (c *scan) coversPodsBehind(webhook, service map[string]any) bool {
	selector := preview.Map(webhook, "objectSelector")
	namespace := preview.String(service, "namespace")
	behind := c.objects[preview.Ref{APIVersion: "v1", Kind: "Service", Namespace: namespace, Name: preview.String(service, "name")}.ID()]
	if len(selector) == 0 || behind == nil {
		return true
	}
	pods, complete := c.around.podsBehind(behind)
	if c.around.left -= len(pods); len(pods) == 0 || !complete || c.around.left < 0 {
		return true
	}
	covers, err := selectorOf(selector)
	return err != nil || slices.ContainsFunc(pods, func(have map[string]string) bool { return covers.Matches(labels.Set(have)) })
}

func exposedService(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil {
		return None, nil
	}
	switch o.GroupKind() {
	case preview.KindService:
		if t := preview.String(o.Planned, "spec", "type"); t == "LoadBalancer" || t == "NodePort" {
			return None, []preview.Seen{words.OfType.Of(t)}
		}
	case preview.KindIngress:
		if len(preview.List(o.Planned, "spec", "tls")) == 0 {
			return None, []preview.Seen{words.NoTLS.Of()}
		}
	case preview.KindRoute:
		if preview.Map(o.Planned, "spec", "tls") == nil {
			return None, []preview.Seen{words.NoTLS.Of()}
		}
	}
	return None, nil
}
