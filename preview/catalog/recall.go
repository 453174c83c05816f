package catalog

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
)

// catalogd's content is known by the hash of its bytes, and those can be hundreds of
// megabytes. So the hash is kept for the state that the object in the cluster was in:
// while that is the same, nothing is downloaded. This trusts the object as much as the
// download does, for the same cluster says both.

// state returns a text that is the same as long as catalogd serves the same content:
// the uid of the catalog object, the digest, and the time of the last unpacking. It is
// empty if the object does not contain all of them.
func (s Served) state() string {
	if s.uid == "" || s.Image == "" || s.unpacked == "" || s.Endpoint == nil {
		return ""
	}
	return strings.Join([]string{s.uid, s.Image, s.unpacked, s.Endpoint.Namespace, s.Endpoint.Service, s.Endpoint.Port, s.Endpoint.Path}, "\n")
}

// Recall returns the hash that [Remember] stored for the content of a catalog; ok is
// false if there is none, or the catalog object has another state since.
func Recall(store Store, s Served) (digest string, ok bool) {
	state := s.state()
	if state == "" {
		return "", false
	}
	file, err := store.Open(recallName(state))
	if err != nil {
		return "", false
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, 256))
	if err != nil {
		return "", false
	}
	digest, seal, _ := strings.Cut(string(data), "\n")
	return digest, hmac.Equal([]byte(seal), []byte(recallSeal(store, state, digest)))
}

// Remember stores the hash of the content that catalogd serves for a catalog, for the
// present state of its object. Errors are ignored: then the catalog is downloaded
// again.
func Remember(store Store, s Served, digest string) {
	if state := s.state(); state != "" {
		_ = store.Create(recallName(state), func(w io.Writer) error {
			_, err := io.WriteString(w, digest+"\n"+recallSeal(store, state, digest))
			return err
		})
	}
}

const recallFormat = "catalogd-1"

func recallName(state string) string {
	sum := sha256.Sum256([]byte(state))
	return hex.EncodeToString(sum[:]) + "." + recallFormat
}

func recallSeal(store Store, state, digest string) string {
	mac := hmac.New(sha256.New, store.Key())
	mac.Write([]byte(recallFormat + "\n" + state + "\n" + digest))
	return hex.EncodeToString(mac.Sum(nil))
}
