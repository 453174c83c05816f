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

// certificates implements [format.Certifier] for one release, with one cluster.
// All plans of a command get the same generated certificates, so that a plan
// made again is equal.
type certificates struct {
	release preview.Release
	cluster format.Cluster // nil where none may be asked
	made    *madeCertificates
}

// madeCertificates are the certificates of a command's plans so far, by Secret,
// hosts and release.
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

// Provider returns what issues the certificates of webhooks: cert-manager if
// the cluster serves its API, else service-ca if it serves OpenShift's, else
// generated. Without a cluster it is cert-manager: generated certificates would
// change the content digest.
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

// Certificate returns the certificate in a Secret of the release or, if that is not
// valid for hosts or is due to be renewed, a new one; the bool is true for a new one. A
// Secret that may not be read counts as missing: the plan then lists it as not known.
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
