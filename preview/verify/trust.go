package verify

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sigstore/sigstore-go/pkg/root"
	sigverify "github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
)

const (
	maxTrustFile = 4 << 20 // the public instance's trusted root has 7 KB
	maxKeys      = 16      // in one file
)

// Trust holds the loaded verification material of a required signer: either keys
// or one certificate's identity. It is safe for concurrent use.
type Trust struct {
	signer Signer
	keys   []key

	keyless  *sigverify.Verifier
	identity sigverify.CertificateIdentity
}

// key is one public key, with a verifier for each hash function that signers use with
// it.
type key struct {
	name      string // "key sha256:HEX", the hash of its PKIX form
	verifiers []signature.Verifier
}

// Load reads the files that a signer names. The result is nil if no signer is named.
func Load(s Signer) (*Trust, error) {
	if s == (Signer{}) {
		return nil, nil
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.Key != "" {
		return loadKeys(s)
	}
	return loadRoot(s)
}

// String returns the trusted signer in words that can follow "by".
func (t *Trust) String() string {
	if t.keyless != nil {
		return t.signer.Identity + ", as " + t.signer.Issuer + " vouches"
	}
	if len(t.keys) == 1 {
		return t.keys[0].name
	}
	return fmt.Sprintf("one of the %d keys in %s", len(t.keys), t.signer.Key)
}

func loadKeys(s Signer) (*Trust, error) {
	data, err := readFile(s.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the verification key: %w", err)
	}
	t := &Trust{signer: s}
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			break
		}
		data = rest
		k, err := readKey(block)
		if err != nil {
			return nil, fmt.Errorf("reading the verification key %s: %w", s.Key, err)
		}
		if t.keys = append(t.keys, k); len(t.keys) > maxKeys {
			return nil, fmt.Errorf("reading the verification key %s: more than %d keys", s.Key, maxKeys)
		}
	}
	if len(t.keys) == 0 {
		return nil, fmt.Errorf("reading the verification key: %s holds no PEM block; want a PUBLIC KEY such as cosign.pub", s.Key)
	}
	return t, nil
}

func readKey(block *pem.Block) (key, error) {
	pub, err := cryptoutils.UnmarshalPEMToPublicKey(pem.EncodeToMemory(block))
	if err != nil {
		// The block is not quoted: it may be a private key.
		return key{}, fmt.Errorf("a PEM block %q is no public key; want PUBLIC KEY", block.Type)
	}
	if err := cryptoutils.ValidatePubKey(pub); err != nil { //nolint:staticcheck // its successor links a certificate authority
		return key{}, fmt.Errorf("an unsafe key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return key{}, err
	}
	sum := sha256.Sum256(der)
	k := key{name: "key sha256:" + hex.EncodeToString(sum[:])}
	// cosign signs with SHA-256 whatever the key; other signers take the hash
	// that goes with the curve. Ed25519 knows no choice: it is there twice.
	for _, load := range []func() (signature.Verifier, error){
		func() (signature.Verifier, error) { return signature.LoadVerifier(pub, crypto.SHA256) },
		func() (signature.Verifier, error) { return signature.LoadDefaultVerifier(pub) },
	} {
		v, err := load()
		if err != nil {
			return key{}, fmt.Errorf("a key of a kind that is not known: %w", err)
		}
		k.verifiers = append(k.verifiers, v)
	}
	return k, nil
}

// loadRoot makes a verifier as strict as the trusted root allows: if the root names
// transparency logs or certificate logs, signatures must be in one. A trusted log or
// timestamp authority must always attest the time of signing, because certificates are
// valid for minutes; the local clock never counts.
func loadRoot(s Signer) (*Trust, error) {
	data, err := readFile(s.TrustedRoot)
	if err != nil {
		return nil, fmt.Errorf("reading the trusted root: %w", err)
	}
	material, err := root.NewTrustedRootFromJSON(data)
	if err != nil {
		return nil, fmt.Errorf("reading the trusted root: %s is not a Sigstore trusted root: %s", s.TrustedRoot, clip(err.Error()))
	}
	if len(material.FulcioCertificateAuthorities()) == 0 {
		return nil, fmt.Errorf("reading the trusted root: %s names no certificate authority", s.TrustedRoot)
	}
	if len(material.RekorLogs())+len(material.TimestampingAuthorities()) == 0 {
		return nil, fmt.Errorf("reading the trusted root: %s names neither a transparency log nor a timestamp authority: nothing could prove when a signature was made", s.TrustedRoot)
	}
	options := []sigverify.VerifierOption{sigverify.WithObserverTimestamps(1), sigverify.WithoutStatementPredicate()}
	if len(material.RekorLogs()) > 0 {
		options = append(options, sigverify.WithTransparencyLog(1))
	}
	if len(material.CTLogs()) > 0 {
		options = append(options, sigverify.WithSignedCertificateTimestamps(1))
	}
	t := &Trust{signer: s}
	if t.keyless, err = sigverify.NewVerifier(material, options...); err != nil {
		return nil, fmt.Errorf("reading the trusted root: %w", err)
	}
	if t.identity, err = sigverify.NewShortCertificateIdentity(s.Issuer, "", s.Identity, ""); err != nil {
		return nil, fmt.Errorf("reading the certificate identity: %w", err)
	}
	return t, nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxTrustFile+1))
	if err == nil && len(data) > maxTrustFile {
		err = errors.New(name + " is larger than 4 MiB")
	}
	return data, err
}
