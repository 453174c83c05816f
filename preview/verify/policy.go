package verify

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says whether a missing signature is refused, reported or ignored.
type Mode string

// The modes. A signature that is there and does not hold is refused by both
// Required and IfPresent.
const (
	Required  Mode = "required"   // no signature by the named signer, no plan
	IfPresent Mode = "if-present" // unsigned content passes, as unverified
	Off       Mode = "off"        // signatures are not looked at
)

// ParseMode parses a mode. Empty text is valid, and means the default of the policy.
func ParseMode(s string) (Mode, error) {
	if m := Mode(s); m == "" || m == Required || m == IfPresent || m == Off {
		return m, nil
	}
	return "", fmt.Errorf("%q is not a mode of verification: want required, if-present or off", s)
}

// Signer names the required signer, as the user gives it: by a file of public keys, or
// by the identity in a certificate, its issuer and a file with the trusted root.
type Signer struct {
	Key         string // file of PEM public keys; any of them will do
	Identity    string // exact subject alternative name of the certificate
	Issuer      string // exact OIDC issuer in the certificate
	TrustedRoot string // file in Sigstore's TrustedRoot JSON form
}

// Check returns an error if the signer is named both by key and by certificate, or only
// in part by certificate. A signer that is not named at all is no error.
func (s Signer) Check() error {
	byCertificate := s.Identity != "" || s.Issuer != "" || s.TrustedRoot != ""
	switch {
	case s.Key != "" && byCertificate:
		return fmt.Errorf("a signer is named by a key or by a certificate's identity, not both")
	case byCertificate && (s.Identity == "" || s.Issuer == "" || s.TrustedRoot == ""):
		return fmt.Errorf("a certificate's signer takes an identity, its OIDC issuer and a trusted root, all three")
	}
	return nil
}

// Policy sets which signer must have signed content of the repositories below a prefix.
type Policy struct {
	// Prefix is HOST, or HOST/REPO with whole path segments; empty means every
	// repository.
	Prefix string
	Mode   Mode // empty: Required with a signer, else IfPresent
	Signer Signer
}

// mode returns the policy's mode. Without one it is Required if a signer is named, else
// IfPresent, as nothing can be verified then.
func (p Policy) mode() Mode {
	switch {
	case p.Mode != "":
		return p.Mode
	case p.Signer != Signer{}:
		return Required
	}
	return IfPresent
}

// CheckPolicies returns an error if a policy is invalid, or if two have the same
// prefix.
func CheckPolicies(policies []Policy) error {
	seen := map[string]bool{}
	for _, p := range policies {
		if err := p.Signer.Check(); err != nil {
			return fmt.Errorf("verification policy for %q: %w", p.Prefix, err)
		}
		if _, err := ParseMode(string(p.Mode)); err != nil {
			return fmt.Errorf("verification policy for %q: %w", p.Prefix, err)
		}
		if strings.ContainsAny(p.Prefix, "@ *") || strings.Contains(p.Prefix, "://") {
			return fmt.Errorf("verification policy for %q: a prefix is HOST or HOST/REPO, without tag, digest and wildcard", p.Prefix)
		}
		prefix := strings.TrimSuffix(canonical(p.Prefix), "/")
		if seen[prefix] {
			return fmt.Errorf("verification policy for %q: there are two; one prefix has one policy", p.Prefix)
		}
		seen[prefix] = true
	}
	return nil
}

// Choose returns the policy for a repository (HOST/REPO, without tag and digest; empty
// for content from elsewhere): the one with the longest matching prefix, with mode and
// signer replaced by override's if set. The mode of the result is never empty; without
// any it is Required if there is a signer.
func Choose(policies []Policy, override Policy, repository string) Policy {
	repository = canonicalRepository(repository)
	var chosen Policy
	longest := -1
	for _, p := range policies {
		prefix := strings.TrimSuffix(canonical(p.Prefix), "/")
		if covers(prefix, repository) && len(prefix) > longest {
			chosen, longest = p, len(prefix)
		}
	}
	if override.Signer != (Signer{}) {
		chosen.Signer, chosen.Mode = override.Signer, ""
	}
	if override.Mode != "" {
		chosen.Mode = override.Mode
	}
	chosen.Mode = chosen.mode()
	return chosen
}

func covers(prefix, repository string) bool {
	return prefix == "" || prefix == repository || strings.HasPrefix(repository, prefix+"/")
}

// hubNames are the host names of Docker Hub. The first replaces the others before
// policies are compared, so that a catalog cannot evade a policy by writing another.
var hubNames = []string{"docker.io", "index.docker.io", "registry-1.docker.io"}

// canonical returns a prefix of repositories in the form for comparing prefixes: host in
// lower case, without port 443, and Docker Hub under its first name.
func canonical(prefix string) string {
	host, rest, found := strings.Cut(prefix, "/")
	host = strings.TrimSuffix(strings.ToLower(host), ":443")
	if slices.Contains(hubNames, host) {
		host = hubNames[0]
	}
	if !found {
		return host
	}
	return host + "/" + rest
}

// canonicalRepository is like [canonical] for the whole name of a repository, and adds
// "library/" to names of Docker Hub that have no owner.
func canonicalRepository(name string) string {
	name = canonical(name)
	if rest, ok := strings.CutPrefix(name, hubNames[0]+"/"); ok && !strings.Contains(rest, "/") {
		return hubNames[0] + "/library/" + rest
	}
	return name
}
