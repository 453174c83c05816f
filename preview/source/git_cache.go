package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/source/git"
)

// gitMemory is a cache file that names the blob with the objects of a directory of a
// commit: a pack with the commit, the trees on the way, and everything below.
type gitMemory struct {
	Pack string `json:"pack"`
}

// memoryFile returns the cache file for a directory of a commit. Its name does not
// contain the repository, because a hash names the same commit in every repository.
func (s *gitSource) memoryFile(r ref.Reference) (string, error) {
	dir, err := s.cache.SubDir("resolved")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte("git v1\n" + r.GitRef + "\n" + r.Subdir))
	return filepath.Join(dir, hex.EncodeToString(sum[:])), nil
}

// remember stores the objects that were read for a reference, which names a commit.
func (s *gitSource) remember(r ref.Reference, used []git.Object) error {
	var pack bytes.Buffer
	if err := git.WritePack(&pack, used); err != nil {
		return err
	}
	digest, err := s.cache.Add(int64(pack.Len()), &pack)
	if err != nil {
		return err
	}
	name, err := s.memoryFile(r)
	if err != nil {
		return err
	}
	data, err := json.Marshal(gitMemory{Pack: digest})
	if err != nil {
		return err
	}
	return diskcache.WriteFile(name, data)
}

// recall returns the objects that remember stored; false if there are none, or they are
// damaged.
func (s *gitSource) recall(r ref.Reference) (git.ObjectReader, bool) {
	name, err := s.memoryFile(r)
	if err != nil {
		return nil, false
	}
	data, err := bounded.ReadFile(name, resolvedBytes)
	if err != nil {
		return nil, false
	}
	var found gitMemory
	if json.Unmarshal(data, &found) != nil {
		return nil, false
	}
	b, err := s.cache.Blob(found.Pack)
	if err != nil {
		return nil, false
	}
	defer func() { _ = b.Close() }()
	objects, err := git.ReadPack(b, gitLimits(s.limits))
	if bad := b.Verify(); bad != nil {
		_ = s.cache.Remove(found.Pack) // else it is written again, under the same name
		return nil, false
	}
	if err != nil {
		return nil, false
	}
	diskcache.Touch(name)
	return objects, true
}
