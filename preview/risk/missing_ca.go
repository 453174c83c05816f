package risk

import (
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// injectors are the annotations that make a controller set the caBundle of an object.
var injectors = []string{
	"cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret", "cert-manager.io/inject-apiserver-ca",
	"service.beta.openshift.io/inject-cabundle",
}

// judgeMissingCAs makes one finding for each package of all its webhooks, CRDs and
// APIServices that have no caBundle, so that calls to them fail. It is less severe
// where an account of the plan may set every one of them later.
func (c *scan) judgeMissingCAs() {
	first, count, filled := map[string]*preview.Object{}, map[string]int{}, map[string]bool{}
	lines := map[string][]preview.Piece{}
	narrow := map[string]bool{}
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		missing := withoutCA(o)
		if len(missing) == 0 {
			continue
		}
		by := c.updatesConfiguration(o)
		if first[o.Package] == nil {
			first[o.Package], filled[o.Package], narrow[o.Package] = o, true, true
		}
		count[o.Package]++
		filled[o.Package] = filled[o.Package] && by
		narrow[o.Package] = narrow[o.Package] && c.untouched(o)
		lines[o.Package] = append(lines[o.Package], saw(o.ID, missing)...)
	}
	for pkg, o := range first {
		hit := ruleHit{object: o.ID, evidence: lines[pkg], known: narrow[pkg], held: narrow[pkg]}
		if n := count[pkg]; n > 1 {
			hit.claim.Subject = fmt.Sprintf("%s and %d more", preview.IDLabel(o.ID), n-1)
		}
		if filled[pkg] {
			hit.level = Low
			hit.severity = preview.Info
		}
		c.hit(rules.WebhookWithoutCA, hit)
	}
}

// withoutCA returns a line for each webhook or Service that an object calls without a
// caBundle; nil where an annotation makes a controller set the caBundle.
func withoutCA(o *preview.Object) []preview.Seen {
	if o.Planned == nil || slices.ContainsFunc(injectors, func(key string) bool {
		return preview.String(o.Planned, "metadata", "annotations", key) != ""
	}) {
		return nil
	}
	var lines []preview.Seen
	missing := func(client map[string]any, field string) {
		if preview.Map(client, "service") != nil && preview.String(client, "caBundle") == "" {
			lines = append(lines, words.CheckIsEmpty.Of(field))
		}
	}
	switch {
	case isWebhook(o):
		for _, webhook := range preview.Maps(o.Planned, "webhooks") {
			missing(preview.Map(webhook, "clientConfig"), "caBundle of webhook "+preview.String(webhook, "name"))
		}
	case o.Is(preview.KindCustomResourceDefinition):
		if len(preview.List(o.Planned, "spec", "versions")) != 1 { // one version is never converted
			missing(preview.Map(o.Planned, "spec", "conversion", "webhook", "clientConfig"), "caBundle of the conversion webhook")
		}
	case o.Is(preview.KindAPIService) && preview.Value(o.Planned, "spec", "insecureSkipTLSVerify") != true:
		missing(preview.Map(o.Planned, "spec"), "caBundle of the API service")
	}
	return lines
}

// updatesConfiguration reports whether an account of the plan may update a webhook
// configuration, CRD or APIService, as a Job that sets a caBundle does.
func (c *scan) updatesConfiguration(o *preview.Object) bool {
	resource := map[preview.GroupKind]string{
		preview.KindValidatingWebhookConfiguration: "validatingwebhookconfigurations",
		preview.KindMutatingWebhookConfiguration:   "mutatingwebhookconfigurations",
		preview.KindCustomResourceDefinition:       "customresourcedefinitions",
		preview.KindAPIService:                     "apiservices",
	}[o.GroupKind()]
	names, looked := c.around.writers[resource]
	if !looked {
		names = writersOf(c.plan.Access.Grants, o.Ref().Group(), resource)
		c.around.writers[resource] = names
	}
	return names[""] || names[o.Name]
}

// writersOf returns the names of objects of a cluster-scoped resource that
// ServiceAccounts of the plan may update. The name "" stands for all of them.
func writersOf(grants []preview.Grant, group, resource string) map[string]bool {
	names, wanted := map[string]bool{}, newShape(group, resource, "update patch")
	for _, g := range grants {
		if _, ok := wanted.cut(g); !ok || g.Change == preview.GrantRemoved || g.Scope != preview.ScopeCluster || g.Subject.Kind != preview.SubjectServiceAccount {
			continue
		}
		if len(g.ResourceNames) == 0 {
			names[""] = true
		}
		for _, name := range g.ResourceNames {
			names[name] = true
		}
	}
	return names
}
