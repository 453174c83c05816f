package diskcache

import (
	"crypto/hmac"
	"crypto/sha256"
	"io"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// Sealed keeps documents in a [Store] under names that do not say what they contain, such as
// a server's name. Each ends with an HMAC of its name and its bytes.
type Sealed struct {
	store Store
	most  int64
}

// NewSealed returns the documents in a cache, of at most `most` bytes each.
func NewSealed(c Cache, most int64) Sealed { return Sealed{store: NewStore(c), most: most} }

// Load returns the document that was kept under a name; false if there is none, or it is
// damaged, too large, or was written by another user.
func (s Sealed) Load(name string) ([]byte, bool) {
	file, err := s.store.Open(name)
	if err != nil {
		return nil, false
	}
	defer func() { _ = file.Close() }()
	data, err := bounded.ReadAll(file, s.most+sha256.Size)
	if err != nil || len(data) < sha256.Size {
		return nil, false
	}
	body, seal := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	return body, hmac.Equal(seal, s.seal(name, body))
}

// Keep stores a document under a name. One that is too large, or that cannot be written, is
// not kept.
func (s Sealed) Keep(name string, data []byte) {
	if int64(len(data)) > s.most {
		return
	}
	_ = s.store.Create(name, func(w io.Writer) error {
		_, err := w.Write(append(data[:len(data):len(data)], s.seal(name, data)...))
		return err
	})
}

func (s Sealed) seal(name string, data []byte) []byte {
	mac := hmac.New(sha256.New, s.store.Key())
	mac.Write([]byte("sealed-1\n" + name + "\n"))
	mac.Write(data)
	return mac.Sum(nil)
}
