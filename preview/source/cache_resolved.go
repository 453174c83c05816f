package source

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
)

// resolution is the cached result of resolving a reference. The digest is verified when
// content is opened, but nothing verifies that the reference still means it, so that it
// is used only offline.
type resolution struct {
	Source  preview.Source `json:"source"`
	Version string         `json:"version,omitempty"`
	Time    time.Time      `json:"time"`
}

// resolvedBytes is the largest size in bytes of a cached resolution; a reference has at
// most 4 KiB.
const resolvedBytes = 32 * bounded.KiB

// isRemembered reports whether the resolution of a reference is cached for offline use.
// Files of this machine are read again instead, and an image with a digest needs no
// resolution.
func isRemembered(r ref.Reference) bool {
	if r.Kind == ref.KindImage {
		return r.Version != "" || !r.Immutable()
	}
	return !r.Local()
}

// resolvedName returns the cache file with the resolution of a reference. Its name
// depends on whether TLS is required, so that a result obtained without TLS is never
// used with it.
func (f *Fetcher) resolvedName(r ref.Reference) (string, error) {
	dir, err := f.cache.SubDir("resolved")
	if err != nil {
		return "", err
	}
	key := fmt.Sprintf("v1\n%s\n%s\n%t\n%t", r.Kind, r.Text, f.options.PlainHTTP, f.options.unverified(r))
	if r.Charts {
		key += "\ncharts"
	}
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(dir, hex.EncodeToString(sum[:])), nil
}

// remember stores the resolved digest and version of a reference.
func (f *Fetcher) remember(p Pin) error {
	if !isRemembered(p.Reference) {
		return nil
	}
	name, err := f.resolvedName(p.Reference)
	if err != nil {
		return err
	}
	data, err := json.Marshal(resolution{Source: p.Source, Version: p.Version, Time: time.Now().UTC()})
	if err != nil {
		return fmt.Errorf("%w: %w", diskcache.ErrWrite, err)
	}
	return diskcache.WriteFile(name, data)
}

// recall returns the earlier pin of a reference; false if there is none, or it cannot be
// read.
func (f *Fetcher) recall(r ref.Reference) (Pin, bool) {
	if !isRemembered(r) {
		return Pin{}, false
	}
	name, err := f.resolvedName(r)
	if err != nil {
		return Pin{}, false
	}
	data, err := bounded.ReadFile(name, resolvedBytes)
	if err != nil {
		return Pin{}, false
	}
	var found resolution
	if json.Unmarshal(data, &found) != nil || !ref.IsDigest(found.Source.Digest) || found.Source.Kind == "" {
		return Pin{}, false
	}
	diskcache.Touch(name)
	if r.Kind == ref.KindImage && r.Version != "" {
		r = pinRange(r, found.Source.Digest)
	}
	return Pin{Source: found.Source, Reference: r, Version: found.Version, Remembered: found.Time}, true
}
