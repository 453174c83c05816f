package approval

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// Key signs approvals.
type Key struct {
	ID     string // "sha256:HEX" of the public half in PKIX form
	Public crypto.PublicKey
	signer crypto.Signer
}

// The PEM types of cosign's own encrypted keys.
const (
	sigstoreKey = "ENCRYPTED SIGSTORE PRIVATE KEY"
	cosignKey   = "ENCRYPTED COSIGN PRIVATE KEY"
)

// ReadKey reads a private key in PEM: PKCS #8 or SEC 1, ECDSA or Ed25519, or
// encrypted by cosign. passphrase is called only for an encrypted key. Errors
// never contain the key.
func ReadKey(data []byte, passphrase func() ([]byte, error)) (*Key, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("it holds no PEM block; want a private key, such as cosign.key or one of openssl genpkey")
	}
	der := block.Bytes
	switch block.Type {
	case sigstoreKey, cosignKey:
		phrase, err := passphrase()
		if err != nil {
			return nil, err
		}
		if der, err = encrypted.Decrypt(der, phrase); err != nil {
			return nil, errors.New("the passphrase does not open it")
		}
	case "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("it is encrypted in a way that is not read; use a key of cosign generate-key-pair, or decrypt it")
	case "PUBLIC KEY":
		return nil, errors.New("it is the public half; the private one signs")
	case "EC PRIVATE KEY":
		key, err := x509.ParseECPrivateKey(der)
		if err != nil {
			return nil, errors.New("its EC PRIVATE KEY cannot be read")
		}
		return newKey(key)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	signer, ok := parsed.(crypto.Signer)
	if err != nil || !ok {
		return nil, errors.New("its PEM block is no private key in PKCS #8")
	}
	return newKey(signer)
}

func newKey(signer crypto.Signer) (*Key, error) {
	id, err := keyID(signer.Public())
	if err != nil {
		return nil, err
	}
	return &Key{ID: id, Public: signer.Public(), signer: signer}, nil
}

// keyID returns the id of a public key, the sha256 of its PKIX form, or an error for an
// algorithm or curve that approvals are not signed with.
func keyID(public crypto.PublicKey) (string, error) {
	switch key := public.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if hashOf(key.Curve) == 0 {
			return "", fmt.Errorf("keys on curve %s are not taken; use P-256 or Ed25519", key.Params().Name)
		}
	default:
		return "", fmt.Errorf("a key of type %T is not taken; use ECDSA or Ed25519", public)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(der)), nil
}

// hashOf returns the hash function for a curve (FIPS 186-5, section 6.4), 0 for
// curves that are not accepted.
func hashOf(curve elliptic.Curve) crypto.Hash {
	switch curve {
	case elliptic.P256():
		return crypto.SHA256
	case elliptic.P384():
		return crypto.SHA384
	case elliptic.P521():
		return crypto.SHA512
	}
	return 0
}

func (k *Key) sign(message []byte) ([]byte, error) {
	public, ok := k.Public.(*ecdsa.PublicKey)
	if !ok {
		return k.signer.Sign(rand.Reader, message, crypto.Hash(0))
	}
	hash := hashOf(public.Curve)
	h := hash.New()
	h.Write(message)
	return k.signer.Sign(rand.Reader, h.Sum(nil), hash)
}

func verify(public crypto.PublicKey, message, sig []byte) bool {
	switch key := public.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, sig)
	case *ecdsa.PublicKey:
		h := hashOf(key.Curve).New()
		h.Write(message)
		return ecdsa.VerifyASN1(key, h.Sum(nil), sig)
	}
	return false
}
