package registryv1

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// maxName is the longest name that join aims at.
const maxName = 63

// suffix returns the base-36 SHA-224 of a value's JSON, including the newline at
// the end of the encoder's output, because OLM's names do.
func suffix(v any) (string, error) {
	h := sha256.New224()
	if err := json.NewEncoder(h).Encode(v); err != nil {
		return "", fmt.Errorf("naming a role: %w", err)
	}
	return new(big.Int).SetBytes(h.Sum(nil)).Text(36), nil
}

// join returns "base-suffix", with base shortened if the result is too long. A
// result of 64 characters, if the lengths add up to exactly 63, is as in OLM.
func join(base, suffix string) string {
	if len(base)+len(suffix) > maxName {
		base = base[:max(0, maxName-len(suffix)-1)]
	}
	return base + "-" + suffix
}

// roleName names the role and binding of a permission.
func roleName(csvName string, p permission) (string, error) {
	s, err := suffix(p)
	if err != nil {
		return "", err
	}
	return join(csvName+"-"+p.account(), s), nil
}

// serviceName names the Service in front of a deployment's webhooks.
func serviceName(deploymentName string) string {
	return join(strings.ReplaceAll(deploymentName, ".", "-"), "service")
}

// certName names the Secret, and the cert-manager Certificate, of a
// deployment's webhooks.
func certName(deploymentName string) string { return join(serviceName(deploymentName), "cert") }

func issuerName(deploymentName string) string {
	return join(certName(deploymentName), "selfsigned-issuer")
}
