package cli_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
)

// signkey NAME ecdsa|ed25519|cosign makes a key pair, NAME.key and NAME.pub; of
// a cosign key the passphrase is hunter2.
func signKeyCommand(ts *testscript.TestScript, _ bool, args []string) {
	private, public, err := signKey(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), private, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pub"), public, 0o600))
}

func signKey(kind string) (private, public []byte, err error) {
	var key crypto.Signer
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); kind == "ed25519" {
		_, key, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	block := &pem.Block{Type: "PRIVATE KEY", Bytes: der}
	if kind == "cosign" {
		block.Type = "ENCRYPTED SIGSTORE PRIVATE KEY"
		if block.Bytes, err = encrypted.Encrypt(der, []byte("hunter2")); err != nil {
			return nil, nil, err
		}
	}
	der, err = x509.MarshalPKIXPublicKey(key.Public())
	return pem.EncodeToMemory(block), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), err
}

// approvers FILE [FIELD: true]... NAME:KEYFILE[:USER]... writes a file of
// approvers.
func approversCommand(ts *testscript.TestScript, _ bool, args []string) {
	var b strings.Builder
	b.WriteString("apiVersion: kubectl-operator/v1alpha1\nkind: Approvers\n")
	people := "approvers:\n"
	for _, arg := range args[1:] {
		if strings.HasSuffix(arg, ": true") {
			b.WriteString(arg + "\n")
			continue
		}
		parts := strings.Split(arg, ":")
		key := strings.ReplaceAll(strings.TrimSpace(ts.ReadFile(parts[1]+".pub")), "\n", "\n    ")
		people += fmt.Sprintf("- name: %s\n  key: |\n    %s\n", parts[0], key)
		if len(parts) > 2 {
			people += fmt.Sprintf("  users: [%q]\n", parts[2])
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()+people), 0o600))
}

// needs VAR PLANFILE sets a variable to the id of the plan's one critical finding.
func needsCommand(ts *testscript.TestScript, _ bool, args []string) {
	file, err := planfile.Load(ts.MkAbs(args[1]), planfile.Keys{})
	ts.Check(err)
	found := approval.NeededAcceptances(file.Plan)
	if len(found) != 1 {
		ts.Fatalf("%d findings have to be accepted, want one", len(found))
	}
	ts.Setenv(args[0], found[0].ID)
}
