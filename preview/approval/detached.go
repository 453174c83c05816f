package approval

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// PublicKey verifies signatures made with a [Key].
type PublicKey struct {
	ID  string // "sha256:HEX" of its PKIX form
	key crypto.PublicKey
}

// Verifier returns the public half of a key.
func (k *Key) Verifier() PublicKey { return PublicKey{ID: k.ID, key: k.Public} }

// SignDetached returns the signature of a payload that is stored elsewhere. It covers
// the media type too (DSSE protocol 1.0.2, pre-authentication encoding), so that a
// signature for one purpose is not valid for another.
func (k *Key) SignDetached(payloadType string, payload []byte) ([]byte, error) {
	return k.sign(dsse.PAE(payloadType, payload))
}

// Verifies reports whether a signature of a payload with this media type was made
// with the key.
func (k PublicKey) Verifies(payloadType string, payload, sig []byte) bool {
	return verify(k.key, dsse.PAE(payloadType, payload), sig)
}

// ReadPublicKeys reads the PUBLIC KEY blocks of a PEM file, ECDSA or Ed25519; none is
// an error. Any other block is an error that does not quote the block, because it may
// be a private key.
func ReadPublicKeys(data []byte) ([]PublicKey, error) {
	var keys []PublicKey
	for rest := data; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "PUBLIC KEY" {
			return nil, fmt.Errorf("a PEM block %.40q is no public key; want PUBLIC KEY, such as cosign.pub", block.Type)
		}
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, errors.New("a public key that cannot be read")
		}
		id, err := keyID(public)
		if err != nil {
			return nil, err
		}
		if keys = append(keys, PublicKey{ID: id, key: public}); len(keys) > maxKeysEach {
			return nil, fmt.Errorf("more than %d keys", maxKeysEach)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("its key holds no PEM block; want a PUBLIC KEY, such as cosign.pub")
	}
	return keys, nil
}
