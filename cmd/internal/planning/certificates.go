package planning

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/servingcert"
)

// certificates implements [format.Certifier] with one cluster. What it made stays the
// same for all plans of a command, so that a plan made again is equal.
type certificates struct {
	release preview.Release
	cluster format.Cluster // nil where none may be asked
	made    *madeCertificates
}

// madeCertificates are certificates by the id of their Secret and their hosts.
type madeCertificates struct {
	mu  sync.Mutex
	all map[string]certificate
}

type certificate struct {
	*servingcert.Set
	made bool
}

// The APIs by which a cluster shows that it issues certificates.
const (
	certManagerAPI = "cert-manager.io/v1/Certificate"
	serviceCAAPI   = "operator.openshift.io/v1/ServiceCA"
)

// Provider returns cert-manager where it is served, service-ca where OpenShift's is,
// and else generated. Without a cluster it is cert-manager, so that the digest of
// content does not depend on when it was made.
func (c certificates) Provider(ctx context.Context) (string, error) {
	if c.cluster == nil {
		return preview.CertsCertManager, nil
	}
	served, err := c.cluster.APIVersions(ctx)
	if err != nil {
		return "", fmt.Errorf("looking for what issues the certificates of webhooks (--certs): %w", err)
	}
	switch {
	case slices.Contains(served, certManagerAPI):
		return preview.CertsCertManager, nil
	case slices.Contains(served, serviceCAAPI):
		return preview.CertsServiceCA, nil
	}
	return preview.CertsGenerated, nil
}

// Certificate returns the certificate in a Secret of the release while it is good, and
// else another one. A Secret that may not be read is taken for none: the plan then
// lists it as not known.
func (c certificates) Certificate(ctx context.Context, namespace, secret string, hosts []string) (*servingcert.Set, bool, error) {
	c.made.mu.Lock()
	defer c.made.mu.Unlock()
	ref := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: secret}
	key := fmt.Sprintf("%s %q %s", ref.ID(), hosts, preview.SetID(c.release))
	if known, ok := c.made.all[key]; ok {
		return known.Set, known.made, nil
	}
	var have *servingcert.Set
	if c.cluster != nil {
		live, err := c.cluster.Get(ctx, ref)
		if err != nil && preview.ReasonOf(err) != preview.ReasonForbidden {
			return nil, false, err
		}
		if err == nil && live != nil && preview.IsMember(live, c.release) {
			have = servingcert.Read(live)
		}
	}
	set, made, err := have.Renew(hosts, time.Now())
	if err != nil {
		return nil, false, err
	}
	c.made.all[key] = certificate{set, made}
	return set, made, nil
}
