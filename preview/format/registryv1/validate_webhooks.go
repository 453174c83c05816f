package registryv1

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// conversionNeedsAllNamespaces: a CRD, and so its conversion, is of the whole
// cluster.
func conversionNeedsAllNamespaces(b *bundle) (errs []error) {
	modes := b.csv.supportedModes()
	if len(modes) == 1 && modes[0] == allNamespaces {
		return nil
	}
	for _, w := range b.csv.webhooks {
		if w.kind == conversionWebhook {
			errs = append(errs, fmt.Errorf("the conversion webhook %q needs AllNamespaces as the only supported install mode; the CSV supports %s", w.generateName, orNone(modes)))
		}
	}
	return errs
}

func webhookDeploymentsExist(b *bundle) (errs []error) {
	have := map[string]bool{}
	for _, d := range b.csv.deployments {
		have[d.name] = true
	}
	for _, w := range b.csv.webhooks {
		if !have[w.deploymentName] {
			errs = append(errs, fmt.Errorf("the webhook %q is served by the deployment %q, which the CSV does not have", w.generateName, w.deploymentName))
		}
	}
	return errs
}

func webhookNamesUnique(b *bundle) (errs []error) {
	for _, kind := range []string{validatingWebhook, mutatingWebhook, conversionWebhook} {
		var names []string
		for _, w := range b.csv.webhooks {
			if w.kind == kind {
				names = append(names, w.generateName)
			}
		}
		for _, name := range duplicates(names) {
			errs = append(errs, fmt.Errorf("the CSV has two webhooks of type %s named %q", kind, name))
		}
	}
	return errs
}

// webhookNamesValid checks the name before its trailing dash is cut, as OLM
// does: "foo-" is refused.
func webhookNamesValid(b *bundle) (errs []error) {
	for _, w := range b.csv.webhooks {
		if !isSubdomain(w.generateName) {
			errs = append(errs, fmt.Errorf("the webhook name %q is not a DNS-1123 subdomain", w.generateName))
		}
	}
	return errs
}

func conversionCRDsUnshared(b *bundle) (errs []error) {
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
			errs = append(errs, fmt.Errorf("the custom resource definition %q is converted by more than one webhook: %s", crd, strings.Join(users[crd], ", ")))
		}
	}
	return errs
}

func conversionCRDsOwned(b *bundle) (errs []error) {
	for _, w := range b.csv.webhooks {
		if w.kind != conversionWebhook {
			continue
		}
		for _, crd := range w.conversionCRDs {
			if !slices.Contains(b.csv.ownedCRDs, crd) {
				errs = append(errs, fmt.Errorf("the webhook %q converts the custom resource definition %q, which the CSV does not own", w.generateName, crd))
			}
		}
	}
	return errs
}

// webhookRulesAllowed keeps a bundle from intercepting everything, OLM, or
// other webhooks.
func webhookRulesAllowed(b *bundle) (errs []error) {
	for _, w := range b.csv.webhooks {
		if w.kind == conversionWebhook {
			continue
		}
		for _, item := range preview.List(w.body, "rules") {
			rule, _ := item.(map[string]any)
			groups := texts(rule["apiGroups"])
			for _, group := range groups {
				if group == "*" || group == "olm.operatorframework.io" {
					errs = append(errs, fmt.Errorf("the webhook %q may not intercept the API group %q", w.generateName, group))
				}
			}
			if !slices.Contains(groups, "admissionregistration.k8s.io") {
				continue
			}
			for _, resource := range texts(rule["resources"]) {
				if interceptsWebhooks(resource) {
					errs = append(errs, fmt.Errorf("the webhook %q may not intercept the resource %q of admissionregistration.k8s.io", w.generateName, resource))
				}
			}
		}
	}
	return errs
}

func interceptsWebhooks(resource string) bool {
	switch strings.ToLower(resource) {
	case "*", "mutatingwebhookconfiguration", "mutatingwebhookconfigurations",
		"validatingwebhookconfiguration", "validatingwebhookconfigurations":
		return true
	}
	return false
}

// webhooksComplete checks what the CSV's own schema would, had an API server
// seen it.
func webhooksComplete(b *bundle) (errs []error) {
	for _, w := range b.csv.webhooks {
		switch w.kind {
		case validatingWebhook, mutatingWebhook, conversionWebhook:
		default:
			errs = append(errs, fmt.Errorf("the webhook %q has the type %q, not %s, %s or %s", w.generateName, w.kind, validatingWebhook, mutatingWebhook, conversionWebhook))
		}
		if w.containerPort < 1 || w.containerPort > 65535 {
			errs = append(errs, fmt.Errorf("the webhook %q has the containerPort %d, which is not between 1 and 65535", w.generateName, w.containerPort))
		}
	}
	return append(errs, conversionPreservesNothing(b)...)
}

// conversionPreservesNothing: the API server calls conversion webhooks only
// for CRDs that prune.
func conversionPreservesNothing(b *bundle) (errs []error) {
	converted := b.csv.conversions()
	for _, o := range b.crds {
		_, ok := converted[o.name()]
		if preserves, _ := preview.Value(o.body, "spec", "preserveUnknownFields").(bool); ok && preserves {
			errs = append(errs, fmt.Errorf("the custom resource definition %q has a conversion webhook and must not set spec.preserveUnknownFields", o.name()))
		}
	}
	return errs
}

// conversions maps the names of CRDs to the webhook that converts them.
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

// texts are the strings of a list.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
