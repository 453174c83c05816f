package planning

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/verify"
)

// SignatureOptions are the flags that say whose signature is required. They
// override the configured policies.
type SignatureOptions struct {
	Mode   string // a [verify.Mode]
	Signer verify.Signer
}

// policy returns the flags as a signature policy, which overrides all configured ones.
func (o *SignatureOptions) policy() (verify.Policy, error) {
	mode, err := verify.ParseMode(o.Mode)
	if err != nil {
		return verify.Policy{}, Usagef("--verify %s: want required, if-present or off", o.Mode)
	}
	if err := o.Signer.Check(); err != nil {
		return verify.Policy{}, Usagef("%s: --verify-key, or --certificate-identity, --certificate-oidc-issuer and --trusted-root", err)
	}
	if mode == verify.Off && o.Signer != (verify.Signer{}) {
		return verify.Policy{}, Usagef("--verify off looks at no signature; leave out who must have signed")
	}
	return verify.Policy{Mode: mode, Signer: o.Signer}, nil
}

// checker verifies that content is signed as required.
type checker struct {
	policies []verify.Policy
	override verify.Policy
}

func newChecker(configured config.Verification, options SignatureOptions) (*checker, error) {
	c := &checker{}
	var err error
	if c.override, err = options.policy(); err != nil {
		return nil, err
	}
	for _, p := range configured.Policies {
		c.policies = append(c.policies, verify.Policy{
			Prefix: p.Prefix, Mode: verify.Mode(p.Mode),
			Signer: verify.Signer{Key: p.Key, Identity: p.Identity, Issuer: p.Issuer, TrustedRoot: p.TrustedRoot},
		})
	}
	if err := verify.CheckPolicies(c.policies); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return c, nil
}

// provenance is the verification result of some content's signature, and its referrers.
type provenance struct {
	verification preview.Verification
	looked       bool // for signatures, because a signer is trusted
	listed       bool // referrers holds all that is to be known
	referrers    []preview.Referrer
	rule         rules.Rule // of the finding that there is to be, with its text
	text         string
}

// weakerProvenance returns, for two contents that are used together, the
// verification result of the one that is verified less well.
func weakerProvenance(a, b provenance) provenance {
	if a.rule.Name == "" && (b.rule.Name != "" || a.verification.Status == "verified") {
		return b
	}
	return a
}

// notes returns the notes about a package's signature.
func (c provenance) notes(pkg string) []preview.Note {
	if c.rule.Name == "" {
		return nil
	}
	return []preview.Note{c.rule.Note("package/"+pkg, c.text)}
}

// check verifies the signature of content that is pinned, before the content is
// read, and returns an error with exit code 5 if the policy refuses it.
func (c *checker) check(ctx context.Context, from *source.Fetcher, pin source.Pin) (provenance, error) {
	policy := verify.Choose(c.policies, c.override, repositoryOf(pin.Reference))
	out := provenance{verification: preview.Verification{Status: verify.Unverified}}
	trust, err := verify.Load(policy.Signer)
	if err != nil {
		return out, err
	}
	digest := pin.Source.Digest
	switch {
	case policy.Mode == verify.Off:
		if out.listed = true; trust != nil {
			out.rule, out.text = rules.SignatureIgnored, rules.SignatureIgnored.NoteText()
		}
		return out, nil
	case trust == nil: // no signer to trust: a refusal, or nothing to do
		_, err := verify.Check(policy.Mode, nil, digest, nil)
		return out, refusal(err)
	case policy.Mode == verify.Required && !source.Signed(pin.Reference.Kind):
		return out, Refuse(fmt.Sprintf("signatures are required, and %s is of a kind that carries none", pin.Reference.Text),
			"use an image, or --verify if-present")
	}
	out.looked, out.listed = true, true
	signatures, referrers, readErr := from.Signatures(ctx, pin)
	out.referrers = referrers
	out.verification, err = verify.Check(policy.Mode, trust, digest, artifacts(signatures))
	switch {
	case out.verification.Status == verify.Verified:
		return out, nil // what could not be read beside it does not matter
	case err != nil && len(signatures) > 0:
		return out, refusal(err)
	case readErr != nil: // what it would have said is not known
		return out, unreadableError(readErr)
	case err != nil:
		return out, refusal(err)
	}
	out.rule, out.text = rules.SignatureMissing, rules.SignatureMissing.NoteText()+verify.UncountedSignatures(len(signatures))
	return out, nil
}

// unreadableError returns the error for signatures that could not be read: a refusal
// if they are in no known form, else err, of a request that can be tried again.
func unreadableError(err error) error {
	if _, odd := errors.AsType[*source.UnreadableSignature](err); odd {
		return Refuse("verification failed: "+err.Error(), "take content that its publisher signed in a form that cosign writes")
	}
	return err
}

func artifacts(signatures []source.Signature) []verify.Artifact {
	var out []verify.Artifact
	for _, s := range signatures {
		out = append(out, verify.Artifact{MediaType: s.MediaType, Annotations: s.Annotations, Payload: s.Payload})
	}
	return out
}

// refusal returns a refusal of package verify as an [engine.RefusedError] with
// advice; any other error stays as it is.
func refusal(err error) error {
	if refused, ok := errors.AsType[*verify.UnverifiedError](err); ok {
		return Refuse(refused.What, refused.Next)
	}
	return err
}

// repositoryOf returns HOST/REPO of an image, by which its signature policy is
// chosen; empty for content outside a registry.
func repositoryOf(r ref.Reference) string {
	if r.Kind != ref.KindImage {
		return ""
	}
	return repositoryName(r.Image)
}
