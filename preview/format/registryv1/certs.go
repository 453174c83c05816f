package registryv1

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// The certificate providers of webhooks.
const (
	certManager = "cert-manager"
	serviceCA   = "service-ca" // OpenShift's service-ca operator
	certsNone   = "none"       // the API server will not trust the webhook
)

// certProvider is the flag, else cert-manager; empty without webhooks.
func certProvider(b *bundle, flag string) (string, error) {
	switch flag {
	case "", certManager, serviceCA, certsNone:
	default:
		return "", fmt.Errorf("certs %q: want one of %s, %s, %s", flag, certManager, serviceCA, certsNone)
	}
	switch {
	case len(b.csv.webhooks) == 0:
		return "", nil
	case flag == "":
		return certManager, nil
	}
	return flag, nil
}

func annotate(body map[string]any, key, value string) {
	child(child(body, "metadata"), "annotations")[key] = value
}

// injectCA asks the provider to fill in the caBundle of a webhook
// configuration or of a CRD's conversion.
func injectCA(body map[string]any, deploymentName string, p params) {
	switch p.certs {
	case certManager:
		annotate(body, "cert-manager.io/inject-ca-from", p.namespace+"/"+certName(deploymentName))
	case serviceCA:
		annotate(body, "service.beta.openshift.io/inject-cabundle", "true")
	}
}

// certifyService asks service-ca for the Service's serving certificate.
func certifyService(body map[string]any, deploymentName string, p params) {
	if p.certs == serviceCA {
		annotate(body, "service.beta.openshift.io/serving-cert-secret-name", certName(deploymentName))
	}
}

// certificates makes what cert-manager needs: a self-signed Issuer and a
// Certificate per deployment that serves webhooks.
func certificates(b *bundle, p params) ([]format.Rendered, error) {
	if p.certs != certManager {
		return nil, nil
	}
	serving := map[string]bool{}
	for _, w := range b.csv.webhooks {
		serving[w.deploymentName] = true
	}
	var out []format.Rendered
	for _, d := range b.csv.deployments {
		if !serving[d.name] {
			continue
		}
		issuer := newObject("cert-manager.io/v1", "Issuer", p.namespace, issuerName(d.name))
		issuer["spec"] = map[string]any{"selfSigned": map[string]any{}}
		host := serviceName(d.name) + "." + p.namespace
		cert := newObject("cert-manager.io/v1", "Certificate", p.namespace, certName(d.name))
		cert["spec"] = map[string]any{
			"secretName":  certName(d.name),
			"commonName":  host,
			"dnsNames":    []any{host, host + ".svc", host + ".svc.cluster.local"},
			"usages":      []any{"server auth"},
			"isCA":        false,
			"duration":    "17520h0m0s", // 730 days, as Go prints durations
			"renewBefore": "24h0m0s",
			"issuerRef":   map[string]any{"name": issuerName(d.name)},
		}
		out = append(out, b.generated(issuer), b.generated(cert))
	}
	return out, nil
}

// ruleWithoutCA is the risk rule of webhooks rendered with --certs none.
const ruleWithoutCA = "webhook-without-ca"

// findings names every webhook and conversion that was rendered without a
// certificate authority.
func findings(b *bundle, p params, objects []format.Rendered) []preview.Finding {
	if p.certs != certsNone {
		return nil
	}
	converted := b.csv.conversions()
	var out []preview.Finding
	for _, o := range objects {
		ref := preview.RefOf(o.Body)
		switch ref.Kind {
		case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
			out = append(out, withoutCA(ref, "webhooks[0].clientConfig.caBundle"))
		case "CustomResourceDefinition":
			if _, ok := converted[ref.Name]; ok {
				out = append(out, withoutCA(ref, "spec.conversion.webhook.clientConfig.caBundle"))
			}
		}
	}
	return out
}

func withoutCA(ref preview.Ref, field string) preview.Finding {
	evidence := fmt.Sprintf("%s %s: %s is empty", ref.Kind, ref.Name, field)
	return preview.Finding{
		ID:       ruleWithoutCA + "/" + ref.ID(),
		Rule:     ruleWithoutCA,
		Severity: preview.Critical,
		Title:    "webhook without a certificate authority",
		Why: "the API server cannot verify the webhook, so every request that it covers fails or goes unchecked " +
			"until somebody provides a certificate and the caBundle",
		Object:      ref.ID(),
		Evidence:    evidence,
		Fingerprint: preview.FindingFingerprint(ruleWithoutCA, evidence),
	}
}
