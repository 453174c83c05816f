package preview

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"

	"golang.org/x/crypto/scrypt"
)

// maxSlowHashes is the most hashes that are cached, at some 100 bytes each.
const maxSlowHashes = 10_000

// slowHashes caches the scrypt hashes of this process, because review and apply hash
// the same values a dozen times, at 80 ms and 32 MB each.
type slowHashes struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]string
}

var computed slowHashes

// hash returns the scrypt hash (N=2^15, r=8, p=1) of data in hexadecimal, from the
// cache if it is there.
func (h *slowHashes) hash(data []byte, salt string) (string, error) {
	// The length keeps apart where the salt ends and the data begins.
	name := sha256.Sum256(append([]byte(strconv.Itoa(len(salt))+" "+salt), data...))
	h.mu.Lock()
	hash, found := h.known[name]
	h.mu.Unlock()
	if found {
		return hash, nil
	}
	key, err := scrypt.Key(data, []byte(salt), 1<<15, 8, 1, 32)
	if err != nil {
		return "", fmt.Errorf("hashing sensitive values: %w", err)
	}
	hash = hex.EncodeToString(key)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil || len(h.known) >= maxSlowHashes {
		h.known = map[[sha256.Size]byte]string{}
	}
	h.known[name] = hash
	return hash, nil
}
