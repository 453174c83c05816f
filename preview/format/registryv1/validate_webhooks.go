package registryv1

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// conversionNeedsAllNamespaces checks that a bundle with conversion webhooks supports
// only AllNamespaces, because a CRD, and so its conversion, is cluster-wide.
func conversionNeedsAllNamespaces(b *bundle, p *problems) {
	modes := b.csv.supportedModes()
	if len(modes) == 1 && modes[0] == allNamespaces {
		return
	}
	for _, w := range b.csv.webhooks {
		if w.kind == conversionWebhook {
			p.add("the conversion webhook %q needs AllNamespaces as the only supported install mode; the CSV supports %s", w.generateName, textOrNone(modes))
		}
	}
}

func webhookDeploymentsExist(b *bundle, p *problems) {
	have := map[string]bool{}
	for _, d := range b.csv.deployments {
		have[d.name] = true
	}
	for _, w := range b.csv.webhooks {
		if !have[w.deploymentName] {
			p.add("the webhook %q is served by the deployment %q, which the CSV does not have", w.generateName, w.deploymentName)
		}
	}
}

func webhookNamesUnique(b *bundle, p *problems) {
	for _, kind := range []string{validatingWebhook, mutatingWebhook, conversionWebhook} {
		var names []string
		for _, w := range b.csv.webhooks {
			if w.kind == kind {
				names = append(names, w.generateName)
			}
		}
		for _, name := range duplicates(names) {
			p.add("the CSV has two webhooks of type %s named %q", kind, name)
		}
	}
}

// webhookNamesValid checks generateName as it is written, so that "foo-" is refused, as
// in OLM, although the dash is cut from the webhook's name.
func webhookNamesValid(b *bundle, p *problems) {
	for _, w := range b.csv.webhooks {
		if !isSubdomain(w.generateName) {
			p.add("the webhook name %q is not a DNS-1123 subdomain", w.generateName)
		}
	}
}

func conversionCRDsUnshared(b *bundle, p *problems) {
	users := map[string][]string{}
	for _, w := range b.csv.webhooks {
		if w.kind != conversionWebhook {
			continue
		}
		for _, crd := range w.conversionCRDs {
			users[crd] = append(users[crd], w.generateName)
		}
	}
	for _, crd := range sortedKeys(users) {
		if len(users[crd]) > 1 {
			p.add("the custom resource definition %q is converted by more than one webhook: %s", crd, strings.Join(users[crd], ", "))
		}
	}
}

func conversionCRDsOwned(b *bundle, p *problems) {
	owned := map[string]bool{}
	for _, name := range b.csv.ownedCRDs {
		owned[name] = true
	}
	for _, w := range b.csv.webhooks {
		if w.kind != conversionWebhook {
			continue
		}
		for _, crd := range w.conversionCRDs {
			if !owned[crd] {
				p.add("the webhook %q converts the custom resource definition %q, which the CSV does not own", w.generateName, crd)
			}
		}
	}
}

// webhookRulesAllowed adds a problem for each webhook that intercepts all API groups,
// OLM's group, or webhook configurations.
func webhookRulesAllowed(b *bundle, p *problems) {
	for _, w := range b.csv.webhooks {
		if w.kind == conversionWebhook {
			continue
		}
		for _, item := range preview.List(w.body, "rules") {
			rule, _ := item.(map[string]any)
			groups := preview.Texts(rule["apiGroups"])
			for _, group := range groups {
				if group == "*" || group == "olm.operatorframework.io" {
					p.add("the webhook %q may not intercept the API group %q", w.generateName, group)
				}
			}
			if !slices.Contains(groups, "admissionregistration.k8s.io") {
				continue
			}
			for _, resource := range preview.Texts(rule["resources"]) {
				if interceptsWebhooks(resource) {
					p.add("the webhook %q may not intercept the resource %q of admissionregistration.k8s.io", w.generateName, resource)
				}
			}
		}
	}
}

func interceptsWebhooks(resource string) bool {
	switch strings.ToLower(resource) {
	case "*", "mutatingwebhookconfiguration", "mutatingwebhookconfigurations",
		"validatingwebhookconfiguration", "validatingwebhookconfigurations":
		return true
	}
	return false
}

// webhooksComplete checks the fields of webhooks that the CSV's CRD would validate in a
// cluster.
func webhooksComplete(b *bundle, p *problems) {
	for _, w := range b.csv.webhooks {
		switch w.kind {
		case validatingWebhook, mutatingWebhook, conversionWebhook:
		default:
			p.add("the webhook %q has the type %q, not %s, %s or %s", w.generateName, w.kind, validatingWebhook, mutatingWebhook, conversionWebhook)
		}
		if w.containerPort < 1 || w.containerPort > 65535 {
			p.add("the webhook %q has the containerPort %d, which is not between 1 and 65535", w.generateName, w.containerPort)
		}
	}
}

// conversionPreservesNothing checks that CRDs with conversion webhooks prune unknown
// fields: the API server calls such webhooks for no others.
func conversionPreservesNothing(b *bundle, p *problems) {
	converted := b.csv.conversions()
	for _, o := range b.crds {
		_, ok := converted[o.name()]
		if preserves, _ := preview.Value(o.body, "spec", "preserveUnknownFields").(bool); ok && preserves {
			p.add("the custom resource definition %q has a conversion webhook and must not set spec.preserveUnknownFields", o.name())
		}
	}
}

// conversions returns, by the name of a CRD, the webhook that converts it.
func (c *csv) conversions() map[string]webhook {
	out := map[string]webhook{}
	for _, w := range c.webhooks {
		if w.kind != conversionWebhook {
			continue
		}
		for _, crd := range w.conversionCRDs {
			out[crd] = w
		}
	}
	return out
}
