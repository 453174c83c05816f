package registryv1

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/servingcert"
)

// The certificate providers of webhooks.
const (
	certManager = preview.CertsCertManager
	serviceCA   = preview.CertsServiceCA
	generated   = preview.CertsGenerated
	certsNone   = preview.CertsNone
)

// certProvider returns the certificate provider of the flag, else the one for the
// cluster, or cert-manager where none is asked; empty for a bundle without webhooks.
func certProvider(ctx context.Context, b *bundle, flag string, by format.Certifier) (string, error) {
	switch {
	case flag != "" && !slices.Contains(preview.CertProviders(), flag):
		return "", fmt.Errorf("certs %q: want one of %s", flag, strings.Join(preview.CertProviders(), ", "))
	case len(b.csv.webhooks) == 0:
		return "", nil
	case flag != "":
		return flag, nil
	case by != nil:
		return by.Provider(ctx)
	}
	return certManager, nil
}

// servingCert is the certificate of a deployment with webhooks, made without a
// provider in the cluster.
type servingCert struct {
	*servingcert.Set
	made bool
}

func (c servingCert) fingerprint() string {
	sum := sha256.Sum256(c.Certificate)
	return hex.EncodeToString(sum[:])
}

// certify gets the certificate of each deployment with webhooks, where the provider
// is [generated].
func certify(ctx context.Context, b *bundle, p *params, by format.Certifier) error {
	if p.certs != generated {
		return nil
	}
	if by == nil {
		return errors.New("certs generated: no certificates are made here")
	}
	p.certificates = map[string]servingCert{}
	for _, d := range b.servingDeployments() {
		set, made, err := by.Certificate(ctx, p.namespace, certName(d.name), hosts(d.name, p.namespace))
		if err != nil {
			return fmt.Errorf("the certificate in Secret %s: %w", certName(d.name), err)
		}
		p.certificates[d.name] = servingCert{set, made}
	}
	return nil
}

// servingDeployments returns the deployments with webhooks.
func (b *bundle) servingDeployments() []deployment {
	serving := map[string]bool{}
	for _, w := range b.csv.webhooks {
		serving[w.deploymentName] = true
	}
	var out []deployment
	for _, d := range b.csv.deployments {
		if serving[d.name] {
			out = append(out, d)
		}
	}
	return out
}

// hosts returns the names of a deployment's Service; the API server calls the second.
func hosts(deployment, namespace string) []string {
	host := serviceName(deployment) + "." + namespace
	return []string{host, host + ".svc", host + ".svc.cluster.local"}
}

func annotate(body map[string]any, key, value string) {
	child(child(body, "metadata"), "annotations")[key] = value
}

// injectCA has the API server trust the webhooks that an object names: it sets the
// caBundle, or asks the provider to fill it in.
func injectCA(body map[string]any, deploymentName string, p params) {
	switch p.certs {
	case certManager:
		annotate(body, "cert-manager.io/inject-ca-from", p.namespace+"/"+certName(deploymentName))
	case serviceCA:
		annotate(body, "service.beta.openshift.io/inject-cabundle", "true")
	case generated:
		servingcert.SetAuthority(body, preview.String(p.certificates[deploymentName].Data(), servingcert.KeyAuthority))
	}
}

// certifyService adds the annotation that makes service-ca issue a certificate for a
// Service, if that is the provider.
func certifyService(body map[string]any, deploymentName string, p params) {
	if p.certs == serviceCA {
		annotate(body, "service.beta.openshift.io/serving-cert-secret-name", certName(deploymentName))
	}
}

// certificates returns what holds or asks for the certificate of each deployment with
// webhooks: the Secret of one that was made for the plan, or a self-signed Issuer and
// a Certificate for cert-manager.
func certificates(b *bundle, p params) ([]format.RenderedObject, error) {
	var out []format.RenderedObject
	for _, d := range b.servingDeployments() {
		switch p.certs {
		case certManager:
			for _, body := range certManagerObjects(d.name, p.namespace) {
				out = append(out, b.generated(body, d.lines))
			}
		case generated:
			secret := newObject("v1", "Secret", p.namespace, certName(d.name))
			secret["type"], secret["data"] = servingcert.SecretType, p.certificates[d.name].Data()
			out = append(out, b.generated(secret, d.lines))
		}
	}
	return out, nil
}

func certManagerObjects(deployment, namespace string) []map[string]any {
	issuer := newObject("cert-manager.io/v1", "Issuer", namespace, issuerName(deployment))
	issuer["spec"] = map[string]any{"selfSigned": map[string]any{}}
	names := hosts(deployment, namespace)
	cert := newObject("cert-manager.io/v1", "Certificate", namespace, certName(deployment))
	cert["spec"] = map[string]any{
		"secretName":  certName(deployment),
		"commonName":  names[0],
		"dnsNames":    anyList(names),
		"usages":      []any{"server auth"},
		"isCA":        false,
		"duration":    "17520h0m0s", // 730 days, as Go prints durations
		"renewBefore": "24h0m0s",
		"issuerRef":   map[string]any{"name": issuerName(deployment)},
	}
	return []map[string]any{issuer, cert}
}

// certNotes returns what the provider of certificates means for the webhooks of a
// bundle, and when those end that were made for the plan.
func certNotes(b *bundle, p params, pkg string) []preview.Note {
	if p.certs == "" {
		return nil
	}
	notes := []preview.Note{rules.WebhookCertificates.Note("package/"+pkg, rules.CertificateProvider(p.certs))}
	for _, d := range b.servingDeployments() {
		cert, ok := p.certificates[d.name]
		if !ok {
			continue
		}
		secret := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: p.namespace, Name: certName(d.name)}
		leaf := servingcert.Leaf(map[string]any{"kind": "Secret", "type": servingcert.SecretType, "data": cert.Data()})
		due, ends := servingcert.Due(leaf).UTC().Format(time.DateOnly), leaf.NotAfter.UTC().Format(time.DateOnly)
		rule := rules.CertificateKept
		if cert.made {
			rule = rules.CertificateMade
		}
		notes = append(notes, rule.Note(secret.ID(), rule.NoteText(ends, due)))
	}
	return notes
}
