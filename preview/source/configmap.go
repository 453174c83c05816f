package source

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// configMapSource reads a ConfigMap of the target cluster as files, and pins it to the
// hash of those. The ConfigMap may change: the pinned files come from the cache, and if
// they have to be read again, another hash is an error.
//
// A ConfigMap has no directories, so there are two forms. If its only key is named like
// an archive, the content is what that archive contains. Otherwise each key is a file
// in manifests/, as for rukpak's ConfigMap source and the bundle unpacker of OLM v0.
type configMapSource struct {
	options Options
	limits  filetree.Limits
	cache   diskcache.Cache
}

func (s *configMapSource) pin(ctx context.Context, r ref.Reference) (Pin, error) {
	keys, err := s.read(ctx, r)
	if err != nil {
		return Pin{}, configMapError(r, err)
	}
	digest, err := s.cache.PutTree(keys.Freeze())
	if err != nil {
		return Pin{}, configMapError(r, err)
	}
	p := Pin{Reference: r, Source: preview.Source{Kind: "configmap", Reference: r.Text, Digest: digest}}
	if p.content, err = s.content(p, keys); err != nil {
		return Pin{}, configMapError(r, err)
	}
	return p, nil
}

func (s *configMapSource) open(ctx context.Context, p Pin) (*Content, error) {
	if p.content != nil {
		return p.content, nil
	}
	content, err := s.reopen(ctx, p)
	if err != nil {
		return nil, configMapError(p.Reference, err)
	}
	return content, nil
}

// reopen returns the pinned content from the cache, else from the cluster, where
// another hash is an error.
func (s *configMapSource) reopen(ctx context.Context, p Pin) (*Content, error) {
	keys, err := s.cache.Tree(p.Source.Digest, s.limits, s.limits.Bundle)
	if err == nil {
		return s.content(p, keys)
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDigestMismatch) {
		return nil, err
	}
	if keys, err = s.read(ctx, p.Reference); err != nil {
		return nil, err
	}
	digest, err := s.cache.PutTree(keys.Freeze())
	if err != nil {
		return nil, err
	}
	if digest != p.Source.Digest {
		return nil, fmt.Errorf("it is %s now, not %s: %w", digest, p.Source.Digest, ErrDigestMismatch)
	}
	return s.content(p, keys)
}

// read returns the keys of the ConfigMap as files, all in one directory.
func (s *configMapSource) read(ctx context.Context, r ref.Reference) (*filetree.Tree, error) {
	if s.options.Offline {
		return nil, errOffline
	}
	if s.options.Cluster == nil {
		return nil, errors.New("it is read from the target cluster, and none may be asked here")
	}
	object, err := s.options.Cluster.Get(ctx, preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: r.Namespace, Name: r.Name})
	switch {
	case preview.ReasonOf(err) == preview.ReasonForbidden:
		return nil, fmt.Errorf("%w; reading it needs get on configmaps in namespace %s", err, r.Namespace)
	case err != nil:
		return nil, err
	case object == nil:
		return nil, errors.New("the cluster does not have it")
	}
	return configMapKeys(object, s.limits)
}

// configMapKeys returns the keys of data and binaryData as files. A key in both is an
// error (Kubernetes API reference, ConfigMap v1).
func configMapKeys(object map[string]any, l filetree.Limits) (*filetree.Tree, error) {
	t := filetree.New()
	left := filetree.Budget{Limits: l.Bundle}
	for _, field := range []string{"data", "binaryData"} {
		entries, _ := object[field].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			text, ok := entries[key].(string)
			if !ok {
				return nil, fmt.Errorf("%s[%s] is not text", field, bounded.Quote(key))
			}
			data := []byte(text)
			if field == "binaryData" {
				var err error
				if data, err = base64.StdEncoding.DecodeString(text); err != nil {
					return nil, fmt.Errorf("%s[%s] is not base64", field, bounded.Quote(key))
				}
			}
			if cleaned, err := l.CleanPath(key); err != nil || cleaned != key || key == "" || strings.Contains(key, "/") {
				return nil, fmt.Errorf("key %s is not the name of a file", bounded.Quote(key))
			}
			if t.Find(key) != nil {
				return nil, fmt.Errorf("key %s is in data and in binaryData", bounded.Quote(key))
			}
			if err := left.Take(key, int64(len(data))); err != nil {
				return nil, err
			}
			t.Put(key, data, 0)
		}
	}
	if left.Files == 0 {
		return nil, errors.New("it holds no files")
	}
	return t, nil
}

// content returns the content that the keys stand for: an unpacked archive, or
// manifests.
func (s *configMapSource) content(p Pin, keys *filetree.Tree) (*Content, error) {
	names := slices.Sorted(maps.Keys(keys.Root.Children))
	for _, name := range names {
		if !ref.IsArchive(name) {
			continue
		}
		if len(names) > 1 {
			return nil, fmt.Errorf("key %s is an archive, but there are other keys; remove the archive or the other keys", bounded.Quote(name))
		}
		data := keys.Root.Children[name].Data
		t, err := s.limits.UnpackArchive(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", bounded.Quote(name), err)
		}
		return &Content{FS: t.Freeze(), Source: p.Source}, nil
	}
	t := filetree.New()
	for _, name := range names {
		t.Put(path.Join("manifests", name), keys.Root.Children[name].Data, 0)
	}
	return &Content{FS: t.Freeze(), Source: p.Source}, nil
}

func configMapError(r ref.Reference, err error) error {
	return fmt.Errorf("configmap %s/%s: %w", r.Namespace, r.Name, err)
}
