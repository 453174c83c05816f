package registryv1

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// The certificate providers of webhooks.
const (
	certManager = "cert-manager"
	serviceCA   = "service-ca" // OpenShift's service-ca operator
	certsNone   = "none"       // the API server will not trust the webhook
)

// certProvider returns the provider of certificates that the flag names, cert-manager
// if it is empty. A bundle without webhooks has none, and the result is empty.
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

// injectCA adds the annotation that makes the provider of certificates set the caBundle
// of a webhook configuration or of a CRD's conversion.
func injectCA(body map[string]any, deploymentName string, p params) {
	switch p.certs {
	case certManager:
		annotate(body, "cert-manager.io/inject-ca-from", p.namespace+"/"+certName(deploymentName))
	case serviceCA:
		annotate(body, "service.beta.openshift.io/inject-cabundle", "true")
	}
}

// certifyService adds the annotation that makes service-ca issue a certificate for a
// Service, if that is the provider.
func certifyService(body map[string]any, deploymentName string, p params) {
	if p.certs == serviceCA {
		annotate(body, "service.beta.openshift.io/serving-cert-secret-name", certName(deploymentName))
	}
}

// certificates returns the objects for cert-manager: a self-signed Issuer, and a
// Certificate for each deployment with webhooks.
func certificates(b *bundle, p params) ([]format.RenderedObject, error) {
	if p.certs != certManager {
		return nil, nil
	}
	serving := map[string]bool{}
	for _, w := range b.csv.webhooks {
		serving[w.deploymentName] = true
	}
	var out []format.RenderedObject
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
		out = append(out, b.generated(issuer, d.line), b.generated(cert, d.line))
	}
	return out, nil
}
