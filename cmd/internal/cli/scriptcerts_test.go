package cli_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/servingcert"
)

// readSecret reads a Secret with the certificate of webhooks.
func readSecret(t testing.TB, ts *testscript.TestScript, namespace, name string) map[string]any {
	ts.Check(ts.Exec(sandboxtest.Kubectl(t), "get", "secret", name, "-n", namespace, "-o", "json"))
	var secret map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &secret))
	return secret
}

// agecert NAMESPACE SECRET DAYS puts a certificate that was made days ago, by the same
// authority for the same names, in the place of the webhooks' certificate.
func ageCertCommand(t testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		days, err := strconv.Atoi(args[2])
		ts.Check(err)
		secret := readSecret(t, ts, args[0], args[1])
		set, leaf := servingcert.Read(secret), servingcert.Leaf(secret)
		block, _ := pem.Decode(set.Authority)
		ca, err := x509.ParseCertificate(block.Bytes)
		ts.Check(err)
		block, _ = pem.Decode(set.AuthorityKey)
		by, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		ts.Check(err)
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		ts.Check(err)
		old := *leaf
		old.SerialNumber, old.PublicKey = big.NewInt(1), nil
		old.NotBefore, old.NotAfter = leaf.NotBefore.AddDate(0, 0, -days), leaf.NotAfter.AddDate(0, 0, -days)
		// As this program writes it: a value of another manager would be contested. It is written
		// again until its second is later than any write of the release: the
		// history compares whole seconds.
		for now := time.Now().UTC().Format(time.RFC3339); writtenAt(t, ts, args) <= now; {
			der, err := x509.CreateCertificate(rand.Reader, &old, ca, key.Public(), by)
			ts.Check(err)
			set.Certificate, set.Key = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pemKey(ts, key)
			secret["data"] = set.Data()
			delete(secret["metadata"].(map[string]any), "resourceVersion") // of the write before
			body, err := json.Marshal(secret)
			ts.Check(err)
			file := ts.MkAbs("aged.json")
			ts.Check(os.WriteFile(file, body, 0o600))
			ts.Check(ts.Exec(sandboxtest.Kubectl(t), "apply", "--server-side", "--force-conflicts", "--field-manager", preview.FieldManager, "-f", file))
		}
	}
}

// writtenAt returns when this program's field manager last wrote to a Secret.
func writtenAt(t testing.TB, ts *testscript.TestScript, args []string) (last string) {
	ts.Check(ts.Exec(sandboxtest.Kubectl(t), "get", "secret", args[1], "-n", args[0], "-o", "json", "--show-managed-fields"))
	var secret map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &secret))
	for _, owner := range preview.FieldOwners(secret) {
		if owner.Manager == preview.FieldManager {
			last = max(last, owner.Time)
		}
	}
	return last
}

func pemKey(ts *testscript.TestScript, key crypto.PrivateKey) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// trusted NAMESPACE SECRET checks that the API server trusts the certificate of webhooks:
// each that calls one of its names has the authority that issued it.
func trustedCommand(t testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		secret := readSecret(t, ts, args[0], args[1])
		leaf := servingcert.Leaf(secret)
		ts.Check(ts.Exec(sandboxtest.Kubectl(t), "get", "validatingwebhookconfigurations", "-o", "json"))
		var list map[string]any
		ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
		calls := 0
		for _, config := range preview.Maps(list, "items") {
			for _, client := range servingcert.Clients(config) {
				host := preview.String(client, "service", "name") + "." + preview.String(client, "service", "namespace") + ".svc"
				bundle, err := base64.StdEncoding.DecodeString(preview.String(client, "caBundle"))
				ts.Check(err)
				roots := x509.NewCertPool()
				if !roots.AppendCertsFromPEM(bytes.TrimSpace(bundle)) {
					ts.Fatalf("the caBundle for %s holds no certificate", host)
				}
				if leaf.VerifyHostname(host) != nil {
					continue // of another package
				}
				calls++
				if _, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: time.Now()}); err != nil {
					ts.Fatalf("calls of %s fail: %v", host, err)
				}
			}
		}
		if calls == 0 {
			ts.Fatalf("no webhook calls %v", leaf.DNSNames)
		}
	}
}
