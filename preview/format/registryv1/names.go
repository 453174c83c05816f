package registryv1

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// maxName is the most characters of a name by [join] (63).
const maxName = 63

// suffix returns the hash at the end of OLM's names: the SHA-224 of a value's JSON in
// base 36, with the newline that Go's encoder writes after it.
func suffix(v any) (string, error) {
	h := sha256.New224()
	if err := json.NewEncoder(h).Encode(v); err != nil {
		return "", fmt.Errorf("naming a role: %w", err)
	}
	return new(big.Int).SetBytes(h.Sum(nil)).Text(36), nil
}

// join returns "BASE-SUFFIX", with base shortened if the result is too long. As in OLM,
// it has 64 characters if the two lengths add up to exactly 63.
func join(base, suffix string) string {
	if len(base)+len(suffix) > maxName {
		base = base[:max(0, maxName-len(suffix)-1)]
	}
	return base + "-" + suffix
}

// roleName returns the name of the role and the binding for a permission.
func roleName(csvName string, p permission) (string, error) {
	s, err := suffix(p)
	if err != nil {
		return "", err
	}
	return join(csvName+"-"+p.account(), s), nil
}

// serviceName returns the name of the Service for a Deployment's webhooks.
func serviceName(deploymentName string) string {
	return join(strings.ReplaceAll(deploymentName, ".", "-"), "service")
}

// certName returns the name of the Secret, and of the cert-manager Certificate, for a
// Deployment's webhooks.
func certName(deploymentName string) string { return join(serviceName(deploymentName), "cert") }

func issuerName(deploymentName string) string {
	return join(certName(deploymentName), "selfsigned-issuer")
}
