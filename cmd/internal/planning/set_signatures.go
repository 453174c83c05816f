package planning

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/verify"
)

// bundleType is the media type of the bundles that are read as files.
const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// signatureCheck holds every artifact of a plugin set to who must have signed
// it: images by what lies beside them, others by the bundle that the config
// names.
func (p SetPlanner) signatureCheck() (func(context.Context, *source.Fetcher, source.Pin, []byte) (plugins.Signed, error), error) {
	configured, err := p.env.Config()
	if err != nil {
		return nil, err
	}
	c, err := newChecker(configured.Verification, p.Signatures)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, from *source.Fetcher, pin source.Pin, bundle []byte) (plugins.Signed, error) {
		var got provenance
		var err error
		if bundle == nil {
			got, err = c.check(ctx, from, pin)
		} else {
			got, err = c.detached(pin, bundle)
		}
		out := plugins.Signed{Verification: got.verification, Rule: got.rule, Text: got.text}
		if !got.looked && got.rule.Name == "" {
			out.Verification = preview.Verification{} // no signer is trusted, and nothing was to be looked at
		}
		return out, err
	}, nil
}

// detached decides by a Sigstore bundle over the very bytes of an artifact.
func (c *checker) detached(pin source.Pin, bundle []byte) (provenance, error) {
	policy := verify.Choose(c.policies, c.override, repositoryOf(pin.Reference))
	out := provenance{verification: preview.Verification{Status: verify.Unverified}}
	trust, err := verify.Load(policy.Signer)
	if err != nil {
		return out, err
	}
	switch {
	case policy.Mode == verify.Off && trust != nil:
		out.rule, out.text = rules.SignatureIgnored, rules.SignatureIgnored.Says()
		return out, nil
	case policy.Mode == verify.Off:
		return out, nil
	case trust == nil: // no signer to trust: a refusal, or nothing to do
		_, err := verify.Check(policy.Mode, nil, pin.Source.Digest, nil)
		return out, refusal(err)
	}
	out.looked = true
	out.verification, err = verify.Check(policy.Mode, trust, pin.Source.Digest, []verify.Artifact{{MediaType: bundleType, Payload: bundle}})
	return out, refusal(err)
}
