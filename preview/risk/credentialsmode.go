package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudmatch"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// CredentialsRef returns the reference of the object that says how OpenShift serves
// CredentialsRequests (openshift/api operator/v1, CloudCredential).
func CredentialsRef() preview.Ref {
	return preview.Ref{APIVersion: "operator.openshift.io/v1", Kind: "CloudCredential", Name: "cluster"}
}

// ReadsCredentialsMode reports whether a plan's cloud access depends on the object
// of [CredentialsRef].
func ReadsCredentialsMode(access preview.Cloud) bool { return len(listCredentialRequests(access)) > 0 }

// The values of spec.credentialsMode in a CloudCredential. If it is empty, the cluster
// chooses Mint or Passthrough by what its root credential permits.
const (
	modeMint        = "Mint"
	modePassthrough = "Passthrough"
	modeManual      = "Manual"
)

// judgeCredentialsMode makes one finding about how the cluster answers the plan's
// CredentialsRequests.
func (c *scan) judgeCredentialsMode() {
	requests := listCredentialRequests(c.plan.Cloud)
	if len(requests) == 0 {
		return
	}
	id := CredentialsRef().ID()
	mode, known := c.credentialsMode()
	if !known {
		if slices.ContainsFunc(c.plan.Reads, func(r preview.Read) bool { return r.ID == UnreadID("CloudCredential", "") }) {
			c.hit(rules.CloudCredentialsMode.WithReason(), ruleHit{
				object: id, level: Notice, claim: preview.Claim{Predicate: "how the cluster serves CredentialsRequests may not be read"},
				evidence: words.Saw(words.ModeNotRead.Of(), words.PassthroughGivesAll.Of()),
			})
		}
		return
	}
	h := ruleHit{object: id, level: Notice, claim: preview.Claim{Predicate: "the mode of credentials is " + modeName(mode)}}
	rule := rules.CloudCredentialsMode.WithReason()
	for _, request := range requests {
		whole, what := request.served(mode)
		h.evidence = append(h.evidence, words.Saw(words.ModeGives.Of(modeName(mode), request.origin, request.provider, what))...)
		if whole {
			rule, h.level, h.claim = rules.CloudCredentialsMode, High, preview.Claim{} // the rule's claim
		}
	}
	c.hit(rule, h)
}

// credentialsMode returns how the cluster answers CredentialsRequests; known is false
// where that was not read.
func (c *scan) credentialsMode() (mode string, known bool) {
	id := CredentialsRef().ID()
	at := slices.IndexFunc(c.plan.Reads, func(r preview.Read) bool { return r.ID == id && r.Body != nil })
	if at < 0 {
		return "", false
	}
	return preview.String(c.plan.Reads[at].Body, "spec", "credentialsMode"), true
}

// grantsRequests reports whether the cluster is known to give whatever permissions a
// CredentialsRequest asks for, so that who writes one has the cloud account. In mode
// manual it gives none.
func (c *scan) grantsRequests() bool {
	mode, known := c.credentialsMode()
	return known && mode != modeManual
}

func modeName(mode string) string {
	if mode == "" {
		return "default"
	}
	return strings.ToLower(mode)
}

// credentialRequest is a request of a package for a cloud credential.
type credentialRequest struct{ provider, origin string }

// listCredentialRequests lists the CredentialsRequests of a plan, those in ConfigMaps
// and examples included, and the roles whose holders make CredentialsRequests at run
// time. Requests without any limit are left out: they get everything in any mode and
// have their own finding.
func listCredentialRequests(access preview.Cloud) []credentialRequest {
	var out []credentialRequest
	for _, p := range access.Permissions {
		if p.Change != preview.GrantRemoved && p.Effect != denied && strings.HasPrefix(p.Origin, "CredentialsRequest/") &&
			cloudmatch.UnscopedProvider(p) == None {
			out = append(out, credentialRequest{p.Provider, p.Origin})
		}
	}
	for _, d := range access.Declared {
		if d.Provider == cloud.Openshift && strings.HasPrefix(d.Origin, cloud.RunTime) {
			out = append(out, credentialRequest{d.Provider, d.Origin})
		}
	}
	slices.SortFunc(out, func(a, b credentialRequest) int {
		return strings.Compare(a.origin+"\x00"+a.provider, b.origin+"\x00"+b.provider)
	})
	return slices.Compact(out)
}

// served returns in words what the request gets in a mode; whole is true for a copy of
// the cluster's own credential. Only AWS and Google Cloud have a mint mode
// (cloud-credential-operator, docs of the modes).
func (r credentialRequest) served(mode string) (whole bool, what string) {
	const copied = "a copy of the credential of the cluster"
	mints := r.provider == cloud.AWS || r.provider == cloud.GCP
	switch {
	case mode == modePassthrough:
		return true, copied
	case mode == "" && (mints || r.provider == cloud.Openshift):
		return false, "an identity of its own, or " + copied + " where that one may not make identities"
	case mode == "":
		return true, copied
	case mode == modeManual:
		return false, "what is created for it by hand"
	case mode == modeMint && (mints || r.provider == cloud.Openshift):
		return false, "an identity of its own"
	case mode == modeMint:
		return false, "nothing, as credentials of " + r.provider + " cannot be minted"
	}
	return false, "what this review does not know"
}
