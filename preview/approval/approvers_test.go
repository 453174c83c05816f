package approval

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

func TestKeysAreRefusedWithAReason(t *testing.T) {
	big, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	small, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, public := pair(t, 0)
	block := func(kind string) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte("hunter2")}) }
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"RSA":             {privatePEM(t, big), "use ECDSA or Ed25519"},
		"a small curve":   {privatePEM(t, small), "P-224"},
		"the public half": {[]byte(public), "the public half"},
		"no PEM":          {[]byte("hunter2"), "no PEM block"},
		"noise":           {block("PRIVATE KEY"), "no private key in PKCS #8"},
		"noise of SEC 1":  {block("EC PRIVATE KEY"), "cannot be read"},
		"openssl's own":   {block("ENCRYPTED PRIVATE KEY"), "encrypted in a way"},
		"noise of cosign": {block(sigstoreKey), "does not open it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadKey(c.data, func() ([]byte, error) { return []byte("x"), nil })
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAKeyOfCosignIsOpenedByItsPassphrase(t *testing.T) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(signer)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := encrypted.Encrypt(der, []byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{sigstoreKey, cosignKey} {
		data := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: sealed})
		if _, err := ReadKey(data, func() ([]byte, error) { return []byte("wrong"), nil }); err == nil {
			t.Error("any passphrase opens it")
		}
		key, err := ReadKey(data, func() ([]byte, error) { return []byte("hunter2"), nil })
		if err != nil {
			t.Fatal(err)
		}
		if !signer.PublicKey.Equal(key.Public) {
			t.Error("another key came out")
		}
	}
}

func TestApproversFilesAreRefusedWithAReason(t *testing.T) {
	_, one := pair(t, 0)
	_, two := pair(t, 1)
	edit := func(change func(*Approvers)) []byte {
		a := people(one, two)
		change(a)
		data, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nobody":                {edit(func(a *Approvers) { a.Approvers = nil }), "names 0 approvers"},
		"another kind":          {edit(func(a *Approvers) { a.Kind = "Policy" }), "want kubectl-operator/v1alpha1 Approvers"},
		"no name":               {edit(func(a *Approvers) { a.Approvers[1].Name = "" }), "approver 2 has no name"},
		"a name twice":          {edit(func(a *Approvers) { a.Approvers[1].Name = "a" }), "approver a is named twice"},
		"a key under two names": {edit(func(a *Approvers) { a.Approvers[1].Key = one }), "the approvers a and b have the same key, sha256:"},
		"a key among others":    {edit(func(a *Approvers) { a.Approvers[1].Key += one }), "the approvers a and b have the same key, sha256:"},
		"no user":               {edit(func(a *Approvers) { a.Approvers[1].Users = nil }), "approver b has no users"},
		"no key":                {edit(func(a *Approvers) { a.Approvers[1].Key = "" }), "approver b: its key holds no PEM block"},
		"a private key": {edit(func(a *Approvers) {
			a.Approvers[1].Key = string(privatePEM(t, ed25519.NewKeyFromSeed(make([]byte, 32))))
		}), "is no public key"},
		"a field nobody knows":   {[]byte("apiVersion: x\nkind: z\nquorum: 2\n"), "unknown field"},
		"a key set twice":        {[]byte("kind: a\nkind: b\n"), "twice"},
		"two documents":          {[]byte("kind: a\n---\nkind: b\n"), "2 documents"},
		"nothing":                {nil, "0 documents"},
		"far more than anybody":  {make([]byte, maxApproversBytes+1), "more than 1 MiB"},
		"something else than it": {[]byte("hello"), "want apiVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadApprovers(c.data)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func FuzzApprovers(f *testing.F) {
	_, public := pair(f, 0)
	data, err := json.Marshal(people(public))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if a, err := ReadApprovers(data); err == nil && len(a.Approvers) == 0 {
			t.Error("nobody may approve")
		}
	})
}
