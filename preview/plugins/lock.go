package plugins

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// KindPluginLock is the kind of lock files:
//
//	apiVersion: kubectl-operator/v1alpha1
//	kind: PluginLock
//	metadata:
//	  name: optimus                        # of the set
//	platforms:
//	  - artifacts:
//	      - digest: sha256:…               # as pinned: of the bytes of a file or
//	        plugin: neo                    # archive, of a manifest, of a tree
//	        reference: https://example.com/neo.tgz
//	    platform: linux/amd64
//
// The same lock has the same bytes: platforms and plugins are sorted.
const KindPluginLock = "PluginLock"

// Lock records the digest of every artifact of a set, by platform.
type Lock struct {
	Name      string
	Platforms map[string][]LockedArtifact
}

// LockedArtifact is one artifact in a lock, with the name of its plugin.
type LockedArtifact struct {
	Plugin    string `json:"plugin"`
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
}

// NewLock returns a lock of the fetched artifacts. Entries of an older lock for
// other platforms are kept.
func NewLock(name, platform string, fetched []FetchedPlugin, older *Lock) *Lock {
	out := &Lock{Name: name, Platforms: map[string][]LockedArtifact{}}
	if older != nil && older.Name == name {
		maps.Copy(out.Platforms, older.Platforms)
	}
	var locked []LockedArtifact
	for _, f := range fetched {
		locked = append(locked, LockedArtifact{f.Name, f.Source.Reference, f.Source.Digest})
	}
	out.Platforms[platform] = locked
	return out
}

// Encode returns a lock as YAML of kind [KindPluginLock].
func (l *Lock) Encode() []byte {
	var platforms []any
	for _, name := range slices.Sorted(maps.Keys(l.Platforms)) {
		locked := slices.Clone(l.Platforms[name])
		slices.SortStableFunc(locked, func(a, b LockedArtifact) int { return strings.Compare(a.Plugin, b.Plugin) })
		artifacts := make([]any, 0, len(locked))
		for _, one := range locked {
			artifacts = append(artifacts, map[string]any{"plugin": one.Plugin, "reference": one.Reference, "digest": one.Digest})
		}
		platforms = append(platforms, map[string]any{"platform": name, "artifacts": artifacts})
	}
	return []byte(diff.Manifest(map[string]any{
		"apiVersion": preview.APIVersion, "kind": KindPluginLock,
		"metadata": map[string]any{"name": l.Name}, "platforms": platforms,
	}))
}

// ReadLock reads a lock file. A digest that is not sha256, and a plugin or platform
// listed twice, are errors.
func ReadLock(data []byte) (*Lock, error) {
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("it is not YAML: %s", clip(err.Error()))
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("it holds %d documents where one is due", len(docs))
	}
	body, _ := docs[0].(map[string]any)
	if preview.String(body, "kind") != KindPluginLock || preview.String(body, "apiVersion") != preview.APIVersion {
		return nil, fmt.Errorf("it is no %s of %s", KindPluginLock, preview.APIVersion)
	}
	r := fields.New(body)
	r.Know("apiVersion", "kind")
	out := &Lock{Name: r.At("metadata.name").Need(), Platforms: map[string][]LockedArtifact{}}
	for _, item := range r.At("platforms").Maps() {
		name := item.At("platform").Need()
		if _, twice := out.Platforms[name]; twice {
			item.At("platform").Fail("it is there twice")
		}
		out.Platforms[name] = []LockedArtifact{}
		seen := map[string]bool{}
		for _, one := range item.At("artifacts").Maps() {
			locked := LockedArtifact{one.At("plugin").Need(), one.At("reference").Need(), one.At("digest").Need()}
			switch {
			case !ref.IsDigest(locked.Digest):
				one.At("digest").Fail("it is not sha256: and 64 hexadecimal digits")
			case seen[locked.Plugin]:
				one.At("plugin").Fail("it is there twice")
			}
			seen[locked.Plugin] = true
			out.Platforms[name] = append(out.Platforms[name], locked)
		}
	}
	return out, r.Err(1)
}

// find returns the locked artifact of a plugin on a platform; false if there is none.
func (l *Lock) find(platform, plugin string) (LockedArtifact, bool) {
	for _, one := range l.Platforms[platform] {
		if one.Plugin == plugin {
			return one, true
		}
	}
	return LockedArtifact{}, false
}

// check returns an [engine.RefusedError] unless the lock has the plugin on the platform
// with this reference and digest.
func (l *Lock) check(platform, plugin, reference, digest string) error {
	locked, ok := l.find(platform, plugin)
	next := "review it with --update-lock, which writes the lock anew"
	switch {
	case !ok:
		return refuse("the lock file has nothing for it on "+platform, next)
	case locked.Reference != reference:
		return refuse(fmt.Sprintf("the lock file has it from %s, the config from %s", clip(locked.Reference), clip(reference)), next)
	case locked.Digest != digest:
		return refuse(fmt.Sprintf("%s is %s now, and the lock file has %s", clip(reference), digest, locked.Digest), next)
	}
	return nil
}

// CheckName returns an error unless the lock has the set's name.
func (l *Lock) CheckName(set *Set) error {
	if l.Name != set.Name {
		return errors.New("it belongs to set " + clip(l.Name) + ", not to " + clip(set.Name))
	}
	return nil
}
